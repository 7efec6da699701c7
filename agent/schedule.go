package agent

import (
	"context"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

// takeSchedule lays what the cloud says over the schedule of a space, and
// answers it.
func (a *Agent) takeSchedule(ctx context.Context, e cloud.Envelope) error {
	refusal, err := a.Bookings.Take(ctx, e, func(spaceID string) eventlog.Stage {
		return eventlog.Stage{Write: func(tx *store.Tx) error {
			return a.Commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT, Space: spaceID}, done(e.ID))
		}}
	})
	if refusal != nil {
		return a.refuseMessage(ctx, e, refusal)
	}
	return err
}

func done(id string) device.Receipt {
	now := time.Now().UTC()
	return device.Receipt{CommandID: id, State: device.Done, ReceivedAt: now, FinishedAt: now}
}
