package agent

import (
	"context"

	"roomgate/agent/access"
	"roomgate/agent/claim"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// claimOptions are what the gateway's claim stands on.
func claimOptions(a *Agent) claim.Options {
	return claim.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log, Signers: a.signers,
		Cloud: claimSettings(a.options.Config.Cloud), ID: a.options.Config.Gateway.ID, Name: a.options.Config.Gateway.Name, Simulated: a.options.Simulated,
		Moment: moment(a), Online: a.Cloud.Connected, Page: func() string { return a.Health.Network().Page("/claim") },
		Organization: access.NameOrganization,
		Answer: func(tx *store.Tx, message string) error {
			return a.Commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT}, cloudcommand.Done(message))
		},
		Again: func(ctx context.Context, message cloud.Envelope) error {
			return cloudcommand.Again(ctx, a.Commands, "", message)
		},
		Refuse: func(ctx context.Context, message cloud.Envelope, why *problem.Error) error {
			return cloudcommand.RefuseMessage(ctx, a.Commands, message, why)
		},
		LoginChanged: a.Cloud.Renew,
	}
}

func claimSettings(c config.Cloud) claim.Settings {
	return claim.Settings{URL: string(c.URL), Page: c.ClaimURL, Username: c.Username, Certificate: c.ClientCertificate != "",
		Password: func() (string, error) { return c.Password.Reveal(c.PasswordFile) }}
}
