package mail

import (
	"fmt"
	"testing"
	"time"

	"roomgate/agent/mail/mailtest"
)

// TestDecoysTakeNoPlaces has many letters to made-up addresses before the queue runs, and then lets it run.
func TestDecoysTakeNoPlaces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		for i := range 3 * maxDecoys {
			if err := r.putCode(fmt.Sprint("stranger", i), "123456", true); err != nil {
				t.Fatalf("decoy %d: %v", i, err)
			}
			if n := r.Status().Waiting; n > maxDecoys {
				t.Fatalf("%d decoys wait", n)
			}
		}
		for i := range MaxLetters {
			if err := r.putCode(fmt.Sprint("user", i), "123456", false); err != nil {
				t.Fatalf("the letter of user %d: %v", i, err)
			}
		}
		known, unknown := r.putCode("ada", "123456", false), r.putCode("bob", "123456", true)
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
