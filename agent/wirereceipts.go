package agent

import (
	"context"

	"roomgate/agent/cloudcommand"
	"roomgate/agent/cloudlink"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// receipts answer what is no command, for the nouns that take messages of the cloud.
func receipts(commands *device.Commands) cloudlink.Receipts {
	return cloudlink.Receipts{
		Answer: func(tx *store.Tx, message string) error {
			return commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT}, cloudcommand.Done(message))
		},
		Again: func(ctx context.Context, message cloud.Envelope) error {
			return cloudcommand.Again(ctx, commands, "", message)
		},
		Refuse: func(ctx context.Context, message cloud.Envelope, why *problem.Error) error {
			return cloudcommand.RefuseMessage(ctx, commands, message, why)
		},
	}
}
