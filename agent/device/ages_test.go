package device

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// fill stores so many commands that were done, many at a time.
func (r *rig) fill(from origin, prefix string, n int) (err error) {
	r.t.Helper()
	for first := 0; first < n && err == nil; first += 1000 {
		err = r.db.Update(r.t.Context(), func(tx *store.Tx) error {
			for i := first; i < min(first+1000, n); i++ {
				id := fmt.Sprintf("%s%06d", prefix, i)
				if err := r.remember(tx, from, Command{ID: id, Action: "on"}, Receipt{CommandID: id, State: Done}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}

// fillLegacy stores commands as commit 536cb25 did: all in one queue, without ages.
func (r *rig) fillLegacy(prefix string, n int) {
	r.t.Helper()
	type stored struct {
		Command Command `json:"command"`
		Receipt Receipt `json:"receipt"`
	}
	rows, ages := store.NewTable[stored]("commands"), store.NewQueue[string]("command-ages", 2*maxCommands, store.Refuse)
	err := r.db.Update(r.t.Context(), func(tx *store.Tx) error {
		for i := range n {
			c := lightOn(fmt.Sprintf("%s%06d", prefix, i))
			if _, err := ages.Push(tx, c.ID); err != nil {
				return err
			}
			if err := rows.Put(tx, c.ID, stored{c, Receipt{CommandID: c.ID, State: Done, Reason: "legacy"}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestIDIsForgottenByAgeOnly: 21,000 other commands, another run and a time
// without power make none new again, and only new ones are refused.
func TestIDIsForgottenByAgeOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("stores tens of thousands of commands")
	}
	bubble(t, func(t *testing.T) {
		b := devicetest.NewBench()
		r := startRig(t, rigOptions{bench: b, yaml: seldom})
		r.wait(5 * time.Second)
		answer := func(id string) Receipt {
			t.Helper()
			before := len(r.receipts(id))
			r.take(Command{ID: id, Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn})
			r.wait(time.Second)
			all := r.receipts(id)
			if len(all) == before {
				t.Fatalf("%s was not answered", id)
			}
			return all[len(all)-1]
		}
		if got := answer("first"); got.State != Done {
			t.Fatalf("first: %+v", got)
		}
		if err := r.fill(fromCloud, "other", maxCommands-1); err != nil {
			t.Fatal(err)
		}
		busy := func(when string) {
			t.Helper()
			if got := answer("new " + when); got.State != Rejected || got.Code != problem.Busy {
				t.Errorf("%s: a new command: %+v, want busy", when, got)
			}
			if got := answer("first"); got.State != Done || len(b["light-1"].Effects()) != 1 {
				t.Errorf("%s: the first again: %+v, took effect %d times", when, got, len(b["light-1"].Effects()))
			}
		}
		busy("at once")
		if receipt, err := r.Do(t.Context(), Command{ID: "local", Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOff, Via: ViaHTTP}); err != nil || receipt.State != Done {
			t.Errorf("a command in the building, while the cloud has used up its ids: %+v, %v", receipt, err)
		}
		b["light-1"].Forget(drivers.ActOff) // the effect of the local one is not counted
		r.stop()
		time.Sleep(100 * 24 * time.Hour) // without power
		r = startRig(t, r.o)
		r.wait(5 * time.Second)
		busy("after a long time without power")
		r.wait(commandMemory - time.Minute)
		busy("nearly old enough")
		r.wait(2 * time.Minute)
		if got := answer("new"); got.State != Done {
			t.Errorf("a new command once the oldest are old: %+v", got)
		}
	})
}

// TestIDsOfTheBuildingAreForgottenByNumber: nobody else has them, and a building
// that follows many rules must not end up refusing.
func TestIDsOfTheBuildingAreForgottenByNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("stores tens of thousands of commands")
	}
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.stop()
		if err := r.fill(fromUs, "own", maxCommands+1000); err != nil {
			t.Fatal(err)
		}
		_ = r.db.View(func(tx *store.Tx) error {
			if a, c := commandAges[fromUs].Len(tx), commands.Len(tx); a > maxCommands || a < maxCommands-forgetAtOnce || c != a {
				t.Errorf("%d ages and %d commands, want the same, about %d", a, c, maxCommands)
			}
			return nil
		})
		if err := r.fill(fromCaller, "asked", maxCommands); err != nil {
			t.Fatal(err)
		}
		if err := r.fill(fromCaller, "more", 1); AsError(err) == nil || AsError(err).Code != problem.Busy {
			t.Errorf("one more that a caller has named: %v, want busy", err)
		}
	})
}

// TestOriginOfAnID: who can send it again.
func TestOriginOfAnID(t *testing.T) {
	for want, all := range map[origin][]Command{
		fromUs:     {{Via: ViaHTTP}, {Via: ViaKeypad}, {ID: "r", Via: ViaRule}, {Via: ViaSchedule}, {Via: ViaRoom}},
		fromCaller: {{ID: "http-1", Via: ViaHTTP}, {ID: "x", Via: ViaCLI}, {ID: "x", Via: ViaRoom}},
		fromCloud:  {{ID: "c", Via: ViaMQTT}},
	} {
		for _, c := range all {
			if got := originOf(c); got != want {
				t.Errorf("%+v: origin %d, want %d", c, got, want)
			}
		}
	}
}

// TestIDsOfAnEarlierVersion are not forgotten by the upgrade, are in nobody's
// way, and go once the gateway has lived for long enough.
func TestIDsOfAnEarlierVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("stores tens of thousands of commands")
	}
	bubble(t, func(t *testing.T) {
		before := openRig(t, rigOptions{})
		before.fillLegacy("old", maxCommands)
		before.stop()
		r := openRig(t, before.o)
		defer r.stop()
		if err := r.fill(fromCloud, "new", maxCommands); err != nil {
			t.Fatalf("beside the old ones there is no room: %v", err)
		}
		if err := r.fill(fromCloud, "more", 1); AsError(err) == nil || AsError(err).Code != problem.Busy {
			t.Errorf("one more: %v, want busy", err)
		}
		for _, id := range []string{"old000000", "old019999"} {
			c := lightOn(id)
			if receipt, err := r.Do(t.Context(), c); err != nil || receipt.Reason != "legacy" {
				t.Errorf("%s: %+v, %v, want the receipt of then", id, receipt, err)
			}
		}
		time.Sleep(commandMemory)
		if err := r.fill(fromCloud, "later", maxCommands); err != nil {
			t.Fatal(err)
		}
		_ = r.db.View(func(tx *store.Tx) error {
			if a, c := commandAges[fromCloud].Len(tx), commands.Len(tx); a > maxCommands || a < maxCommands-forgetAtOnce || c != a {
				t.Errorf("%d ages and %d commands, want the same, about %d", a, c, maxCommands)
			}
			return nil
		})
	})
}

// TestCommandCostsTwoTransactions, also while the oldest are forgotten.
func TestCommandCostsTwoTransactions(t *testing.T) {
	if testing.Short() {
		t.Skip("stores tens of thousands of commands")
	}
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: seldom})
		r.wait(5 * time.Second)
		if err := r.fill(fromCloud, "full", maxCommands); err != nil {
			t.Fatal(err)
		}
		r.wait(commandMemory + time.Minute)
		const n = 2 * forgetAtOnce
		if err := r.events.Flush(t.Context()); err != nil { // a reading that waits is not of the commands
			t.Fatal(err)
		}
		last, err := r.events.Last()
		if err != nil {
			t.Fatal(err)
		}
		before := r.db.Stats()
		for i := range n {
			r.take(Command{ID: fmt.Sprint("c", i), Space: otherRoom, DeviceType: drivers.TypeLock, Action: []string{"open", "close"}[i%2], SentAt: time.Now()})
			r.wait(time.Second)
		}
		now := r.db.Stats()
		if got := now.Commits - before.Commits; got != 2*n {
			rows := map[string]int{}
			for after := last; ; {
				page, err := r.events.Page(after, 1000)
				if err != nil || len(page) == 0 {
					break
				}
				for _, item := range page {
					rows[item.Value.Type+" of "+item.Value.Device]++
					after = item.Seq
				}
			}
			t.Errorf("%d commands took %d transactions, want two each; the log has %v", n, got, rows)
		}
		each := (now.BytesWritten - before.BytesWritten) / n
		t.Logf("%d bytes for each command", each)
		if each > 48_000 {
			t.Errorf("%d bytes for each command, want at most 48,000: less than 12 pages", each)
		}
		if effects := r.bench["door-1"].Effects(); len(effects) != n {
			t.Errorf("took effect %d times, want %d", len(effects), n)
		}
	})
}

