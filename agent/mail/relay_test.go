package mail_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	stdmail "net/mail"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-smtp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"roomgate/agent/goldentest"
	"roomgate/agent/mail"
	"roomgate/agent/mail/mailtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func startRelay(t *testing.T, o mailtest.Options) *mailtest.Relay {
	t.Helper()
	r, err := mailtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// to is the client of a relay.
func to(r *mailtest.Relay) *mail.Relay {
	return &mail.Relay{Address: mailtest.Host + ":587", From: &stdmail.Address{Name: "Röom", Address: "gate@example.com"}, CAs: r.CAs, Dial: r.Dial}
}

var letter = mail.Letter{ID: "a1", To: "ada@example.com", Subject: "Grüße", Text: "one\n.two\n", Date: time.Unix(1700000000, 0)}

func TestSend(t *testing.T) {
	for name, c := range map[string]struct {
		options mailtest.Options
		change  func(*mail.Relay)
		want    mailtest.Letter
	}{
		"starttls": {mailtest.Options{}, func(*mail.Relay) {}, mailtest.Letter{Encrypted: true}},
		"implicit": {mailtest.Options{Implicit: true}, func(r *mail.Relay) { r.Implicit = true }, mailtest.Letter{Encrypted: true}},
		"plain":    {mailtest.Options{Bare: true}, func(r *mail.Relay) { r.Plain = true }, mailtest.Letter{}},
		"password": {mailtest.Options{Password: "hunter2"}, func(r *mail.Relay) { r.Username, r.Password = "gateway", "hunter2" },
			mailtest.Letter{Encrypted: true, User: "gateway"}},
		"login": {mailtest.Options{Password: "hunter2", Login: true}, func(r *mail.Relay) { r.Username, r.Password = "gateway", "hunter2" },
			mailtest.Letter{Encrypted: true, User: "gateway"}},
	} {
		t.Run(name, func(t *testing.T) {
			relay := startRelay(t, c.options)
			client := to(relay)
			c.change(client)
			if err := client.Send(t.Context(), letter); err != nil {
				t.Fatal(err)
			}
			got := relay.Letters()[0]
			text := got.Text
			got.Text, c.want.From, c.want.To = "", "gate@example.com", letter.To
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			wantLetter(t, text, letter)
		})
	}
}

// wantLetter reads a letter as a mailbox does.
func wantLetter(t rapid.TB, text string, want mail.Letter) {
	m, err := stdmail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	subject, _ := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || subject != want.Subject || strings.TrimRight(string(body), "\r\n") != strings.ReplaceAll(strings.TrimRight(want.Text, "\n"), "\n", "\r\n") {
		t.Errorf("subject %q, text %q, %v", subject, body, err)
	}
	if len(m.Header) != 9 || m.Header.Get("Message-Id") != "<"+want.ID+"@example.com>" || m.Header.Get("To") != "<"+want.To+">" {
		t.Errorf("header %v", m.Header)
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("line %q", line)
		}
	}
}

func TestNothingIsSaidInClear(t *testing.T) {
	relay := startRelay(t, mailtest.Options{Bare: true, Password: "hunter2"})
	client := to(relay)
	client.Username, client.Password = "gateway", "hunter2"
	var e *mail.Error
	if err := client.Send(t.Context(), letter); !errors.As(err, &e) || e.Permanent || !e.Relay || !strings.Contains(err.Error(), "offers no encryption") {
		t.Errorf("a relay without STARTTLS: %v", err)
	}
	secure := startRelay(t, mailtest.Options{})
	stranger := to(secure)
	stranger.CAs = relay.CAs
	if err := stranger.Send(t.Context(), letter); !errors.As(err, &e) || e.Permanent || !strings.Contains(err.Error(), "encrypt") {
		t.Errorf("a relay with a certificate of nobody: %v", err)
	}
	other := to(secure)
	other.Address = "elsewhere.test:587"
	if err := other.Send(t.Context(), letter); !errors.As(err, &e) {
		t.Errorf("a relay with another name: %v", err)
	}
	if n := len(relay.Letters()) + len(secure.Letters()); n != 0 {
		t.Errorf("%d letters went out", n)
	}
}

