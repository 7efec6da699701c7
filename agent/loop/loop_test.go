package loop

import (
	"context"
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
