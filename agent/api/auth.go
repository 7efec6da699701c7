package api

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"roomgate/agent"
	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/console"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
)

// permission is what an operation needs: one of those that keys and users
// have (auth.ParseSet), or one of the first four.
type permission string

// The permissions. A system key and the control socket have them all.
const (
	permitAll    permission = ""              // nobody is asked
	permitAny    permission = "any"           // anybody who may come in
	permitLook   permission = "look"          // the pages of the console: console.Sees
	permitAdmin  permission = "admin"         // who manages the building, or his organization
	permitRead   permission = "devices:read"  // status, descriptions, pictures
	permitWrite  permission = "devices:write" // commands, and what a display answers
	permitEvents permission = "events:read"
	permitSystem permission = "system" // the gateway itself and its keys

	permitSpaces        permission = "spaces:read"  // records and states of meeting spaces
	permitSpacesWrite   permission = "spaces:write" // their availability, holds, sending
	permitBookings      permission = "bookings:read"
	permitBookingsWrite permission = "bookings:write"
	permitWebhooks      permission = "webhooks:read"
	permitWebhooksWrite permission = "webhooks:write"
	permitRules         permission = "rules:read"
	permitRulesWrite    permission = "rules:write"
	permitMessages      permission = "messages:read"
	permitMessagesWrite permission = "messages:write"

	// What an edge device may too, in the meeting space that it has claimed.
	permitRoom       = permitRead + orEdge
	permitRoomWrite  = permitWrite + orEdge
	permitRoomSpaces = permitSpaces + orEdge
	permitDoor       = permitBookings + orEdge
	permitDoorWrite  = permitBookingsWrite + orEdge
)

// orEdge ends a permission that edge devices have.
const orEdge permission = " or edge"

// The headers that a credential comes in, as net/http writes them.
const (
	headerKey    = "X-Api-Key"
	headerOrgKey = "X-Org-Api-Key"
	headerBearer = "Authorization"

	longestSecret = 256
)

// credentials are those headers with the names that people know.
var credentials = [...]struct{ header, name string }{{headerKey, "X-API-Key"}, {headerOrgKey, headerOrgKey}, {headerBearer, headerBearer}}

// challenges name the ways to come in (RFC 9110 section 11.6.1, RFC 6750
// section 3).
var challenges = []string{`Bearer realm="roomgate"`,
	`ApiKey realm="roomgate", header="X-API-Key"`, `ApiKey realm="roomgate", header="X-Org-Api-Key"`}

// principal is who asks.
type principal struct {
	access.Principal
	via string // the door, as commands name it
}

// operator is anybody who reaches the control socket.
var operator = principal{access.Principal{ID: "control", Name: "control", Kind: access.KindSystem, Permissions: auth.All, Admin: true}, device.ViaCLI}

// may says whether the principal has what an operation needs.
func (o *endpoint) may(p *principal) bool {
	if p.Kind == agent.KindEdge && !o.edge {
		return false
	}
	switch o.permission {
	case permitAny:
		return true
	case permitLook:
		return p.May(console.Sees)
	case permitAdmin:
		return p.Admin
	case permitSystem:
		return p.System()
	}
	return o.need != 0 && p.May(o.need)
}

// admit finds out who asks, and refuses who may not, or asks for what he does
// not see.
func (d *door) admit(c *call, o *endpoint) error {
	if d.control {
		c.who = operator
		return nil
	}
	if o.permission == permitAll {
		return nil
	}
	if err := d.server.entrance.authenticate(c); err != nil {
		return err
	}
	welcomed(c.r)
	c.askedAt = time.Now()
	return c.operation.permits(c)
}

// permits refuses who may not, or asks for what he does not see.
func (o *endpoint) permits(c *call) error {
	if !o.may(&c.who) {
		return &problem.Error{Code: problem.Forbidden, Message: lacks(&c.who, o.need, o.permission)}
	}
	return c.server.visibility.within(c, o)
}

// shortWait is how long what reads may have waited without being asked again who asks.
const shortWait = 10 * time.Millisecond

// again finds out once more who asks, and what he may now: a key is revoked and a person signed out at once, also for
// what waits. It comes after each wait for a turn, for the pace or for the client, so that nothing of the server lies
// between the last one and the operation. A request that only reads does without it if it has hardly waited.
func (c *call) again() error {
	if c.askedAt.IsZero() || c.reading && time.Since(c.askedAt) < shortWait {
		return nil // nobody was asked, or just now
	}
	if err := c.server.entrance.authenticate(c); err != nil {
		return err
	}
	c.askedAt = time.Now()
	return c.operation.permits(c)
}