// take brings a command of the cloud.
func (r *rig) take(c Command) {
	r.t.Helper()
	c.Via = ViaMQTT
	if err := r.Take(r.t.Context(), c); err != nil {
		r.t.Fatalf("%s is not acknowledged: %v", c.ID, err)
	}
}

// receipts are those in the log of one id.
func (r *rig) receipts(id string) (all []Receipt) {
	r.t.Helper()
	page, err := r.events.Page(0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, item := range page {
		var got Receipt
		if item.Value.Level() != eventlog.LevelReceipt {
			continue
		}
		if err := json.Unmarshal(item.Value.Data, &got); err != nil {
			r.t.Fatal(err)
		}
		if got.CommandID == id {
			all = append(all, got)
		}
	}
	return all
}

// TestCommandsUnderWayAreBounded: there is no room for more although none has an age.
func TestCommandsUnderWayAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("stores tens of thousands of commands")
	}
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.stop()
		err := r.db.Update(t.Context(), func(tx *store.Tx) (err error) {
			for i := 0; i < maxCommands && err == nil; i++ {
				err = underWay.Put(tx, fmt.Sprint("c", i), recent{Stored: Stored{Receipt: Receipt{State: Accepted}}, From: fromCloud})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = r.db.Update(t.Context(), func(tx *store.Tx) error {
			return r.remember(tx, fromCloud, lightOn("more"), Receipt{CommandID: "more", State: Accepted})
		})
		if AsError(err) == nil || AsError(err).Code != problem.Busy {
			t.Errorf("one more: %v, want busy", err)
		}
	})
}
