package console

import (
	"context"
	"errors"
	"sync"
	"time"

	"roomgate/agent/access"
)

var (
	errStopped = errors.New("it was stopped before its end")
	errEnded   = errors.New("it was stopped: the person who started it has signed out, or the session has expired")
)

// during is ctx until who has begun something loses access: who is signed out commands no
// device any more. end ends it too, with a cause that may be nil.
func (c *Console) during(ctx context.Context, who access.Principal) (_ context.Context, end context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			changed := c.o.Agent.Access.Changed()
			if !c.o.Valid(who) {
				cancel(errEnded)
			}
			select {
			case <-changed:
			case <-time.After(time.Second): // nobody tells what expires
			case <-ctx.Done():
			}
		}
	})
	return ctx, func(cause error) {
		cancel(cause)
		watch.Wait()
	}
}
