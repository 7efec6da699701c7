package cloudkey

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/store"
	"roomgate/store/storetest"
)

// holds uses n of a key in memory.
func (r *rig) holds(key string, n uint64) error {
	return r.Counters().Hold(device.Count{Key: key, N: n}, func() error { return nil })
}

// TestCountersWithoutADisk: what was used is known, stored or not, and what is stored later joins it.
func TestCountersWithoutADisk(t *testing.T) {
	r := openRig(t, clock.Always, Auto)
	for _, n := range []uint64{5, 7} {
		if err := r.counts("a", n); err != nil {
			t.Fatal(err)
		}
	}
	mend := storetest.Break(t, r.path)
	if err := r.counts("a", 6); !errors.Is(err, store.ErrFailed) {
		t.Fatalf("the disk takes it: %v", err)
	}
	lost := errors.New("not kept")
	if err := r.Counters().Hold(device.Count{Key: "a", N: 6}, func() error { return lost }); !errors.Is(err, lost) {
		t.Errorf("a command that is not kept: %v", err)
	}
	for _, n := range []uint64{6, 100, 99} {
		if err := r.holds("a", n); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	for _, n := range []uint64{5, 6, 7, 8, 99, 100} {
		wantCode(t, "used or too old", r.holds("a", n), problem.Conflict, "counter")
	}
	if err := r.holds("b", 1); err != nil {
		t.Errorf("another key: %v", err)
	}
	mend()
	_ = r.db.Close()
	kept := r.Signers
	r.open(Auto) // with room, by another process
	for range 2 {
		if err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			kept.held.mu.Lock()
			r.held.byKey = kept.held.byKey
			kept.held.mu.Unlock()
			return r.Counters().Settle(tx, device.Count{Key: "a", N: 100})
		}); err != nil {
			t.Fatal(err)
		}
		r.open(Auto)
	}
	for _, n := range []uint64{7, 99, 100} {
		wantCode(t, "stored by then", r.counts("a", n), problem.Conflict, "counter")
	}
	if err := r.counts("a", 98); err != nil {
		t.Errorf("one that was not used: %v", err)
	}
}

// TestCountersJoin compares two windows, each of which knows a part, with a plain memory.
func TestCountersJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts [2]counted
		used := map[uint64]bool{}
		var highest uint64
		for _, n := range rapid.SliceOfN(rapid.Uint64Range(1, 300), 1, 200).Draw(t, "counters") {
			one, other := parts[0], parts[1]
			one.join(parts[1])
			other.join(parts[0])
			if one != other {
				t.Fatalf("joined %+v, the other way %+v", one, other)
			}
			good := !used[n] && n+width >= highest
			if err := one.use(n); good != (err == nil) {
				t.Fatalf("%d below %d: %v", n, highest, err)
			}
			if good {
				used[n], highest = true, max(highest, n)
				parts[rapid.IntRange(0, 1).Draw(t, "part")] = one
			}
		}
	})
}

// TestHeldCountersAreFew: keys come and go while the disk takes nothing.
func TestHeldCountersAreFew(t *testing.T) {
	r := openRig(t, clock.Always, Auto)
	if err := r.hold(key("held")); err != nil {
		t.Fatal(err)
	}
	if err := r.holds(idOf("held"), 7); err != nil {
		t.Fatal(err)
	}
	for i := range 10 * mostCounters {
		if err := r.holds(string(rune('a'+i)), 1); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.held.byKey); n > mostCounters {
		t.Errorf("%d counters are held", n)
	}
	wantCode(t, "of the key that is held", r.holds(idOf("held"), 7), problem.Conflict, "counter")
}
