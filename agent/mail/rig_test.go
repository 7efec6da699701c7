package mail

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/journal/journaltest"
	"roomgate/agent/mail/mailtest"
	"roomgate/store"
)

// rig is a queue on a real store beside a relay.
type rig struct {
	*Queue
	t     *testing.T
	relay *mailtest.Relay
	text  *journaltest.Log
	stop  func()
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// openRig opens a queue without running it. Its clock is trusted.
func openRig(t *testing.T, dir string, o mailtest.Options) *rig {
	t.Helper()
	relay, err := mailtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, relay.CAPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	db, _, err := store.Open(t.Context(), filepath.Join(dir, "test.db"), store.Options{Schema: 1, Names: Buckets()})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := auth.NewKeys(bytes.Repeat([]byte{7}, auth.SecretSize))
	if err != nil {
		t.Fatal(err)
	}
	settings := Settings{Address: mailtest.Host + ":587", From: "Rooms <rooms@example.com>", CAFile: ca,
		Password: func() (string, error) { return o.Password, nil }}
	if o.Password != "" {
		settings.Username = "gateway"
	}
	text, started, boot := &journaltest.Log{}, time.Now(), t.Name()+time.Now().String()
	q := New(Options{DB: db, Keys: keys, Settings: settings, Dial: relay.Dial, Log: slog.New(slog.NewTextHandler(text, nil)),
		Moment: func() auth.Moment {
			return auth.Moment{Boot: boot, Up: time.Since(started), Milli: time.Now().UnixMilli(), Trusted: true}
		}})
	r := &rig{Queue: q, t: t, relay: relay, text: text}
	r.stop = sync.OnceFunc(func() { _ = db.Close() })
	t.Cleanup(func() { r.stop() })
	return r
}

// run runs the queue until the test or stop ends it.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = r.db.Run(ctx) })
	loops.Go(func() {
		if err := r.Run(ctx); err != nil {
			r.t.Errorf("Run: %v", err)
		}
	})
	r.stop = sync.OnceFunc(func() {
		cancel()
		loops.Wait()
		if err := r.db.Close(); err != nil {
			r.t.Errorf("Close: %v", err)
		}
	})
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// post posts a letter that has to be taken.
func (r *rig) post(subject string) {
	r.t.Helper()
	if err := r.Post(r.t.Context(), Letter{To: "ada@example.com", Subject: subject, Text: "text\n"}); err != nil {
		r.t.Fatal(err)
	}
}

// code queues the letter with somebody's one-time password.
func (r *rig) code(name, text string) {
	r.t.Helper()
	if err := r.putCode(name, text, false); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) putCode(name, text string, decoy bool) error {
	l := Letter{To: name + "@example.com", Subject: "Your code", Text: text + "\n"}
	err := r.db.Update(r.t.Context(), func(tx *store.Tx) error { return r.PutCode(tx, name, l, decoy, r.moment()) })
	r.Wake()
	return err
}

// sealed is the size of the letter with somebody's one-time password.
func (r *rig) sealed(name string) (size int) {
	r.t.Helper()
	err := r.db.View(func(tx *store.Tx) error {
		m, err := mails.Get(tx, codePrefix+name)
		size = len(m.Sealed)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return size
}

func (r *rig) wantEmpty() {
	r.t.Helper()
	if n := r.Status().Waiting; n != 0 {
		r.t.Errorf("%d letters wait", n)
	}
}
