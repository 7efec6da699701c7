package broker

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/cloud/guest"
)

// atOnce tries n passwords at one time, each of which takes a while, and says how many were computed and let in.
func (g *guesses) atOnce(t *testing.T, n int, who func(i int) userAt, right bool) (computed, in int64) {
	var looked, came atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			err := g.try(t.Context(), who(i), false, func() bool { looked.Add(1); time.Sleep(20 * time.Millisecond); return right })
			if err == nil {
				came.Add(1)
			}
		})
	}
	all.Wait()
	return looked.Load(), came.Load()
}

// TestGuessesAtOneTime: who sends many passwords at one time has no more tries than who sends one after the other, at an
// address, in a network and as a user who was let in there. Right ones cost none.
func TestGuessesAtOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses()
		g.hashing.Most = 3
		house := netip.MustParseAddr("192.0.2.9")
		device := func(i int) userAt { return userAt{fmt.Sprint("device", i), house} }
		if _, in := g.atOnce(t, 100, device, true); in != 100 {
			t.Errorf("of 100 devices at one address %d come in", in)
		}
		for what, c := range map[string]struct {
			who  func(i int) userAt
			most int64
		}{
			"an address": {func(int) userAt { return userAt{"a", netip.MustParseAddr("192.0.2.7")} }, guessBurst},
			"a network": {func(i int) userAt {
				return userAt{"a", netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1))}
			}, guessHosts * guessBurst},
			"a user": {func(int) userAt { return device(7) }, guessBurst},
		} {
			if computed, _ := g.atOnce(t, 200, c.who, false); computed != c.most {
				t.Errorf("%s has %d passwords computed, want %d", what, computed, c.most)
			}
			time.Sleep(guessEvery)
			if computed, _ := g.atOnce(t, 1, c.who, false); computed != 1 {
				t.Errorf("%s has none computed after %v", what, guessEvery)
			}
		}
	})
}

// TestRefusedGuessesCostTheAddressNothing: while a network has no try left, its addresses spend none.
func TestRefusedGuessesCostTheAddressNothing(t *testing.T) {
	g := newGuesses()
	at := func(i int) userAt { return userAt{"a", netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1))} }
	for i := range guessHosts * guessBurst {
		g.take(at(i))
	}
	for range 2 * guessBurst {
		if _, left := g.take(at(1000)); left {
			t.Fatal("the network has more tries")
		}
	}
	if !g.strangers.Left(at(1000).from, time.Now()) {
		t.Error("an address has spent what it was refused")
	}
}

// TestPasswordWaitsAsLongAsItsConnection: a connection whose place another one needs has no password computed any more.
func TestPasswordWaitsAsLongAsItsConnection(t *testing.T) {
	o := house()
	o.MaxPerAddress = 2
	bubble(t, o, func(t *testing.T, b *Broker) {
		free := guest.Network(netip.MustParseAddr("198.51.100.1"))
		for range b.guesses.hashing.Most {
			b.guesses.hashing.Take(t.Context(), free)
		}
		for i := range 50 {
			c := from(t, b, "192.0.2.7")
			if c == nil {
				t.Fatal("a stranger is not let in")
			}
			c.send(login(hello(fmt.Sprint("a/", i)), "a", "guess"))
			synctest.Wait()
		}
		b.mu.Lock()
		n := len(b.conns)
		b.mu.Unlock()
		if n > 2 {
			t.Errorf("%d connections wait for a turn, want the two that have a place", n)
		}
		for range b.guesses.hashing.Most {
			b.guesses.hashing.Done()
		}
	})
}
