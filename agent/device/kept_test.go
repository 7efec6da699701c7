package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
	"roomgate/store/storetest"
)

func doorOpen(id, via string) Command {
	return Command{ID: id, Space: otherRoom, DeviceType: drivers.TypeLock, Action: drivers.ActOpen, Via: via, SentAt: time.Now()}
}

func (r *rig) file() string { return filepath.Join(r.o.dir, "test.db") }

// onBadDisk runs a building with a lock whose disk is made bad.
func onBadDisk(t *testing.T, harm func(t testing.TB, path string) func(), f func(t *testing.T, r *rig, mend func())) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: seldom})
		r.wait(time.Second)
		ballast := store.NewTable[[]byte]("ballast")
		for _, change := range []func(*store.Tx) error{ // leaves free pages, so that the file need not grow
			func(tx *store.Tx) error { return ballast.Put(tx, "x", make([]byte, 256<<10)) },
			func(tx *store.Tx) error { return ballast.Delete(tx, "x") },
			func(tx *store.Tx) error { return ballast.Put(tx, "y", nil) },
		} {
			if err := r.db.Update(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		f(t, r, harm(t, r.file()))
	})
}

// wantOnce wants one receipt for a command that comes twice, and one effect.
func (r *rig) wantOnce(c Command, device string, durable bool) {
	r.t.Helper()
	for range 2 {
		receipt, err := r.Do(r.t.Context(), c)
		if err != nil || receipt.State != Done || (receipt.Durable == nil) != durable {
			r.t.Errorf("%s: %+v, %v", c.ID, receipt, err)
		}
	}
	if all := r.bench[device].Effects(); len(all) != 1 {
		r.t.Errorf("%s took effect %q, want once", device, all)
	}
}

// heard is what the log tells the cloud of a command.
func (r *rig) heard(id string) (states []State) {
	r.t.Helper()
	page, err := r.events.Page(0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, item := range page {
		var receipt Receipt
		if item.Value.Level() == eventlog.LevelReceipt && json.Unmarshal(item.Value.Data, &receipt) == nil && receipt.CommandID == id {
			states = append(states, receipt.State)
		}
	}
	return states
}

// copied is the building as a power cut leaves it, started with another disk.
func (r *rig) copied() *rig {
	r.t.Helper()
	o := r.o
	o.dir, o.memory = r.t.TempDir(), r.clock.Memory()
	files, err := filepath.Glob(r.file() + "*")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err = errors.Join(err, os.WriteFile(filepath.Join(o.dir, filepath.Base(name)), raw, 0o600)); err != nil {
			r.t.Fatal(err)
		}
	}
	return startRig(r.t, o)
}

func TestDoorOpensOnAFullDisk(t *testing.T) {
	onBadDisk(t, storetest.Fill, func(t *testing.T, r *rig, mend func()) {
		r.wantOnce(doorOpen("here", ViaHTTP), "door-1", true)
		if _, err := r.Do(t.Context(), lightOn("light")); AsError(err) == nil || AsError(err).Code != problem.Full {
			t.Errorf("a light on a full disk: %v", err)
		}
		if err := r.Take(t.Context(), doorOpen("cloud", ViaMQTT)); err != nil {
			t.Errorf("a door of the cloud, which the reserve has: %v", err)
		}
		r.wait(time.Second)
		if all := r.bench["door-1"].Effects(); len(all) != 2 {
			t.Errorf("took effect %q", all)
		}
		cut := r.copied() // the power is cut here, and then there is room
		cut.wait(2 * time.Minute)
		for _, id := range []string{"here", "cloud"} {
			if receipt, err := cut.Find(id); err != nil || receipt.State != Done || len(cut.db.Reserve().Kept()) != 0 {
				t.Errorf("after a power cut %s: %+v, %v", id, receipt, err)
			}
		}
		if got := cut.heard("cloud"); !slices.Equal(got, []State{Accepted, Done}) {
			t.Errorf("the cloud hears %q", got)
		}
		cut.stop()
		mend()
		r.wait(2 * time.Minute)
		if n := r.kept.waiting(); n != 0 || len(r.db.Reserve().Kept()) != 0 {
			t.Errorf("%d wait with room on the disk", n)
		}
		if got := r.heard("cloud"); !slices.Equal(got, []State{Accepted, Done}) {
			t.Errorf("the cloud hears %q", got)
		}
		r = r.again()
		r.wait(time.Second)
		if receipt, err := r.Do(t.Context(), doorOpen("here", ViaHTTP)); err != nil || receipt.State != Done {
			t.Errorf("once more: %+v, %v", receipt, err)
		}
	})
}

