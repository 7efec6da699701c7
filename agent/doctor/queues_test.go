package doctor

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/push/pushtest"
	"roomgate/agent/webhook"
)

func TestMailRelay(t *testing.T) {
	relay, err := mailtest.Start(mailtest.Options{Bare: true, Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	_, port, _ := net.SplitHostPort(relay.Address())
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &examination{Options: Options{Config: &config.Config{}}}
	if found := mailRelay(t.Context(), x); found != nil {
		t.Errorf("without one: %+v", found)
	}
	x.Config.Users = []config.Person{{ID: "ada", Email: "ada@example.com", Enabled: true}}
	mailRelay(t.Context(), x)[0].is(t, "users and no relay", Warn, "so no user can sign in")
	x.Building = &Building{}
	mailRelay(t.Context(), x)[0].is(t, "users and no relay, running", Warn, "so no user can sign in")
	x.Building = nil
	x.Config.SMTP = config.SMTP{URL: "smtp://127.0.0.1:" + port, From: "Rooms <rooms@example.com>", Username: "gateway", PasswordFile: secret}
	mailRelay(t.Context(), x)[0].is(t, "well", OK, "answers")
	x.Building = &Building{Outward: health.Queues{Mail: health.Queue{Configured: true, Waiting: 2, OldestS: 61}}}
	mailRelay(t.Context(), x)[0].is(t, "with letters", OK, "2 letters wait, the oldest for 1m1s")
	x.Building.Outward.Mail.Failing = "mail relay: greeting: it answered 421"
	mailRelay(t.Context(), x)[0].is(t, "failing", Fail, "421")
	x.Building = nil
	x.Config.SMTP.Password, x.Config.SMTP.PasswordFile = "wrong", ""
	mailRelay(t.Context(), x)[0].is(t, "wrong password", Fail, "535")
	relay.Close()
	mailRelay(t.Context(), x)[0].is(t, "nobody there", Fail, "connect")
	if letters := relay.Letters(); len(letters) != 0 {
		t.Errorf("the doctor has sent %d letters", len(letters))
	}
	mailRelay(t.Context(), &examination{Options: Options{Building: &Building{Outward: health.Queues{Mail: health.Queue{Configured: true}}}}})[0].is(t, "without a file", OK, "nothing waits")
}

func TestPushGateway(t *testing.T) {
	s := &pushtest.Server{Token: "of nobody's business here"}
	server := httptest.NewServer(s)
	x := &examination{Options: Options{Config: &config.Config{}}}
	if found := pushGateway(t.Context(), x); found != nil {
		t.Errorf("without one: %+v", found)
	}
	x.Config.Push.URL = server.URL
	pushGateway(t.Context(), x)[0].is(t, "well", OK, "is well")
	x.Building = &Building{Outward: health.Queues{Push: health.Queue{Waiting: 1, OldestS: 3600, Failing: "it answered 401"}}}
	pushGateway(t.Context(), x)[0].is(t, "failing", Fail, "1 message waits, the oldest for 1h0m0s; the gateway cannot hand over: it answered 401")
	x.Building = nil
	if len(s.Taken()) != 0 {
		t.Error("the doctor has sent a message")
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	x.Config.Push.URL = other.URL
	pushGateway(t.Context(), x)[0].is(t, "another kind of server", Warn, "404")
	server.Close()
	x.Config.Push.URL = server.URL
	pushGateway(t.Context(), x)[0].is(t, "nobody there", Fail, "refuses connections")
}

func TestWebhooks(t *testing.T) {
	x := &examination{}
	if found := webhooks(t.Context(), x); found != nil {
		t.Errorf("without a gateway: %+v", found)
	}
	x.Building = &Building{}
	if found := webhooks(t.Context(), x); found != nil {
		t.Errorf("without any: %+v", found)
	}
	x.Building.Outward.Webhooks = webhook.Summary{Active: 2, Failing: 1, Waiting: 3, OldestS: 7200,
		Troubled: []webhook.Troubled{{ID: "w1", Host: "hooks.example", Reason: "the receiver answered 500"}}}
	found := webhooks(t.Context(), x)
	found[0].is(t, "all", OK, "2 active, 1 failing, 0 disabled; 3 notifications wait, the oldest for 2h0m0s")
	found[1].is(t, "the one", Warn, "webhook deliveries w1")
}
