package guest

import (
	"testing"
	"time"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func TestTries(t *testing.T) {
	l := Tries[string]{Burst: 2, Every: time.Minute}
	for i, c := range []struct {
		after, wait time.Duration
		ok          bool
	}{
		{0, 0, true}, {0, 0, true}, {0, time.Minute, false}, {30 * time.Second, 30 * time.Second, false},
		{time.Minute, 0, true}, {time.Minute, time.Minute, false}, {time.Hour, 0, true}, {time.Hour, 0, true}, {time.Hour, time.Minute, false},
	} {
		at := now.Add(c.after)
		if l.Left("a", at) != c.ok {
			t.Errorf("step %d: left is %v", i, !c.ok)
		}
		if wait, ok := l.Take("a", at); wait != c.wait || ok != c.ok {
			t.Errorf("step %d: %v, %v, want %v, %v", i, wait, ok, c.wait, c.ok)
		}
	}
	l.Return("a", 1, now.Add(time.Hour))
	if _, ok := l.Take("a", now.Add(time.Hour)); !ok {
		t.Error("what was returned is not there")
	}
	if _, ok := l.Wait("several", 5, time.Hour, now); !ok {
		t.Error("five cannot be had after a while")
	}
	l.Return("several", 4, now)
	if _, ok := l.Take("several", now); !ok || l.Left("several", now) {
		t.Error("of five that were taken not four are back")
	}
	l.Return("b", 1, now)
	if _, known := l.spent["b"]; known {
		t.Error("who has spent nothing is remembered")
	}
}

// TestOthersClearNoLockOut: more keys come than there is room for. Who has spent all
// has to wait still, and nobody waits for what others have spent.
func TestOthersClearNoLockOut(t *testing.T) {
	l := Tries[int]{Burst: 3, Every: time.Minute}
	for range 3 {
		l.Take(-1, now)
	}
	for i := range 2 * maxTries {
		if _, ok := l.Take(i, now); !ok {
			t.Fatalf("key %d has to wait", i)
		}
	}
	if l.Left(-1, now) {
		t.Error("the lock-out is forgotten")
	}
	if len(l.spent) != maxTries {
		t.Errorf("%d keys are remembered, want %d", len(l.spent), maxTries)
	}
	if _, ok := l.Take(-2, now.Add(time.Minute)); !ok || len(l.spent) > 2 {
		t.Errorf("after a minute %d keys", len(l.spent))
	}
}

func BenchmarkTries(b *testing.B) {
	l := Tries[int]{Burst: 1, Every: time.Minute}
	for i := 0; b.Loop(); i++ {
		l.Take(i%100, now)
	}
}

// TestTriesAreWaitedFor: beyond the burst one comes every minute, as far as somebody waits.
func TestTriesAreWaitedFor(t *testing.T) {
	l := Tries[string]{Burst: 2, Every: time.Minute}
	for i, c := range []struct {
		after, wait time.Duration
		ok          bool
	}{
		{0, 0, true}, {0, 0, true}, {0, time.Minute, true}, {0, 2 * time.Minute, true}, {0, 3 * time.Minute, false},
		{time.Minute, 2 * time.Minute, true}, {time.Hour, 0, true},
	} {
		now = now.Add(c.after)
		if wait, ok := l.Wait("eve", 1, 2*time.Minute, now); wait != c.wait || ok != c.ok {
			t.Errorf("%d. %v, %v, want %v, %v", i, wait, ok, c.wait, c.ok)
		}
		if wait, ok := l.Wait("ada", 1, 0, now.Add(time.Duration(i)*time.Hour)); wait != 0 || !ok {
			t.Errorf("%d. somebody else waits %v, %v", i, wait, ok)
		}
	}
	for i, c := range []struct {
		n    int
		wait time.Duration
		ok   bool
	}{{2, 0, true}, {3, 3 * time.Minute, false}, {2, 2 * time.Minute, true}, {1, 3 * time.Minute, false}} {
		if wait, ok := l.Wait("mel", c.n, 2*time.Minute, now); wait != c.wait || ok != c.ok {
			t.Errorf("%d. for %d: %v, %v, want %v, %v", i, c.n, wait, ok, c.wait, c.ok)
		}
	}
}
