package session

import (
	"context"
	"time"

	"roomgate/drivers"
)

// Until waits for wake; it is false if ctx ended first or wait was too long.
func Until(ctx context.Context, wake <-chan struct{}, wait time.Duration) bool {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-wake:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// Watch is drivers.Watcher for a device that is known from its reports: look
// puts everything that matters in one text, and wake is closed when that may
// have changed. Watch asks for a poll each time that it has, until ctx ends or
// stopped is closed.
func Watch(ctx context.Context, stopped <-chan struct{}, look func() (now string, wake <-chan struct{}),
	report func(drivers.Event)) error {
	before := ""
	for {
		now, wake := look()
		if now != before && before != "" {
			report(drivers.Event{Type: drivers.EventChanged, Time: time.Now()})
		}
		before = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stopped:
			return drivers.ErrClosed
		case <-wake:
		}
	}
}
