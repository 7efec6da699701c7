package agent

import (
	"context"

	"roomgate/agent/cloudcommand"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// takeSchedule lays what the cloud says over the schedule of a space, and
// answers it.
func (d down) takeSchedule(ctx context.Context, e cloud.Envelope) (*problem.Error, error) {
	return d.bookings.Take(ctx, e, scheduleAnswer{d, e})
}

// scheduleAnswer answers one schedule.
type scheduleAnswer struct {
	down
	e cloud.Envelope
}

func (a scheduleAnswer) Allowed() *problem.Error { return a.budget.Take(a.e) }

func (a scheduleAnswer) Wrote(bookings int) { a.budget.Spend(a.e, bookings) }

func (a scheduleAnswer) Done(spaceID string) eventlog.Stage {
	return eventlog.Stage{Write: func(tx *store.Tx) error { return cloudcommand.PushDone(tx, a.commands, spaceID, a.e) }}
}

func (a scheduleAnswer) Again(ctx context.Context, spaceID string) error {
	return cloudcommand.Again(ctx, a.commands, spaceID, a.e)
}

func (a scheduleAnswer) Refuse(ctx context.Context, why *problem.Error, also ...func(*store.Tx) error) error {
	return cloudcommand.RefuseMessage(ctx, a.commands, a.e, why, also...)
}
