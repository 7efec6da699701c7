package agent

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/eventlog"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// TestAdminsAreToldOfTrouble has a receiver that fails until it is given up,
// and one that is gone.
func TestAdminsAreToldOfTrouble(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		out := &receivers{}
		out.say(func(host string, _ *http.Request) (*http.Response, error) {
			return reply(map[string]int{"gone.example.com": 410, "down.example.com": 500}[host], ""), nil
		})
		r.hooks.sender = webhook.NewSender(&http.Client{Transport: out})
		r.run()
		defer r.stop()
		for _, name := range []string{"gone", "down"} {
			_, _, err := r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: org, URL: "https://" + name + ".example.com/?token=hidden", Events: webhook.Events()})
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

// TestTroubleIsOneTransaction looks at what is stored when a webhook is given
// up: its state, the event and the letter, or nothing of it.
func TestTroubleIsOneTransaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		defer r.Close()
		out := &receivers{}
		out.always(410, "")
		r.hooks.sender = webhook.NewSender(&http.Client{Transport: out})
		w, _, err := r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: org, URL: "https://gone.example.com/", Events: webhook.Events()})
		if err != nil {
			t.Fatal(err)
		}
		r.book("b1", on(40, 0), on(40, 30))
		r.hooks.turn <- struct{}{}
		err = r.spreadAll(t.Context())
		r.hooks.turn.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		var attempts errgroup.Group
		r.sendDue(t.Context(), &attempts)
		_ = attempts.Wait()
		stored := func() (state webhook.State, events, letters int) {
			err := r.db.View(func(tx *store.Tx) error {
				s, err := webhooks.Get(tx, w.ID)
				state, letters = s.State, storedLetters.Len(tx)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			found, _, err := r.Events.Find(eventlog.Filter{Type: webhookDisabled})
			if err != nil {
				t.Fatal(err)
			}
			return state, len(found), letters
		}
		if state, events, letters := stored(); state != webhook.Active || events != 0 || letters != 0 {
			t.Errorf("before it is stored: %s, %d events, %d letters", state, events, letters)
		}
		before := r.db.Stats().Commits
		if err := r.saveHooks(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := r.db.Stats().Commits - before; n != 1 {
			t.Errorf("%d commits, want one", n)
		}
		if state, events, letters := stored(); state != webhook.Disabled || events != 1 || letters != 1 {
			t.Errorf("then: %s, %d events, %d letters", state, events, letters)
		}
	})
}
