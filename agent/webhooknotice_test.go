package agent

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/webhook"
	"roomgate/agent/webhook/webhooktest"
	"roomgate/store"
)

// TestAdminsAreToldOfTrouble has a receiver that fails until it is given up,
// and one that is gone.
func TestAdminsAreToldOfTrouble(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		out := &webhooktest.Receivers{}
		out.Say(func(host string, _ *http.Request) (*http.Response, error) {
			return webhooktest.Reply(map[string]int{"gone.example.com": 410, "down.example.com": 500}[host], ""), nil
		})
		r.options.Webhooks = out.Client()
		var err error
		if r.Webhooks, err = webhook.Open(t.Context(), webhookOptions(r.Agent)); err != nil {
			t.Fatal(err)
		}
		r.run()
		defer r.stop()
		for _, name := range []string{"gone", "down"} {
			_, _, err := r.Webhooks.Create(t.Context(), webhook.Request{OrganizationID: org, URL: "https://" + name + ".example.com/?token=hidden", Events: webhook.Events()})
			if err != nil {
				t.Fatal(err)
			}
		}
		r.book("b1", on(40, 0), on(40, 30))
		r.wait(time.Minute)
		all := r.relay.Letters()
		if len(all) != 1 || all[0].To != "ada@example.com" || !strings.Contains(all[0].Text, "Subject: webhook at gone.example.com is disabled") {
			t.Errorf("after 410: %+v", all)
		}
		r.wait(27 * time.Hour)
		all = r.relay.Letters()
		if len(all) != 2 || !strings.Contains(all[1].Text, "Subject: webhook at down.example.com is failing") {
			t.Errorf("after the last retry: %+v", all)
		}
		for _, l := range all {
			if strings.Contains(l.Text, "hidden") || strings.Contains(l.Text, "whsec_") {
				t.Errorf("too much is told: %s", l.Text)
			}
		}
	})
}

// TestNoticesAreOneTransaction with what they tell of: if that cannot be
// stored no letter is.
func TestNoticesAreOneTransaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		defer r.Close()
		notices := notifyAdmins(r.Agent)([]webhook.Notice{{OrganizationID: org, Subject: "one"}, {OrganizationID: org, Subject: "two"}})
		letters := func() (n int) {
			if err := r.db.View(func(tx *store.Tx) error { n = storedLetters.Len(tx); return nil }); err != nil {
				t.Fatal(err)
			}
			return n
		}
		refused := errors.New("refused")
		err := r.Events.Commit(t.Context(), notices, eventlog.Stage{Write: func(*store.Tx) error { return refused }})
		if !errors.Is(err, refused) || letters() != 0 {
			t.Errorf("refused: %v, %d letters", err, letters())
		}
		before := r.db.Stats().Commits
		err = r.Events.Commit(t.Context(), notices)
		if n := r.db.Stats().Commits - before; err != nil || letters() != 2 || n != 1 {
			t.Errorf("%v, %d letters in %d commits", err, letters(), n)
		}
		r.run()
		r.wait(time.Second)
		if err := r.Events.Commit(t.Context(), notices); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		if n := len(r.relay.Letters()); n != 4 {
			t.Errorf("%d letters sent, want those of before the start and of a queue that was woken", n)
		}
	})
}
