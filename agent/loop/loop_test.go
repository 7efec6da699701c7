package loop

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/problem"
)

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		Sleep(t.Context(), time.Minute)
		if slept := time.Since(begun); slept != time.Minute {
			t.Errorf("slept %v, want a minute", slept)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		Sleep(ctx, time.Hour)
		if slept := time.Since(begun); slept != time.Second {
			t.Errorf("slept %v, want the second of its context", slept)
		}
	})
}

func TestSignalIsSeenOnce(t *testing.T) {
	s := NewSignal()
	for range 3 {
		s.Wake()
	}
	<-s
	select {
	case <-s:
		t.Error("woken three times before it looked, it looks twice")
	default:
	}
}

func TestTurnCanBeLeft(t *testing.T) {
	turn := NewTurn()
	if err := turn.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if e := problem.As(turn.Lock(gone)); e == nil || e.Code != problem.Unavailable {
		t.Errorf("refused with %v", e)
	}
	turn.Unlock()
	if err := turn.Lock(t.Context()); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

func TestBroadcastReachesThoseWhoWait(t *testing.T) {
	var b Broadcast
	b.Wake() // nobody waits
	one, other := b.Wait(), b.Wait()
	select {
	case <-one:
		t.Fatal("woken by what was before")
	default:
	}
	b.Wake()
	<-one
	<-other
	select {
	case <-b.Wait():
		t.Error("the next one is woken by what was before")
	default:
	}
}

// TestForEach runs a loop for each part that there is, and ends that of one that
// is gone before a new one begins.
func TestForEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		changed, now, refused := new(Broadcast), []string{"a", "b"}, errors.New("refused")
		var mu sync.Mutex
		var seen []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, what)
		}
		ended := make(chan error, 1)
		go func() {
			ended <- ForEach(ctx, func() ([]string, <-chan struct{}) { return now, changed.Wait() }, func(ctx context.Context, part string) error {
				note("+" + part)
				<-ctx.Done()
				time.Sleep(time.Second)
				note("-" + part)
				if part == "c" {
					return refused
				}
				return nil
			})
		}()
		synctest.Wait()
		slices.Sort(seen)
		now = []string{"b", "c"}
		changed.Wake()
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"+a", "+b", "-a", "+c"}; !slices.Equal(seen, want) {
			t.Errorf("seen %q, want %q", seen, want)
		}
		cancel()
		if err := <-ended; !errors.Is(err, refused) || len(seen) != 6 {
			t.Errorf("ended with %v after %q", err, seen)
		}
	})
}

func TestLastOutlivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, end := context.WithCancel(t.Context())
		end()
		begun := time.Now()
		last, cancel := Last(over)
		defer cancel()
		Sleep(last, time.Hour)
		if went := time.Since(begun); went != 5*time.Second {
			t.Errorf("went on for %v, want 5s", went)
		}
	})
}