func TestAnswersAreSorted(t *testing.T) {
	relay := startRelay(t, mailtest.Options{Password: "hunter2", Script: func(to string, before int) error {
		code := []int{450, 550}[before%2]
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: "mailbox of <" + strings.ToUpper(to) + "> is odd"}
	}})
	client := to(relay)
	client.Username, client.Password = "gateway", "hunter2"
	for _, permanent := range []bool{false, true} {
		var e *mail.Error
		err := client.Send(t.Context(), letter)
		if !errors.As(err, &e) {
			t.Fatalf("%v: permanent %v, want %v", err, e.Permanent, permanent)
		}
		goldentest.Values(t, "the refusal", goldentest.Pairs{"Permanent": {e.Permanent, permanent}, "Relay": {e.Relay, false},
			"letter.To":     {strings.Contains(strings.ToLower(err.Error()), letter.To), false},
			"the recipient": {strings.Contains(err.Error(), "the recipient"), true}})
	}
	client.Password = "wrong"
	var e *mail.Error
	if err := client.Send(t.Context(), letter); !errors.As(err, &e) {
		t.Errorf("a wrong password: %v", err)
	} else {
		goldentest.Values(t, "a wrong password", goldentest.Pairs{"Permanent": {e.Permanent, false}, "Relay": {e.Relay, true},
			"Code": {e.Code, 535}, "wrong": {strings.Contains(err.Error(), "wrong"), false}})
	}
	relay2 := startRelay(t, mailtest.Options{Password: "x", Login: true})
	client = to(relay2)
	if err := client.Send(t.Context(), letter); !errors.As(err, &e) || e.Permanent || e.Stage != "sender" {
		t.Errorf("no user: %v", err)
	}
}

// TestEndlessRelay is a relay that never answers, and one that never stops.
func TestEndlessRelay(t *testing.T) {
	for name, play := range map[string]func(net.Conn){
		"silent": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"talks":  func(c net.Conn) { _, _ = io.Copy(c, endless{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &mail.Relay{Address: "relay.test:25", Plain: true, From: &stdmail.Address{Address: "a@b"},
					Dial: func(context.Context, string, string) (net.Conn, error) {
						near, far := net.Pipe()
						go func() { play(far); far.Close() }()
						return near, nil
					}}
				began := time.Now()
				var e *mail.Error
				if err := client.Send(t.Context(), letter); !errors.As(err, &e) || e.Permanent || !e.Relay {
					t.Errorf("%v", err)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '2'
	}
	return len(p), nil
}

func TestBackoff(t *testing.T) {
	last := time.Duration(0)
	for tries := range 20 {
		low, middle, high := mail.Backoff(tries, 0), mail.Backoff(tries, 0.5), mail.Backoff(tries, 1)
		if middle < last || low != middle*4/5 || high != middle*6/5 || middle > time.Hour {
			t.Errorf("after %d tries: %v to %v", tries, low, high)
		}
		last = middle
	}
}

// TestTextsStayInTheirPlace sends texts that try to be something else.
func TestTextsStayInTheirPlace(t *testing.T) {
	relay := startRelay(t, mailtest.Options{Bare: true})
	client := to(relay)
	client.Plain = true
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"\r\n", "\n", "\r", ".", "\n.\n", "Bcc: x@y\n", "é", "=", " ", "a", "\x00", "QUIT", strings.Repeat("long ", 300)})
		l := letter
		l.Subject = strings.Join(rapid.SliceOf(piece).Draw(t, "subject"), "")
		l.Text = strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		if err := client.Send(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		all := relay.Letters()
		m, err := stdmail.ReadMessage(strings.NewReader(all[len(all)-1].Text))
		if err != nil || len(m.Header) != 9 {
			t.Fatalf("header %v, %v", m.Header, err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		want := strings.ReplaceAll(l.Text, "\r", "")
		if got := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil || strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("text %q, want %q, %v", got, want, err)
		}
	})
}
