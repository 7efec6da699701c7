package parts

import (
	"context"
	"fmt"
	"time"

	"roomgate/drivers"
)

// patience bounds how long a part is waited for in a poll: the slowest chip
// needs a quarter of a second. It is never more than three quarters of what the
// poll has, so that the other parts are told in time.
const patience = 2 * time.Second

// seat is a part's place on the hub. Lines and buses take no context: a call
// that hangs keeps its goroutine and its part, and none of the others.
type seat struct {
	part
	turn chan struct{} // holds a token while a call is inside the part
}

func newSeat(p part) *seat { return &seat{p, make(chan struct{}, 1)} }

// observe polls the part. Sub is filled in.
func (s *seat) observe(ctx context.Context) drivers.Status {
	status, err := s.run(ctx, func() (drivers.Status, error) { return s.poll(ctx), nil })
	if err != nil {
		status = drivers.Status{Err: err}
	}
	status.Sub = s.describe().Name
	return status
}

// command hands a command to the part.
func (s *seat) command(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	status, err := s.run(ctx, func() (drivers.Status, error) { return s.do(ctx, c) })
	status.Sub = c.Sub
	return status, err
}

// run makes a call to the part, and waits for it as long as ctx lasts.
func (s *seat) run(ctx context.Context, call func() (drivers.Status, error)) (drivers.Status, error) {
	type outcome struct {
		status drivers.Status
		err    error
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return drivers.Status{}, fmt.Errorf("%s: an earlier call has not come back: %w", s.title(), context.Cause(ctx))
	}
	back := make(chan outcome, 1)
	go func() {
		status, err := call()
		<-s.turn
		back <- outcome{status, err}
	}()
	select {
	case o := <-back:
		return o.status, o.err
	case <-ctx.Done():
		return drivers.Status{}, fmt.Errorf("%s does not answer: %w", s.title(), context.Cause(ctx))
	}
}

// impatient is ctx for the parts of a poll.
func impatient(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := patience
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)*3/4)
	}
	return context.WithTimeout(ctx, wait)
}

// close closes the part. One whose call hangs is closed once that has come
// back; nobody waits for it longer than endsWithin.
func (s *seat) close() error {
	over := make(chan error, 1)
	go func() {
		s.turn <- struct{}{} // and keeps it
		over <- s.part.close()
	}()
	late := time.NewTimer(endsWithin)
	defer late.Stop()
	select {
	case err := <-over:
		return err
	case <-late.C:
		return fmt.Errorf("%s: an earlier call has not come back", s.title())
	}
}