// A door that was under way when the power was cut is not opened again.
func TestReserveKnowsWhatWasUnderWay(t *testing.T) {
	onBadDisk(t, storetest.Fill, func(t *testing.T, r *rig, mend func()) {
		p := &Pending{command: doorOpen("half", ViaMQTT), from: fromCloud}
		p.receipt = p.accepted()
		if err := r.withoutDisk(p, store.ErrFull); err != nil {
			t.Fatal(err)
		}
		cut := r.copied()
		cut.wait(time.Minute)
		if receipt, err := cut.Find("half"); err != nil || receipt.State != Failed || len(cut.bench["door-1"].Effects()) != 0 {
			t.Errorf("%+v, %v", receipt, err)
		}
	})
}

// The reserve is bounded, and so is what is kept: then the building still opens its doors, and the cloud is told that there is no room.
func TestDoorOpensWithoutAReserve(t *testing.T) {
	onBadDisk(t, storetest.Fill, func(t *testing.T, r *rig, mend func()) {
		for r.db.Reserve().Put(make([]byte, 1000)) == nil {
			continue
		}
		for r.db.Reserve().Put(make([]byte, 1)) == nil {
			continue
		}
		r.wantOnce(doorOpen("here", ViaHTTP), "door-1", false)
		if err := r.Take(t.Context(), doorOpen("cloud", ViaMQTT)); !errors.Is(err, store.ErrFull) {
			t.Errorf("a door of the cloud: %v", err)
		}
		value := json.RawMessage(`"` + strings.Repeat("x", 60_000) + `"`)
		for i := range 100 {
			k := &keptCommand{Stored: Stored{Command: Command{ID: fmt.Sprint(i), Value: value}, Lived: r.now()}, From: fromCaller}
			if !r.kept.put(k, r.now()) {
				t.Fatalf("%d of the building: no room", i)
			}
		}
		if r.kept.bytes > maxKept || r.kept.waiting() < 10 {
			t.Errorf("%d bytes of %d commands", r.kept.bytes, r.kept.waiting())
		}
		for i := range 100 {
			k := &keptCommand{Stored: Stored{Command: Command{ID: fmt.Sprint("c", i), Value: value}, Lived: r.now()}, From: fromCloud}
			if fits := r.kept.put(k, r.now()); !fits && i < 50 || fits && i > 90 {
				t.Fatalf("%d of the cloud: %v", i, fits)
			}
		}
		if receipt, err := r.Do(t.Context(), doorOpen("", ViaKeypad)); err != nil || receipt.State != Done {
			t.Errorf("a door beside what the cloud has filled: %+v, %v", receipt, err)
		}
		for range r.kept.waiting() {
			r.kept.drop(0)
		}
	})
}

func TestDiskThatTakesNothing(t *testing.T) {
	onBadDisk(t, storetest.Break, func(t *testing.T, r *rig, _ func()) {
		r.wait(time.Minute)
		r.wantOnce(doorOpen("here", ViaHTTP), "door-1", false)
		r.wantOnce(lightOn("light"), "light-1", false)

		var sent []Receipt
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- r.SendUnstored(ctx, func(_ context.Context, receipt Receipt) bool { sent = append(sent, receipt); return true })
		}()
		cloud := func(what string, c Command, want ...State) {
			t.Helper()
			if err := r.Take(t.Context(), c); !errors.Is(err, store.ErrFailed) && AsError(err).Code != problem.Unwritable {
				t.Errorf("%s is acknowledged: %v", what, err)
			}
			r.wait(time.Second)
			var states []State
			for _, receipt := range sent {
				if states = append(states, receipt.State); receipt.Durable == nil || *receipt.Durable {
					t.Errorf("%s: %+v claims to be durable", what, receipt)
				}
			}
			if !slices.Equal(states, want) {
				t.Errorf("%s: receipts %q, want %q: %+v", what, states, want, sent)
			}
			sent = nil
		}
		on := Command{ID: "cloud", Space: otherRoom, DeviceType: drivers.TypeLight, Action: drivers.ActOn, Via: ViaMQTT, SentAt: time.Now()}
		cloud("a light", on, Accepted, Done)
		cloud("the same again", on, Done)
		door := doorOpen("door", ViaMQTT)
		cloud("a door", door, Rejected)
		old := on
		old.ID, old.SentAt, old.ExpiresAt = "old", time.Now().Add(-2*time.Minute), time.Now().Add(time.Hour)
		cloud("one from before the start", old, Rejected)
		timeless := on
		timeless.ID, timeless.SentAt = "timeless", time.Time{}
		cloud("one without a time", timeless, Rejected)
		if a, b := r.bench["light-2"].Effects(), r.bench["door-1"].Effects(); len(a) != 1 || len(b) != 1 {
			t.Errorf("took effect %q and %q", a, b)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// waiting is how many commands the disk does not have.
func (l *kept) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.order)
}
