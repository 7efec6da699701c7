package agent

import (
	"context"

	"roomgate/agent/cloudlink"
	"roomgate/agent/enrol"
	"roomgate/agent/health"
	"roomgate/cloud"
)

// identity is the certificate that the gateway gets from its cloud.
func identity(ctx context.Context, a *Agent) (cloudlink.Identity, error) {
	return enrol.Open(ctx, enrolOptions(a))
}

// enrolOptions are what the gateway's certificate stands on.
func enrolOptions(a *Agent) enrol.Options {
	c := a.options.Config
	return enrol.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log,
		Gateway: c.Gateway.ID, URL: string(c.Cloud.URL), First: string(c.Cloud.EnrolURL),
		Secret: a.Claim.Enrolment, Claimed: a.Claim.Changed,
		Send: func(ctx context.Context, data any) bool { return a.Cloud.Send(ctx, cloud.LevelEnrol, "", false, data) },
		Try:  a.Cloud.Try, Renew: a.Cloud.Renew,
		Receipts: receipts(a.Commands),
	}
}

// certificateOf is what a heartbeat says of the certificate; nil: there is to be none.
func certificateOf(link *cloudlink.Link) *health.Certificate {
	c := link.Certificate()
	if c == nil {
		return nil
	}
	return &health.Certificate{State: c.State, From: c.From, Until: c.Until, Seen: c.Seen, Fix: c.Fix}
}
