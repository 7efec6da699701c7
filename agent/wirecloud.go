package agent

import (
	"cmp"

	"roomgate/agent/cloudconfig"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudlink"
	"roomgate/agent/cloudpart"
	"roomgate/agent/config"
	"roomgate/cloud"
)

// signerOptions are what the keys stand on that what opens doors is signed with.
func signerOptions(a *Agent) cloudkey.Options {
	o := cloudkey.Options{DB: a.db, Clock: a.clock.Clock, Log: a.options.Log, Unsigned: a.options.Config.Doors.Unsigned}
	if a.options.Simulated {
		o.Unsigned = cmp.Or(o.Unsigned, cloudkey.Allow) // there is no door behind it, and everybody is to try it
	}
	return o
}

// cloudOptions are what the conversation with the cloud stands on.
func cloudOptions(a *Agent) cloudlink.Options {
	budget := a.CloudConfig.Budget()
	d := down{claim: a.Claim, signers: a.signers, commands: a.Commands, bookings: a.Bookings, config: a.CloudConfig,
		budget: budget,
		parts:  cloudpart.New(cloudpart.Options{DB: a.db, Events: a.Events, Keys: a.keys, Commands: a.Commands, Space: a.Bookings.Missing, Budget: budget.TakePart})}
	return cloudlink.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, Cloud: cloudSettings(a.options.Config.Cloud),
		Gateway: a.options.Config.Gateway.ID, Version: a.options.Version, Login: a.Claim.Login, Dial: a.options.Dial,
		Down: d.handlers(), Contested: a.Health.TellContested,
		Refuse: d.refuse,
		Verify: a.signers.Verify,
		Witness: func(e cloud.Envelope) {
			if a.signers.UnsignedAllowed() { // else a held back message would vouch for the clock that it needs
				a.clock.Hear(e.Time)
			}
		},
		Up: func() {
			for _, s := range a.Site.Spaces() {
				s.Asked.Wake()
			}
		}}
}

// cloudConfigOptions are the nouns that the cloud configures.
func cloudConfigOptions(a *Agent) cloudconfig.Options {
	return cloudconfig.Options{DB: a.db, Events: a.Events, Log: a.options.Log, Keys: a.keys, Commands: a.Commands, Site: a.Site, Bookings: a.Bookings,
		Access: a.Access, Unlock: a.Unlock, Rules: a.Rules, Signers: a.signers, Doors: doors, RuleSite: ruledSite, Spread: a.Cloud.SetSpread}
}

func cloudSettings(c config.Cloud) cloudlink.Settings {
	return cloudlink.Settings{URL: string(c.URL), CAFile: c.CAFile, ClientCertificate: c.ClientCertificate, ClientKey: c.ClientKey, TLS12: c.TLSMin == config.TLS12, Acks: c.Acks, Rate: c.Rate, ReconnectSpread: c.ReconnectSpread}
}
