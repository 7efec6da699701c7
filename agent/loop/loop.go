// Package loop is what the loops of the building wait with.
package loop

import (
	"context"
	"sync"
	"time"

	"roomgate/agent/problem"
)

// Sleep returns after d, or when ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Earlier is the first of two times to wait for.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Later is the second of them.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// lastTimeout bounds what is done after the end: the building waits for it.
const lastTimeout = 5 * time.Second

// Last is ctx for what is still stored or said once ctx has ended. It goes on
// for 5 s at most.
func Last(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lastTimeout)
}

// Signal tells one loop that there is something to do. However often it is
// woken before it looks, it looks once.
type Signal chan struct{}

// NewSignal makes a Signal that is not woken.
func NewSignal() Signal { return make(Signal, 1) }

// Wake never waits.
func (s Signal) Wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Turn is a mutex that anybody who waits for it can leave.
type Turn chan struct{}

// NewTurn makes a Turn that nobody has.
func NewTurn() Turn { return make(Turn, 1) }

// Lock waits for the turn. If ctx ends first it is refused, and the caller does
// not have the turn.
func (t Turn) Lock(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return problem.New(problem.Unavailable, "", "the request ended before its turn came, nothing was changed: try again")
	}
}

// Unlock gives the turn to the next one.
func (t Turn) Unlock() { <-t }

// Broadcast wakes everybody who waits at that moment. The zero value is ready.
type Broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// Wait returns a channel that the next Wake closes. Take it before looking at
// what may have changed, or a change is missed.
func (b *Broadcast) Wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

// Wake closes the channel of everybody who waits.
func (b *Broadcast) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
