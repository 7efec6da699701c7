package parts

import (
	"context"
	"time"
)

// endsWithin bounds the wait for a show at Close: a bus that hangs keeps it.
const endsWithin = 2 * time.Second

// show is a goroutine that plays until it is told to stop: a beep, a ring that
// turns. There is at most one at a time. The zero value plays nothing.
type show struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// start plays. The one before must have been stopped.
func (s *show) start(play func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.cancel, s.done = cancel, done
	go func() {
		defer close(done)
		defer cancel()
		play(ctx)
	}()
}

// playing says whether the show goes on.
func (s *show) playing() bool {
	if s.done == nil {
		return false
	}
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// stop ends the show and waits until it has ended, or ctx has.
func (s *show) stop(ctx context.Context) error {
	if s.done == nil {
		return nil
	}
	s.cancel()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end is stop with a bound of its own.
func (s *show) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), endsWithin)
	defer cancel()
	return s.stop(ctx)
}

// pause waits, and is false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
