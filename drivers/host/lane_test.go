package host

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLaneRunsOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane("bus")
		var running, most int
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				err := l.run(func() error {
					running++
					most = max(most, running)
					time.Sleep(time.Millisecond)
					running--
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most != 1 {
			t.Errorf("%d transactions at a time", most)
		}
	})
}

func TestLanePassesErrorsOn(t *testing.T) {
	l, mine := newLane("bus"), errors.New("no acknowledge")
	for range laneTrips + 2 { // an answer, if a bad one: the bus does not rest
		if err := l.run(func() error { return mine }); !errors.Is(err, mine) {
			t.Fatalf("%v, want the transaction's own", err)
		}
	}
}

// A bus that hangs keeps nobody longer than the deadline, rests after a few
// tries, and serves again once it answers.
func TestLaneThatHangsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, free := newLane("bus i2c-1"), make(chan struct{})
		for range laneTrips {
			began := time.Now()
			err := l.run(func() error { <-free; return nil })
			if err == nil || !strings.Contains(err.Error(), "i2c-1") || time.Since(began) != laneWait {
				t.Fatalf("a bus that hangs: %v after %v", err, time.Since(began))
			}
		}
		began := time.Now()
		if err := l.run(func() error { t.Error("ran"); return nil }); err == nil || time.Since(began) != 0 {
			t.Errorf("a bus that rests: %v after %v", err, time.Since(began))
		}
		close(free)
		time.Sleep(laneRest)
		for range 2 {
			if err := l.run(func() error { return nil }); err != nil {
				t.Errorf("after the rest: %v", err)
			}
		}
	})
}