// entrance finds out who asks, and slows down an address that sends wrong
// credentials.
type entrance struct {
	agent *agent.Agent
	log   *slog.Logger
	tries *tries
}

// authenticate takes the one credential of a request.
func (e *entrance) authenticate(c *call) error {
	found, value := -1, ""
	for i := range credentials {
		for _, v := range c.r.Header[credentials[i].header] {
			if v == "" {
				continue
			}
			if found >= 0 {
				return unauthorized(credentials[i].name, "is there beside "+credentials[found].name+": send one credential, once")
			}
			found, value = i, v
		}
	}
	switch {
	case found < 0:
		return unauthorized("X-API-Key", "is missing: send it, or X-Org-Api-Key, or Authorization with a Bearer token")
	case credentials[found].header == headerBearer:
		return e.bearer(c, value)
	case credentials[found].header == headerOrgKey:
		return e.key(c, headerOrgKey, access.KindOrganization, value)
	}
	return e.key(c, "X-API-Key", access.KindSystem, value)
}

// key takes an API key of a kind.
func (e *entrance) key(c *call, field, kind, secret string) error {
	if len(secret) > longestSecret {
		return e.wrong(c, unauthorized(field, "is not valid: it is longer than any key"))
	}
	p, ok := e.agent.AuthenticateKey(secret)
	switch {
	case ok && (p.Kind == kind || p.Kind == agent.KindEdge && kind == access.KindSystem):
		c.who = principal{p, device.ViaHTTP}
		return nil
	case ok && kind == access.KindSystem:
		return unauthorized(field, "is the key of an organization: send it as X-Org-Api-Key")
	case ok:
		return unauthorized(field, "is not the key of an organization: send it as X-API-Key")
	case auth.Mistyped(secret):
		return e.wrong(c, unauthorized(field, "is not valid: something of it is lost or changed, so copy it again"))
	}
	return e.wrong(c, unauthorized(field, "is not valid: it is wrong, revoked or expired"))
}

// bearer takes a token (RFC 6750 section 2.1).
func (e *entrance) bearer(c *call, value string) error {
	scheme, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return unauthorized(headerBearer, "is of another scheme: want Bearer and a token")
	}
	p, err := e.agent.Access.AuthenticateToken(strings.TrimLeft(token, " "))
	if err == nil {
		c.who = principal{p, device.ViaHTTP}
		return nil
	}
	if ended := (*access.EndedToken)(nil); errors.As(err, &ended) {
		return err // it was good: no try that counts
	}
	return e.wrong(c, err)
}

// wrong refuses a credential, sooner or later with the demand to slow down.
func (e *entrance) wrong(c *call, refusal error) error {
	if !c.askedAt.IsZero() {
		return refusal // it was good when the request came: no try that counts
	}
	address := clientAddress(c.r)
	allowed, first := e.tries.take(address, time.Now())
	if allowed {
		return refusal
	}
	if first {
		e.log.Warn("too many wrong credentials from one address", "address", address)
	}
	return e.slowDown(c)
}

// slowDown tells an address with too many wrong credentials to wait.
func (e *entrance) slowDown(c *call) error {
	c.w.Header().Set("Retry-After", retryTries)
	return &problem.Error{Code: problem.TooMany, Message: "too many wrong credentials from this address: correct yours, then try again"}
}

func unauthorized(field, message string) error {
	return &problem.Error{Code: problem.Unauthorized, Field: field, Message: message}
}

// clientAddress is what wrong tries are counted against: the address, or for
// IPv6 its /64, of which one host has all.
func clientAddress(r *http.Request) netip.Prefix { return guest.ParseNetwork(r.RemoteAddr) }

// clientHost is the address alone of who asks, also for IPv6.
func clientHost(r *http.Request) netip.Prefix {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // none by the control socket
	address := at.Addr().Unmap().WithZone("")
	return netip.PrefixFrom(address, address.BitLen())
}

// remoteAddress is from where a request came, without the port; empty: from this machine
// by the control socket.
func remoteAddress(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return at.Addr().Unmap().WithZone("").String()
}
