package unlock

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/store"
)

// That a code was used is stored before the door gets its command, so no door
// opens that the log does not know of.
func TestUseIsStoredBeforeTheDoorOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		c := r.code(Request{Name: "a", Code: "483920"})
		stale := r.of(aurora).all[0]
		r.opens("483920")
		if after := r.after("codeAccepted"); !slices.Contains(after, "commandCompleted") || !slices.Contains(after, "statusChanged") {
			t.Errorf("after it was accepted came %q", after)
		}
		if err := r.Delete(t.Context(), aurora, c.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if err := r.use(t.Context(), r.door(), stale); err == nil {
			t.Error("a code that was deleted while it was judged is used")
		}
		r.pass(4 * time.Second)
		r.stands(drivers.Closed)
	})
}

// A wrong code is stored before anybody can type the next one.
func TestWrongCodeIsStoredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		if !r.Typed("lock", "111111") {
			t.Fatal("digits are no code")
		}
		synctest.Wait() // no time goes by
		err := r.db.View(func(tx *store.Tx) error {
			tries, err := keypadRows.Get(tx, "lock")
			if tries.Spent != 1 {
				t.Errorf("stored are %v tries", tries.Spent)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if r.Typed("lock", "card 4711") || !r.Typed("light", "1234") {
			t.Error("a card is a code, or digits at another device are none")
		}
	})
}

// Codes that come faster than a second apart are noise: one waits, no more.
func TestKeypadIsNotHurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		for i := range 100 {
			r.Typed("lock", drivers.Secret(fmt.Sprint(111100+i)))
			r.pass(10 * time.Millisecond)
		}
		r.pass(3 * time.Second)
		if _, text := r.events(); strings.Count(text, "no such code") != 2 {
			t.Errorf("judged were %s", text)
		}
	})
}

// Who guesses gains no try when the lock is configured again, and codes go on
// opening it.
func TestTriesOutliveTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.code(Request{Name: "a", Code: "483920"})
		again := func() {
			if err := r.loadLock(); err != nil {
				t.Fatal(err)
			}
			r.pass(5 * time.Second)
		}
		again()
		r.opens("483920")
		for i := range 5 {
			r.types(fmt.Sprint(111110 + i))
			again()
		}
		r.refused("483920", "locked out")
		r.pass(time.Hour)
		r.opens("483920")
	})
}

// A row that cannot be read locks out or drops its own code, and nothing else.
func TestDamagedRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.code(Request{Name: "a", Code: "483920"})
		err := r.log.Update(t.Context(), func(tx *store.Tx) error {
			if err := store.NewTable[string]("keypads").Put(tx, "lock", "five"); err != nil {
				return err
			}
			return store.NewTable[map[string]any]("unlock-codes").Put(tx, aurora+"/short", map[string]any{"id": "short", "meeting_space_id": aurora, "hash": "c2hvcnQ="})
		})
		if err != nil {
			t.Fatal(err)
		}
		r.restart()
		if wait, err := r.LockedOut(aurora); err != nil || wait <= 0 {
			t.Errorf("it is locked out for %v, %v", wait, err)
		}
		r.refused("483920", "locked out")
		r.pass(20 * time.Minute)
		r.opens("483920")
		if all, err := r.List(aurora); err != nil || len(all) != 1 {
			t.Errorf("there are %+v, %v", all, err)
		}
	})
}
