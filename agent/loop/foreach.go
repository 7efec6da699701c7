package loop

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// ForEach runs a loop for each of the parts until ctx ends or a loop fails.
// parts returns them, and a channel that is closed when they are others: then
// the loops of those that are gone end before those of new ones begin.
func ForEach[T comparable](ctx context.Context, parts func() ([]T, <-chan struct{}), run func(context.Context, T) error) error {
	loops, ctx := errgroup.WithContext(ctx)
	at := map[T]*running{}
	for ctx.Err() == nil {
		now, changed := parts()
		dismiss(at, now)
		for _, part := range now {
			if at[part] != nil {
				continue
			}
			its, stop := context.WithCancel(ctx)
			p := &running{stop, make(chan struct{})}
			at[part] = p
			loops.Go(func() error {
				defer close(p.left)
				return run(its, part)
			})
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	dismiss(at, nil)
	return loops.Wait()
}

// running is the loop of one part.
type running struct {
	stop context.CancelFunc
	left chan struct{} // closed when the loop has ended
}

// dismiss ends the loops of parts that are gone, and waits until they have.
func dismiss[T comparable](at map[T]*running, now []T) {
	gone := map[T]*running{}
	for part, p := range at {
		if !slices.Contains(now, part) {
			gone[part] = p
			p.stop()
		}
	}
	for part, p := range gone {
		<-p.left
		delete(at, part)
	}
}
