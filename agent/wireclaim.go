package agent

import (
	"roomgate/agent/access"
	"roomgate/agent/claim"
	"roomgate/agent/config"
)

// claimOptions are what the gateway's claim stands on.
func claimOptions(a *Agent) claim.Options {
	return claim.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log, Signers: a.signers,
		Cloud: claimSettings(a.options.Config.Cloud), ID: a.options.Config.Gateway.ID, Name: a.options.Config.Gateway.Name, Simulated: a.options.Simulated,
		Moment: moment(a), Online: a.Cloud.Connected, Page: func() string { return a.Health.Network().Page("/claim") },
		Organization: access.NameOrganization,
		Receipts:     receipts(a.Commands),
		LoginChanged: a.Cloud.Renew,
	}
}

func claimSettings(c config.Cloud) claim.Settings {
	return claim.Settings{URL: string(c.URL), Page: c.ClaimURL, Username: c.Username, Certificate: c.ClientCertificate != "",
		Password: func() (string, error) { return c.Password.Reveal(c.PasswordFile) }}
}
