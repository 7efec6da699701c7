package agent

import (
	"context"

	"roomgate/agent/claim"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudlink"
	"roomgate/agent/cloudpart"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/cloud"
)

// down takes what comes down from the cloud to the noun that it is for.
type down struct {
	claim    *claim.Claim
	signers  *cloudkey.Signers
	commands *device.Commands
	bookings *schedule.Book
	config   *cloudconfig.Configuration
	parts    *cloudpart.Parts
	budget   *cloudcommand.Budget // of what nobody has signed
}

// handlers are the receivers by topic level.
func (d down) handlers() map[string]cloudlink.Handler {
	return map[string]cloudlink.Handler{
		cloud.LevelCommand: func(ctx context.Context, e cloud.Envelope) error {
			return cloudcommand.Take(ctx, d.commands, d.signers, d.budget, e)
		},
		cloud.LevelSchedule: d.parts.Join(cloud.LevelSchedule, d.takeSchedule),
		cloud.LevelConfig:   d.takeConfig,
		cloud.LevelClaim:    func(ctx context.Context, e cloud.Envelope) error { return d.claim.Take(ctx, e) },
	}
}

// refuse answers what the link cannot understand.
func (d down) refuse(ctx context.Context, level string, e cloud.Envelope, err error) error {
	switch level {
	case cloud.LevelConfig:
		return d.config.Refuse(ctx, e, cloudcommand.AsError(err))
	case cloud.LevelCommand:
		return cloudcommand.RefuseUnread(ctx, d.commands, e, cloudcommand.AsError(err))
	}
	return cloudcommand.RefuseMessage(ctx, d.commands, e, cloudcommand.AsError(err))
}

// takeConfig takes a configuration, whole or in parts. A part that cannot count is not stored:
// who may not say anything writes nothing.
func (d down) takeConfig(ctx context.Context, e cloud.Envelope) error {
	switch refusal, err := d.config.Barred(e); {
	case err != nil:
		return err
	case refusal != nil:
		return d.config.Refuse(ctx, e, refusal)
	}
	return d.parts.JoinKept(cloud.LevelConfig, d.config.Take)(ctx, e)
}

// sendUnstored sends the receipts that the log cannot take.
func sendUnstored(ctx context.Context, link *cloudlink.Link, commands *device.Commands) error {
	return commands.SendUnstored(ctx, func(ctx context.Context, r device.Receipt) bool {
		return link.Send(ctx, eventlog.LevelReceipt, "", false, r)
	})
}
