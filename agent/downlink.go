package agent

import (
	"context"
	"maps"
	"slices"
	"time"

	"roomgate/agent/cloudcommand"
	"roomgate/agent/cloudlink"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/cloud"
	"roomgate/store"
)

// handlers are who takes what comes down, by topic level.
func handlers(a *Agent) map[string]cloudlink.Handler {
	return map[string]cloudlink.Handler{
		"command": func(ctx context.Context, e cloud.Envelope) error {
			return cloudcommand.Take(ctx, a.Commands, a.Claim.Signers(), e)
		},
		"schedule": func(ctx context.Context, e cloud.Envelope) error { return takeSchedule(ctx, a.Bookings, a.Commands, e) },
		"config":   func(ctx context.Context, e cloud.Envelope) error { return a.Managed.take(ctx, e) },
		"claim":    func(ctx context.Context, e cloud.Envelope) error { return a.Claim.Take(ctx, e) },
	}
}

// DownLevels are the topic levels that a gateway listens to, sorted.
func DownLevels() []string {
	return slices.Sorted(maps.Keys(cloudlink.WithOwn(handlers(nil))))
}

// refuseDown answers what the link cannot understand.
func refuseDown(ctx context.Context, a *Agent, level string, e cloud.Envelope, err error) error {
	switch level {
	case "config":
		return a.Managed.refuse(ctx, e, cloudcommand.AsError(err))
	case "command":
		return cloudcommand.RefuseUnread(ctx, a.Commands, e, cloudcommand.AsError(err))
	}
	return cloudcommand.RefuseMessage(ctx, a.Commands, e, cloudcommand.AsError(err))
}

// takeSchedule lays what the cloud says over the schedule of a space, and
// answers it.
func takeSchedule(ctx context.Context, bookings *schedule.Book, commands *device.Commands, e cloud.Envelope) error {
	refusal, err := bookings.Take(ctx, e, func(spaceID string) eventlog.Stage {
		return eventlog.Stage{Write: func(tx *store.Tx) error {
			return commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT, Space: spaceID}, done(e.ID))
		}}
	})
	if refusal != nil {
		return cloudcommand.RefuseMessage(ctx, commands, e, refusal)
	}
	return err
}

// done is the receipt of a message that was carried out at once.
func done(id string) device.Receipt {
	now := time.Now().UTC()
	return device.Receipt{CommandID: id, State: device.Done, ReceivedAt: now, FinishedAt: now}
}
