package api

import (
	"net/http"
	"net/netip"
	"time"

	"roomgate/agent"
)

// permission is what an operation needs.
type permission string

// The permissions. A system key and the control socket have them all.
const (
	permitAll    permission = ""              // nobody is asked
	permitRead   permission = "devices:read"  // status, descriptions, pictures
	permitWrite  permission = "devices:write" // orders, and what a display answers
	permitEvents permission = "events:read"
	permitSystem permission = "system" // the gateway itself and its keys

	permitSpaces        permission = "spaces:read"  // records and states of meeting spaces
	permitSpacesWrite   permission = "spaces:write" // their availability, holds, sending
	permitBookings      permission = "bookings:read"
	permitBookingsWrite permission = "bookings:write"
	permitWebhooks      permission = "webhooks:read"
	permitWebhooksWrite permission = "webhooks:write"
)

const (
	headerKey     = "X-Api-Key"
	longestSecret = 256
)

// principal is who asks.
type principal struct {
	id   string // of the key, or "control"
	name string
	via  string // the door, as commands name it
}

// may says whether the principal has a permission. Every credential that
// exists today is a system one, which has all.
func (p principal) may(permission) bool { return p.id != "" }

// admit finds out who asks, and refuses who may not.
func (d *door) admit(c *call, need permission) error {
	if d.control {
		c.who = principal{id: "control", name: "control", via: agent.ViaCLI}
		return nil
	}
	if need == permitAll {
		return nil
	}
	who, err := d.server.authenticate(c)
	if err != nil {
		return err
	}
	if !who.may(need) {
		return &agent.Error{Code: agent.Forbidden, Message: "this key has no permission " + string(need)}
	}
	c.who = who
	return nil
}

func (s *Server) authenticate(c *call) (principal, error) {
	given := c.r.Header[headerKey]
	if len(given) == 0 || given[0] == "" {
		return principal{}, unauthorizedError(c, "is missing: send an API key")
	}
	if len(given) == 1 && len(given[0]) <= longestSecret {
		if key, ok := s.agent.Authenticate(given[0]); ok {
			return principal{key.ID, key.Name, agent.ViaHTTP}, nil
		}
	}
	return principal{}, s.wrongKey(c)
}

// wrongKey refuses a key, sooner or later with the demand to slow down.
func (s *Server) wrongKey(c *call) error {
	address := clientAddress(c.r)
	allowed, first := s.tries.take(address, time.Now())
	if allowed {
		return unauthorizedError(c, "is not valid: it is wrong, revoked or expired")
	}
	if first {
		s.log.Warn("too many wrong keys from one address", "address", address)
	}
	return s.slowDown(c)
}

// slowDown tells an address with too many wrong keys to wait.
func (s *Server) slowDown(c *call) error {
	c.w.Header().Set("Retry-After", retryTries)
	return &agent.Error{Code: tooManyRequests, Message: "too many wrong keys from this address: correct the key, then try again"}
}

func unauthorizedError(c *call, message string) error {
	c.w.Header().Set("WWW-Authenticate", `ApiKey realm="roomgate", header="X-API-Key"`)
	return &agent.Error{Code: unauthorized, Field: "X-API-Key", Message: message}
}

// clientAddress is whom to count wrong tries against: the address, or for
// IPv6 its /64, of which one host has all.
func clientAddress(r *http.Request) netip.Prefix {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	address, bits := peer.Addr().Unmap().WithZone(""), 64
	if address.Is4() {
		bits = 32
	}
	prefix, _ := address.Prefix(bits) // bits fit the family
	return prefix
}
