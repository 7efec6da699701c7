package clock

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeeper lives through two hours: what a restart needs is stored each hour,
// each time that something becomes of the clock, and at the end.
func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		c, stored, refused := New(Options{Mode: Always}), []string{}, errors.New("the disk is full")
		k := &Keeper{Clock: c, Log: slog.New(slog.DiscardHandler), Store: func(_ context.Context, e Event) error {
			mu.Lock()
			defer mu.Unlock()
			stored = append(stored, e.Kind)
			c.Memory()     // it was read to be stored
			return refused // it goes on
		}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- k.Run(ctx) }()
		passes := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(stored, want) {
				t.Errorf("stored %q, want %q", stored, want)
			}
			stored = nil
		}
		passes(time.Minute, "")
		passes(2*time.Hour, "", "")
		c.Jump(2 * MaxStep)
		passes(30*time.Second, Jumped)
		c.Jump(0)
		passes(30*time.Second, Believed)
		cancel()
		passes(time.Second, "")
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}
