package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/rule"
	"roomgate/agent/rule/doubt"
	"roomgate/drivers"
	"roomgate/store"
)

// halt ends a building as a power cut does after rules were asked and before
// they gave an order.
func (r *rig) halt() {
	r.t.Helper()
	if err := r.turn.Lock(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.askLog(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.close()
}

// happens puts an event into the log of a building that does not run.
func (r *rig) happens(kind string) {
	r.t.Helper()
	d := r.hub()
	line := d.Event(kind, drivers.SubOccupancy, time.Now(), map[string]any{"value": "occupied"})
	if err := r.Engine.o.Events.Write(r.t.Context(), eventlog.Change{Rows: []eventlog.Row{line}}); err != nil {
		r.t.Fatal(err)
	}
}

func TestRestartBetweenEventAndAction(t *testing.T) {
	for name, c := range map[string]struct {
		off  time.Duration
		want string
	}{
		"soon": {10 * time.Second, "held, light on done"},
		"late": {2 * time.Minute, "held, light on expired"},
	} {
		bubble(t, func(t *testing.T) {
			dir := t.TempDir()
			r := openRig(t, rigOptions{dir: dir})
			u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{switchOn()}})
			r.happens("occupancyChanged")
			r.halt()
			time.Sleep(c.off)
			bench := devicetest.NewBench()
			for range 3 { // and again: nothing is done twice
				r = startRig(t, rigOptions{dir: dir, bench: bench})
				r.wait(5 * time.Second)
				if got := r.runsOf(u.ID); !slices.Equal(got, []string{c.want}) {
					t.Errorf("%s: it ran %q", name, got)
				}
				r.stop()
			}
			if got := len(bench["light-1"].Effects()); got > 1 || (got == 1) != (name == "soon") {
				t.Errorf("%s: the light was told %d times", name, got)
			}
		})
	}
}

// An order that was accepted when the power went is not given again.
func TestRestartAfterTheOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir})
		u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{switchOn()}})
		r.happens("occupancyChanged")
		if err := r.turn.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.askLog(t.Context()); err != nil {
			t.Fatal(err)
		}
		j := r.jobs[0]
		c := commandFor(j.rule.Actions[0], room)
		c.ID = j.run.Actions[0].CommandID
		err := r.Engine.o.DB.Update(t.Context(), func(tx *store.Tx) error {
			return storeAccepted(tx, c)
		})
		if err != nil {
			t.Fatal(err)
		}
		r.close()
		bench := devicetest.NewBench()
		r = startRig(t, rigOptions{dir: dir, bench: bench})
		r.wait(5 * time.Second)
		if got := r.runsOf(u.ID); len(got) != 1 || !strings.HasPrefix(got[0], "held, light on failed") {
			t.Errorf("it ran %q", got)
		}
		if r.runs(u.ID)[0].Actions[0].Reason == "" || len(bench["light-1"].Effects()) != 0 {
			t.Error("the order was given again, or nobody says why not")
		}
	})
}

func (r *rig) runs(id string) []rule.Run {
	runs, err := r.Runs(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return runs
}

// What happened while nobody asked is asked after the restart, unless it is
// too old.
func TestEventsOfAnEarlierRun(t *testing.T) {
	for _, c := range []struct {
		off  time.Duration
		want []string
	}{
		{time.Minute, []string{"held, event rule.a done", "held, event rule.a done"}},
		{time.Hour, []string{"skipped x2: it was seen more than 5m0s late"}},
	} {
		bubble(t, func(t *testing.T) {
			dir := t.TempDir()
			r := openRig(t, rigOptions{dir: dir})
			u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{{Event: "a"}}})
			r.happens("occupancyChanged")
			r.happens("occupancyChanged")
			r.close()
			time.Sleep(c.off)
			for range 2 {
				r = startRig(t, rigOptions{dir: dir})
				r.wait(5 * time.Second)
				if got := r.runsOf(u.ID); !slices.Equal(got, c.want) {
					t.Errorf("after %v it ran %q, want %q", c.off, got, c.want)
				}
				r.stop()
			}
		})
	}
}

// A rule does nothing about what happened before it was made.
func TestNewRulesDoNotLookBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		r.happens("occupancyChanged")
		u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{{Event: "a"}}})
		r.run()
		r.wait(5 * time.Second)
		r.wantRuns(u.ID)
	})
}

// storeAccepted leaves what a crash leaves of a command: it was accepted and has
// no outcome.
func storeAccepted(tx *store.Tx, c device.Command) error {
	_, err := store.NewQueue[string]("caller-command-ages", 40_000, store.Refuse).Push(tx, c.ID)
	return errors.Join(err, store.NewTable[bool]("open-commands").Put(tx, c.ID, true),
		store.NewTable[device.Stored]("commands").Put(tx, c.ID, device.Stored{Command: c, Receipt: device.Receipt{CommandID: c.ID, State: device.Accepted}, Lived: 1}))
}

// TestWhatLedToAnEventOfAnEarlierRunIsNotKnown: where door orders are signed, an event of before a start may be the
// doing of an unsigned command, and so leads to no open door.
func TestWhatLedToAnEventOfAnEarlierRunIsNotKnown(t *testing.T) {
	for _, signed := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			dir := t.TempDir()
			r := openRig(t, rigOptions{dir: dir})
			u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{{Event: "a"}}})
			r.happens("occupancyChanged")
			r.close()
			r = openRig(t, rigOptions{dir: dir})
			r.Engine.o.UnsignedAllowed = func() bool { return !signed }
			r.run()
			r.wait(5 * time.Second)
			r.happens("occupancyChanged")
			r.wait(5 * time.Second)
			runs := r.runs(u.ID)
			if len(runs) != 2 || doubt.Began(runs[0].Chain) || doubt.Began(runs[1].Chain) != signed {
				t.Errorf("signed %v: %+v", signed, runs)
			}
		})
	}
}
