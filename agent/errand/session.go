package errand

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

// sessionLook is how often it is looked whether a session has expired, which nobody tells.
const sessionLook = time.Second

// during is ctx until who has begun something loses access: who is signed out commands no
// device any more. end ends it too, with a cause that may be nil.
func (e *Errands) during(ctx context.Context, who access.Principal) (_ context.Context, end context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			changed := e.o.Changed()
			if !e.o.Valid(who) {
				cancel(errEnded)
			}
			select {
			case <-changed:
			case <-time.After(sessionLook):
			case <-ctx.Done():
			}
		}
	})
	return ctx, func(cause error) {
		cancel(cause)
		watch.Wait()
	}
}
