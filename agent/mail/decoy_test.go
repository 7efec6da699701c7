package mail

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"roomgate/agent/mail/mailtest"
	"roomgate/store"
)

// TestDecoysTakeNoPlaces has letters to many made-up addresses before the queue runs, and then lets it run.
func TestDecoysTakeNoPlaces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		put := func(n int, isDecoy bool) (err error) {
			return errors.Join(r.db.Update(t.Context(), func(tx *store.Tx) error {
				for i := range n {
					err = errors.Join(err, r.PutCode(tx, fmt.Sprint(i, isDecoy, mails.Len(tx)), Letter{To: "ada@example.com"}, isDecoy, r.moment()))
				}
				return nil
			}), err)
		}
		for i := range 25 {
			if err := put(100, true); err != nil || r.Status().Waiting > maxDecoys {
				t.Fatalf("100 decoys, time %d: %v, %d wait", i, err, r.Status().Waiting)
			}
		}
		if err := put(MaxLetters, false); err != nil {
			t.Fatalf("the letters of users: %v", err)
		}
		known, unknown := put(1, false), put(1, true)
		if known == nil || fmt.Sprint(known) != fmt.Sprint(unknown) {
			t.Errorf("a full queue: %v for a user, %v for a stranger", known, unknown)
		}
		before := r.db.Stats().Commits
		r.relay.Close()
		r.run()
		r.wait(time.Millisecond)
		if n := r.db.Stats().Commits - before; n != 1 || r.Status().Waiting != MaxLetters {
			t.Errorf("the decoys went in %d transactions, %d letters wait", n, r.Status().Waiting)
		}
	})
}
