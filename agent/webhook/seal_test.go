package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/webhook/webhooktest"
	"roomgate/store"
)

// secretURL is an address that tells a secret.
const secretURL = "https://a.example.com/path-canary?token=query-canary"

// signed says whether a notification was signed with a secret.
func signed(p webhooktest.Post, secret Secret) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(p.Body)
	return p.Header.Get(HeaderSignature) == hex.EncodeToString(mac.Sum(nil))
}

// one books and returns the one notification of it.
func (r *rig) one(id string, hour int) webhooktest.Post {
	r.t.Helper()
	r.book(id, hour)
	r.wait(time.Second)
	got := r.out.Take()
	if len(got) != 1 {
		r.t.Fatalf("%d notifications of %s, want one", len(got), id)
	}
	return got[0]
}

// TestSecretsAreSealed looks for the secrets of webhooks in the database, and for
// what is secret of their addresses.
func TestSecretsAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		w := r.hook("a", owner, BookingCreated)
		_, made, err := r.Rotate(t.Context(), w.ID, "", Overlap)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{"https://a.example.com/first-canary?token=second-canary", secretURL} {
			if _, err := r.Change(t.Context(), w.ID, Change{URL: &address}); err != nil {
				t.Fatal(err)
			}
		}
		r.one("b1", 40)
		r.stop()
		file, err := os.ReadFile(r.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, canary := range []string{"canary", "the secret of a", made, strings.TrimPrefix(made, "whsec_")} {
			if bytes.Contains(file, []byte(canary)) {
				t.Errorf("%q is in the database", canary)
			}
		}
		r = startRig(t, rigOptions{dir: dir})
		defer r.stop()
		p := r.one("b2", 41)
		if now := r.state(w.ID); now.URL != secretURL {
			t.Errorf("after a restart it is at %s", now.URL)
		}
		if !signed(p, Secret(made)) || p.Header.Get(HeaderPrevious) == "" {
			t.Errorf("after a restart it is signed by %q", p.Header)
		}
	})
}

// TestPlainSecretsAreSealed opens what an earlier version has stored.
func TestPlainSecretsAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir})
		w := r.hook("a", owner, BookingCreated)
		row := func() (s storedWebhook) {
			err := r.db.View(func(tx *store.Tx) (err error) { s, err = webhooks.Get(tx, w.ID); return err })
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		old := row()
		old.Sealed, old.Plain = nil, &Secrets{Current: "a secret of an earlier version"}
		old.SealedURL, old.URL = nil, secretURL
		if err := r.db.Update(t.Context(), func(tx *store.Tx) error { return webhooks.Put(tx, w.ID, old) }); err != nil {
			t.Fatal(err)
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
		r = openRig(t, rigOptions{dir: dir})
		if now := row(); now.Plain != nil || len(now.Sealed) == 0 || now.URL != "" || len(now.SealedURL) == 0 {
			t.Errorf("opened it is stored as %+v", now)
		}
		commits := r.db.Stats().Commits
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
		r = startRig(t, rigOptions{dir: dir})
		defer r.stop()
		if again := r.db.Stats().Commits; again >= commits {
			t.Errorf("a start with sealed secrets costs %d commits, the one that sealed them %d", again, commits)
		}
		if p := r.one("b1", 40); !signed(p, "a secret of an earlier version") {
			t.Errorf("signed by %q", p.Header)
		}
		if now := r.state(w.ID); now.URL != secretURL {
			t.Errorf("it is at %q", now.URL)
		}
	})
}

// TestSecretsOfAnotherDevice opens a database without its device secret: nothing
// is signed with what is not known, and somebody is told.
func TestSecretsOfAnotherDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		w := r.hook("a", owner, BookingCreated)
		r.stop()

		r = startRig(t, rigOptions{dir: dir, secret: "another"})
		r.book("b1", 40)
		r.wait(time.Minute)
		r.wantLines("without a secret")
		if now := r.state(w.ID); now.State != Disabled || now.Reason != noAddress || r.happened(eventDisabled) != 1 {
			t.Errorf("%+v", now)
		}
		on, address := Active, "https://a.example.com/again"
		for _, c := range []Change{{State: &on}, {State: &on, URL: &address}, {Events: &[]string{BookingCancelled}}} {
			if _, err := r.Change(t.Context(), w.ID, c); problem.As(err) == nil || problem.As(err).Code != problem.NotNow {
				t.Errorf("%+v without a secret: %v", c, err)
			}
		}
		if _, err := r.Test(t.Context(), w.ID); problem.As(err) == nil || problem.As(err).Code != problem.NotNow {
			t.Errorf("a test without a secret: %v", err)
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir}) // the device secret is back
		if _, err := r.Change(t.Context(), w.ID, Change{State: &on}); err != nil {
			t.Error(err)
		}
		if p := r.one("b2", 41); !signed(p, "the secret of a") {
			t.Errorf("signed by %q", p.Header)
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir, secret: "another"}) // or it is lost for good
		defer r.stop()
		_, made, err := r.Rotate(t.Context(), w.ID, "", Overlap)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Test(t.Context(), w.ID); problem.As(err) == nil || problem.As(err).Code != problem.NotNow {
			t.Errorf("a test without an address: %v", err)
		}
		if _, err := r.Change(t.Context(), w.ID, Change{State: &on, URL: &address}); err != nil {
			t.Error(err)
		}
		if p := r.one("b3", 42); !signed(p, Secret(made)) || p.Header.Get(HeaderPrevious) != "" {
			t.Errorf("signed by %q", p.Header)
		}
	})
}

// TestAnAddressOfTheVersionBefore opens a database whose secrets are sealed and
// whose addresses are not, without its device secret: the address is known.
func TestAnAddressOfTheVersionBefore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir})
		w := r.hook("a", owner, BookingCreated)
		r.must(r.db.Update(t.Context(), func(tx *store.Tx) error {
			s, err := webhooks.Get(tx, w.ID)
			s.SealedURL, s.URL = nil, secretURL
			return errors.Join(err, webhooks.Put(tx, w.ID, s))
		}))
		r.must(r.close())
		r = startRig(t, rigOptions{dir: dir, secret: "another"})
		defer r.stop()
		if now := r.state(w.ID); now.State != Disabled || now.Reason != noSecret || now.URL != secretURL {
			t.Errorf("%+v", now)
		}
		r.must(r.db.View(func(tx *store.Tx) error {
			if s, err := webhooks.Get(tx, w.ID); err != nil || s.URL != "" || len(s.Sealed) == 0 {
				t.Errorf("it is stored as %+v, %v", s, err)
			}
			return nil
		}))
	})
}
