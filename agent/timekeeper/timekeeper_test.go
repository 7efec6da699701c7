package timekeeper

import (
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/clock"
	"roomgate/agent/problem"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is the clock of a building on a real store.
type rig struct {
	*testing.T
	*Keeper
	db *store.DB

	mu    sync.Mutex
	told  []string // the events
	moved int      // how often somebody has moved the clock
}

// inTime runs a test on a rig in virtual time, while the clock is kept.
func inTime(t *testing.T, o Options, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t}
		var err error
		if r.db, _, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{Schema: 1, Names: Buckets()}); err != nil {
			t.Fatal(err)
		}
		o.DB, o.Log = r.db, slog.New(slog.DiscardHandler)
		o.Tell = func(_ *store.Tx, kind string, _ map[string]any) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.told = append(r.told, kind)
			return nil
		}
		o.Told, o.Moved = func() {}, func() { r.moved++ }
		if r.Keeper, err = Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		var loops sync.WaitGroup
		loops.Go(func() {
			if err := r.Keeper.Run(t.Context()); err != nil {
				t.Errorf("ended with %v", err)
			}
		})
		t.Cleanup(func() { loops.Wait(); _ = r.db.Close() })
		test(r)
	})
}

// passes lets time pass, and checks how often something was stored and what was told.
func (r *rig) passes(d time.Duration, stores int64, told string) {
	r.Helper()
	before := r.db.Stats().Commits
	time.Sleep(d)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.db.Stats().Commits - before; n != stores {
		r.Errorf("stored %d times in %v, want %d", n, d, stores)
	}
	if got := strings.Join(r.told, " "); got != told {
		r.Errorf("told %q, want %q", got, told)
	}
	r.told = nil
}

// TestKeeper lives through two hours: what a restart needs is stored each hour,
// and each time that something becomes of the clock.
func TestKeeper(t *testing.T) {
	inTime(t, Options{Mode: clock.Always}, func(r *rig) {
		r.passes(time.Minute, 1, "")
		r.passes(2*time.Hour, 2, "")
		r.Jump(2 * clock.MaxStep)
		r.passes(30*time.Second, 1, Jumped)
		r.Jump(0)
		r.passes(30*time.Second, 1, Believed)
	})
}

// TestOnlyASimulatedClockIsSet: it is looked at as soon as it was set.
func TestOnlyASimulatedClockIsSet(t *testing.T) {
	inTime(t, Options{Mode: clock.Always}, func(r *rig) {
		if err := r.Set(time.Hour, false); problem.As(err) == nil || problem.As(err).Code != problem.Forbidden {
			t.Errorf("a real clock: %v", err)
		}
	})
	inTime(t, Options{Mode: clock.Always, Simulated: true}, func(r *rig) {
		r.passes(time.Second, 1, "")
		before := r.Now()
		if err := r.Set(time.Hour, false); err != nil || r.Now().Sub(before) != time.Hour || r.moved != 1 {
			t.Errorf("set ahead: %v, by %v, told of %d moves", err, r.Now().Sub(before), r.moved)
		}
		if err := r.Set(3*clock.MaxStep, true); err != nil || r.moved != 2 {
			t.Errorf("jumped: %v, told of %d moves", err, r.moved)
		}
		r.passes(time.Second, 1, Jumped)
	})
}

// TestAClockIsConfirmed: by somebody, which is stored at once, unless the configuration forbids it.
func TestAClockIsConfirmed(t *testing.T) {
	inTime(t, Options{Mode: clock.Auto}, func(r *rig) {
		r.passes(time.Second, 0, "")
		v, err := r.ConfirmBy(t.Context(), "test")
		if err != nil || v.Trust != clock.Trusted || r.moved != 1 {
			t.Errorf("%+v, %v, told of %d moves", v, err, r.moved)
		}
		r.passes(time.Second, 0, Believed)
	})
	inTime(t, Options{Mode: clock.Never}, func(r *rig) {
		v, err := r.ConfirmBy(t.Context(), "test")
		if problem.As(err) == nil || problem.As(err).Code != problem.NotNow || v.Trust != clock.Untrusted {
			t.Errorf("%+v, %v", v, err)
		}
	})
}
