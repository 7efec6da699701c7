package config

import "roomgate/agent/outgoing"

// Webhooks says where notifications may go besides https in the internet.
// Loopback, link-local and metadata addresses are never reached.
type Webhooks struct {
	// AllowPrivate lets them go to 10/8, 172.16/12, 192.168/16, fc00::/7 and
	// the networks that the gateway is in.
	AllowPrivate bool `yaml:"allow_private"`
	// AllowHTTP lets them go without TLS, readable to anybody who is on the way.
	AllowHTTP bool `yaml:"allow_http"`
}

// Policy is where notifications may go, of a demo that says so also to this
// machine.
func (w Webhooks) Policy(loopback bool) outgoing.Policy {
	return outgoing.Policy{AllowPrivate: w.AllowPrivate, AllowHTTP: w.AllowHTTP, AllowLoopback: loopback, Section: "webhooks"}
}

// Calendars says where the external calendars may be that are linked by the
// HTTP interface or the cloud. One of the configuration file may be anywhere.
type Calendars struct {
	// AllowPrivate lets them be where it lets notifications go.
	AllowPrivate bool `yaml:"allow_private"`
}

// Policy is where linked calendars may be, of a demo that says so also on this
// machine.
func (c Calendars) Policy(loopback bool) outgoing.Policy {
	return outgoing.Policy{AllowPrivate: c.AllowPrivate, AllowHTTP: true, AllowLoopback: loopback, Section: "calendars"}
}
