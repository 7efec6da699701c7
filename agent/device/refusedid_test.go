package device

import (
	"fmt"
	"testing"
	"time"

	"roomgate/agent/device/refusal"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// TestRefusedIDHasItsAnswer: wherever the id of what was refused is at the moment, what comes with it later is answered as the
// first was and does nothing, also in the next run, and after a power cut.
func TestRefusedIDHasItsAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: seldom})
		r.wait(5 * time.Second)
		const n = 4*maxOver/refusalWeight + 1
		name := func(i int) string { return fmt.Sprintf("r%08x", uint32(i)*2654435761) }
		for i := range n {
			r.take(Command{ID: name(i), Space: room, DeviceType: drivers.TypeLight, Action: "never"})
			r.wait(refusal.Every)
		}
		err := r.db.View(func(tx *store.Tx) error {
			over, queued := len(allOver(tx)), refusal.Len(tx)
			if over < keepOver/refusalWeight || over > maxOver/refusalWeight || over+queued != n || commands.Len(tx) != 0 {
				t.Errorf("%d young, %d queued and %d rows of %d refusals", over, queued, commands.Len(tx), n)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		again := func(when string) {
			for i := range n {
				r.take(lightOn(name(i)))
				r.wait(refusal.Every)
				all := r.receipts(name(i))
				if got := all[len(all)-1]; got.State != Rejected || got.Code != problem.Invalid || got.Reason != all[0].Reason || got.ReceivedAt.UnixMilli() != all[0].ReceivedAt.UnixMilli() {
					t.Fatalf("%s, %s is answered with %+v, first with %+v", when, name(i), got, all[0])
				}
				if got, err := r.Find(name(i)); err != nil || got.State != Rejected || got.CommandID != name(i) {
					t.Fatalf("%s, %s is found as %+v, %v", when, name(i), got, err)
				}
			}
		}
		again("in the same run")
		r = r.again() // without Settle, as a power cut leaves it
		r.wait(5 * time.Second)
		again("in the next run")
		err = r.db.View(func(tx *store.Tx) error {
			if a, b, c := commands.Len(tx), commandAges[fromCloud].Len(tx), len(allOver(tx))+refusal.Len(tx); a != n || b != n || c != 0 {
				t.Errorf("%d rows and %d ages of %d refusals are where an earlier version looks, %d are not", a, b, n, c)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if did := r.bench["light-1"].Effects(); len(did) > 0 {
			t.Errorf("the light did %v", did)
		}
	})
}
