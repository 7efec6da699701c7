package device

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/drivers"
	"roomgate/store"
)

// TestRecentCommandsAreRemembered: wherever a command is at the moment, its id
// has its answer, also in the next run.
func TestRecentCommandsAreRemembered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		const n = 3*maxOver/commandWeight + 1
		on := func(i int) Command {
			return Command{ID: fmt.Sprint("c", i), Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn}
		}
		for i := range n {
			r.take(on(i))
			r.wait(time.Second)
		}
		err := r.db.View(func(tx *store.Tx) error {
			over, aged := len(recentOf(tx, recentOver)), commandAges[fromCloud].Len(tx)
			if over < keepOver/commandWeight || over > maxOver/commandWeight || over+aged != n || commands.Len(tx) != aged {
				t.Errorf("%d recent, %d aged and %d rows of %d commands", over, aged, commands.Len(tx), n)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r = r.again()
		r.wait(time.Second)
		for i := range n {
			r.take(on(i))
			if got := states(r.receipts(on(i).ID)); !slices.Equal(got, []State{Accepted, Done, Done}) {
				t.Errorf("%s was answered %q", on(i).ID, got)
			}
		}
		r.wait(time.Second)
		if done := len(r.bench["light-1"].Effects()); done != n {
			t.Errorf("%d effects of %d commands", done, n)
		}
	})
}

// TestSettledCommandsAreOfTheEarlierForm: an earlier version knows each id, and
// ends what was under way.
func TestSettledCommandsAreOfTheEarlierForm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		done := lightOn("done")
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			return errors.Join(r.remember(tx, fromCaller, done, Receipt{CommandID: "done", State: Done}),
				r.remember(tx, fromCloud, lightOn("open"), Receipt{CommandID: "open", State: Accepted}))
		})
		if err = errors.Join(err, r.Settle(t.Context())); err != nil {
			t.Fatal(err)
		}
		err = r.db.View(func(tx *store.Tx) error {
			a, err := commands.Get(tx, "done")
			b, err2 := commands.Get(tx, "open")
			mark, err3 := openCommands.Get(tx, "open")
			goldentest.Values(t, "done", goldentest.Pairs{"a.Receipt.State": {a.Receipt.State, Done},
				"b.Receipt.State": {b.Receipt.State, Accepted}, "mark": {mark, true}, "openCommands.Len(tx)": {openCommands.Len(tx), 1},
				"recents.Len(tx)": {recents.Len(tx), 0}, "underWay.Len(tx)": {underWay.Len(tx), 0}})
			if x, y := commandAges[fromCaller].Len(tx), commandAges[fromCloud].Len(tx); x != 1 || y != 1 {
				t.Errorf("%d and %d ages, want one each", x, y)
			}
			return errors.Join(err, err2, err3)
		})
		if err != nil {
			t.Fatal(err)
		}
		r = r.again()
		if got, err := r.Find("open"); err != nil || got.State != Failed {
			t.Errorf("what was under way: %+v, %v", got, err)
		}
	})
}

// TestCommandsUnderWayOfAnEarlierVersion are where it had them, after a power cut.
func TestCommandsUnderWayOfAnEarlierVersion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			open := Stored{Command: lightOn("open"), Receipt: Receipt{CommandID: "open", State: Accepted}}
			return recents.Put(tx, recentOpen+"open", recent{Stored: open, From: fromCloud})
		})
		if err != nil {
			t.Fatal(err)
		}
		r = r.again()
		err = r.db.View(func(tx *store.Tx) error {
			s, err := find(tx, "open")
			if n := commandAges[fromCloud].Len(tx); s.Receipt.State != Failed || n != 1 || recents.Len(tx) != 0 || underWay.Len(tx) != 0 {
				t.Errorf("%+v, %d ages, %d recent, %d under way", s, n, recents.Len(tx), underWay.Len(tx))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestMarksOfAnEarlierState: a repair may bring back that a command was under
// way. That ends neither its receipt nor the start.
func TestMarksOfAnEarlierState(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		over := Stored{Command: lightOn("over"), Receipt: Receipt{CommandID: "over", State: Done}}
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			was := over
			was.Receipt.State = Accepted
			return errors.Join(commands.Put(tx, "over", over), recents.Put(tx, recentOpen+"over", recent{Stored: was}),
				openCommands.Put(tx, "over", true), openCommands.Put(tx, "lost", true))
		})
		if err != nil {
			t.Fatal(err)
		}
		r = r.again()
		if got, err := r.Find("over"); err != nil || got.State != Done {
			t.Errorf("%+v, %v, want done", got, err)
		}
		if _, err := r.Find("lost"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a mark alone: %v", err)
		}
	})
}

// TestCommandsAfterAPowerCut: the start after it leaves no command that is over
// where an earlier version does not look for its id.
func TestCommandsAfterAPowerCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		const n = maxOver / commandWeight
		err := r.db.Update(t.Context(), func(tx *store.Tx) (err error) {
			for i := range n {
				id := fmt.Sprint("c", i)
				err = errors.Join(err, r.remember(tx, fromCloud, lightOn(id), Receipt{CommandID: id, State: Done}))
			}
			return errors.Join(err, r.remember(tx, fromCloud, lightOn("open"), Receipt{CommandID: "open", State: Accepted}))
		})
		if err = errors.Join(err, r.CloseInterrupted(t.Context())); err != nil {
			t.Fatal(err)
		}
		err = r.db.View(func(tx *store.Tx) error {
			if a, b := commands.Len(tx), recents.Len(tx)+underWay.Len(tx); a != n+1 || b != 0 {
				t.Errorf("%d commands of %d are where an earlier version looks, %d are not", a, n+1, b)
			}
			if s, err := commands.Get(tx, "open"); err != nil || s.Receipt.State != Failed {
				t.Errorf("what was under way: %+v, %v", s, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
