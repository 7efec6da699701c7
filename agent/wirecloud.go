package agent

import (
	"cmp"
	"context"

	"roomgate/agent/access"
	"roomgate/agent/claim"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/cloudlink"
	"roomgate/agent/cloudpart"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/doorsign"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// openClaim opens the claim of the gateway, with the keys that its owner signs with.
func openClaim(ctx context.Context, a *Agent) (err error) {
	o := doorsign.Options{DB: a.db, Clock: a.clock.Clock, Log: a.options.Log, Unsigned: a.options.Config.Doors.Unsigned}
	if a.options.Simulated {
		o.Unsigned = cmp.Or(o.Unsigned, doorsign.Allow) // there is no door behind it, and everybody is to try it
	}
	signers, err := doorsign.Open(ctx, o)
	if err == nil {
		a.Claim, err = claim.Open(ctx, claimOptions(a, signers))
	}
	return err
}

// claimOptions are what the gateway's claim stands on.
func claimOptions(a *Agent, signers *doorsign.Signers) claim.Options {
	return claim.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log, Signers: signers,
		Cloud: claimSettings(a.options.Config.Cloud), ID: a.options.Config.Gateway.ID, Name: a.options.Config.Gateway.Name, Simulated: a.options.Simulated,
		Moment: moment(a), Online: a.Cloud.Connected, Page: func() string { return a.Health.Network().Page("/claim") },
		Organization: access.NameOrganization,
		Answer: func(tx *store.Tx, message string) error {
			return a.Commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT}, cloudcommand.Done(message))
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

// cloudOptions are what the conversation with the cloud stands on.
func cloudOptions(a *Agent) cloudlink.Options {
	d := down{claim: a.Claim, commands: a.Commands, bookings: a.Bookings, managed: a.Managed,
		parts: cloudpart.New(cloudpart.Options{DB: a.db, Events: a.Events, Keys: a.keys, Commands: a.Commands, Space: a.Bookings.Missing})}
	return cloudlink.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, Cloud: cloudSettings(a.options.Config.Cloud),
		Gateway: a.options.Config.Gateway.ID, Version: a.options.Version, Login: a.Claim.Login, Dial: a.options.Dial,
		Down: d.handlers(), Contested: a.Health.TellContested,
		Refuse: d.refuse,
		Verify: func(level string, s cloud.Signed) (string, error) { return a.Claim.Signers().Verify(level, s) },
		Witness: func(e cloud.Envelope) {
			if a.Claim.Signers().Unsigned() { // else a held back message would vouch for the clock that it needs
				a.clock.Hear(e.Time)
			}
		},
		Up: func() {
			for _, s := range a.Site.Spaces() {
				s.Asked.Wake()
			}
		}}
}

// managedOptions are the nouns that the cloud configures.
func managedOptions(a *Agent) cloudconfig.Options {
	return cloudconfig.Options{DB: a.db, Events: a.Events, Log: a.options.Log, Keys: a.keys, Commands: a.Commands, Site: a.Site, Bookings: a.Bookings,
		Access: a.Access, Unlock: a.Unlock, Rules: a.Rules, Signers: a.Claim.Signers(), Doors: doors, RuleSite: ruledSite, Spread: a.Cloud.SetSpread}
}

func cloudSettings(c config.Cloud) cloudlink.Settings {
	return cloudlink.Settings{URL: string(c.URL), CAFile: c.CAFile, ClientCertificate: c.ClientCertificate, ClientKey: c.ClientKey, TLS12: c.TLSMin == config.TLS12, Acks: c.Acks, Rate: c.Rate, ReconnectSpread: c.ReconnectSpread}
}
