package guest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// TestOneGuestCannotTakeAllTurns: many of one wait, then one of another comes. He is
// the second to have a turn.
func TestOneGuestCannotTakeAllTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := Turns[string]{Most: 1}
		if !turns.Take(t.Context(), "eve") {
			t.Fatal("the first has no turn")
		}
		had := make(chan string, 20)
		for _, who := range append(slices.Repeat([]string{"eve"}, 10), "ada", "ada") {
			go func() {
				if turns.Take(t.Context(), who) {
					had <- who
				}
			}()
			synctest.Wait()
		}
		for i, want := range []string{"eve", "ada", "eve", "ada", "eve", "eve"} {
			turns.Done()
			if got := <-had; got != want {
				t.Errorf("turn %d is %s's, want %s's", i, got, want)
			}
		}
		for range 6 {
			turns.Done()
			<-had
		}
		turns.Done()
		if turns.taken != 0 || len(turns.waiting)+len(turns.order) != 0 {
			t.Errorf("something is left: %d taken, %v", turns.taken, turns.waiting)
		}
	})
}

// TestTurnsThatNobodyWants: who gives up costs nobody a turn.
func TestTurnsThatNobodyWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := Turns[int]{Most: 1}
		turns.Take(t.Context(), 0)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 4 {
			go func() {
				if turns.Take(ctx, i/2) {
					t.Error("who gave up has a turn")
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if turns.Done(); turns.taken != 0 || len(turns.waiting)+len(turns.order) != 0 {
			t.Errorf("something is left: %d taken, %v", turns.taken, turns.waiting)
		}
		if !turns.Take(t.Context(), 7) {
			t.Error("the turn is lost")
		}
	})
}

// TestAFreeTurnPassesNobody: who takes a free turn does not go before those who wait.
func TestAFreeTurnPassesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := Turns[string]{Most: 1}
		if !turns.TakeFree() || turns.TakeFree() {
			t.Fatal("the only turn is not taken once")
		}
		got := false
		go func() { got = turns.Take(t.Context(), "waits") }()
		synctest.Wait()
		turns.Done() // it is of who waits
		if turns.TakeFree() {
			t.Error("the turn was taken twice")
		}
		synctest.Wait()
		turns.Done()
		if !got || !turns.TakeFree() {
			t.Errorf("who waited has had a turn: %v", got)
		}
	})
}
