package agent

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/webhook"
	"roomgate/store"
)

// signed says whether a notification was signed with a secret.
func (p post) signed(secret webhook.Secret) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(p.body)
	return p.header.Get(webhook.HeaderSignature) == hex.EncodeToString(mac.Sum(nil))
}

// one books and returns the one notification of it.
func (r *hookRig) one(id string, hour int) post {
	r.t.Helper()
	r.book(id, on(hour, 0), on(hour, 30))
	r.wait(time.Second)
	got := r.out.take()
	if len(got) != 1 {
		r.t.Fatalf("%d notifications of %s, want one", len(got), id)
	}
	return got[0]
}

// TestSecretsAreSealed looks for the secrets of webhooks in the database.
func TestSecretsAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startHookRig(t, dir, "")
		w := r.hook("a", owner, webhook.BookingCreated)
		_, made, err := r.RotateSecret(t.Context(), w.ID, "", webhook.Overlap)
		if err != nil {
			t.Fatal(err)
		}
		r.one("b1", 40)
		r.stop()
		file, err := os.ReadFile(filepath.Join(dir, Database))
		if err != nil {
			t.Fatal(err)
		}
		for _, canary := range []string{"the secret of a", made, strings.TrimPrefix(made, "whsec_")} {
			if bytes.Contains(file, []byte(canary)) {
				t.Errorf("%q is in the database", canary)
			}
		}
		r = startHookRig(t, dir, "")
		defer r.stop()
		p := r.one("b2", 41)
		if !p.signed(webhook.Secret(made)) || p.header.Get(webhook.HeaderPrevious) == "" {
			t.Errorf("after a restart it is signed by %q", p.header)
		}
	})
}

// TestPlainSecretsAreSealed opens what an earlier version has stored.
func TestPlainSecretsAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openHookRig(t, dir, "")
		w := r.hook("a", owner, webhook.BookingCreated)
		row := func() (s storedWebhook) {
			err := r.db.View(func(tx *store.Tx) (err error) { s, err = webhooks.Get(tx, w.ID); return err })
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		old := row()
		old.Sealed, old.Plain = nil, &webhook.Secrets{Current: "a secret of an earlier version"}
		if err := r.db.Update(t.Context(), func(tx *store.Tx) error { return webhooks.Put(tx, w.ID, old) }); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = openHookRig(t, dir, "")
		if now := row(); now.Plain != nil || len(now.Sealed) == 0 {
			t.Errorf("opened it is stored as %+v", now)
		}
		commits := r.db.Stats().Commits
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = startHookRig(t, dir, "")
		defer r.stop()
		if again := r.db.Stats().Commits; again >= commits {
			t.Errorf("a start with sealed secrets costs %d commits, the one that sealed them %d", again, commits)
		}
		if p := r.one("b1", 40); !p.signed("a secret of an earlier version") {
			t.Errorf("signed by %q", p.header)
		}
	})
}

// TestSecretsOfAnotherDevice opens a database without its device secret: nothing
// is signed with what is not known, and somebody is told.
func TestSecretsOfAnotherDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startHookRig(t, dir, "")
		w := r.hook("a", owner, webhook.BookingCreated)
		r.stop()
		path := filepath.Join(dir, SecretFile)
		kept, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}

		r = startHookRig(t, dir, "")
		r.book("b1", on(40, 0), on(40, 30))
		r.wait(time.Minute)
		sameTold(t, "without a secret", r.out.told())
		if now := r.state(w.ID); now.State != webhook.Disabled || now.Reason != noSecret || r.happened(webhookDisabled) != 1 {
			t.Errorf("%+v", now)
		}
		on := webhook.Active
		if _, err := r.ChangeWebhook(t.Context(), w.ID, webhook.Change{State: &on}); AsError(err) == nil || AsError(err).Code != NotNow {
			t.Errorf("active without a secret: %v", err)
		}
		if _, err := r.TestWebhook(t.Context(), w.ID); AsError(err) == nil || AsError(err).Code != NotNow {
			t.Errorf("a test without a secret: %v", err)
		}
		r.stop()

		other, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, kept, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		r = startHookRig(t, dir, "") // the device secret is back
		if _, err := r.ChangeWebhook(t.Context(), w.ID, webhook.Change{State: &on}); err != nil {
			t.Error(err)
		}
		if p := r.one("b2", 41); !p.signed("the secret of a") {
			t.Errorf("signed by %q", p.header)
		}
		r.stop()

		if err := os.WriteFile(path, other, 0o600); err != nil {
			t.Fatal(err)
		}
		r = startHookRig(t, dir, "") // or it is lost for good
		defer r.stop()
		_, made, err := r.RotateSecret(t.Context(), w.ID, "", webhook.Overlap)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.ChangeWebhook(t.Context(), w.ID, webhook.Change{State: &on}); err != nil {
			t.Error(err)
		}
		if p := r.one("b3", 42); !p.signed(webhook.Secret(made)) || p.header.Get(webhook.HeaderPrevious) != "" {
			t.Errorf("signed by %q", p.header)
		}
	})
}
