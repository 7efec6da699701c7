package api

import (
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"roomgate/agent/problem"
)

// Anybody who makes a name of his own lead to the gateway's address (DNS rebinding)
// lets his web page ask as if it came from the gateway. Where that would tell
// something without a credential, the request has to name the gateway by a name
// that is its own.

// named says of which operations the Host is checked.
type named int

const (
	anyName      named = iota
	ownNamePages       // of what a browser's page sends, which names its origin: apps may use any name
	ownName
)

// nameOf says it of an operation, by the names of V1.0 and V2.0.
var nameOf = map[string]named{
	"POST /display/{meeting_space_id}/pair": ownName, "POST /display/{meeting_space_id}/do/{action}": ownNamePages,
	"POST /console/session": ownName,
	"GET /claim":            ownName, "POST /edge/register": ownName, "POST /v2.0/edge-devices/register": ownName,
	"POST /api/v1/auth/otp/request": ownNamePages, "POST /v2.0/auth/otp/request": ownNamePages,
	"POST /api/v1/auth/otp/verify": ownNamePages, "POST /v2.0/auth/otp/verify": ownNamePages,
	"POST /meetingspace/{meeting_space_id}/claim-code":        ownNamePages,
	"POST /v2.0/meeting-spaces/{meeting_space_id}/claim-code": ownNamePages,
}

// checkName refuses a request that names the gateway by somebody else's name.
func (d *door) checkName(r *http.Request, o *endpoint) error {
	if d.control || o.named == anyName {
		return nil
	}
	origin := r.Header.Get("Origin")
	switch {
	case o.named == ownNamePages && (origin == "" || slices.Contains(d.server.origins, origin)):
		return nil
	case isOwnName(d.server, r.Host):
		return nil
	}
	return &problem.Error{Code: problem.Forbidden, Field: "Host",
		Message: "is not a name that this gateway knows as its own: use its address, or add the name to http.names in its configuration"}
}

// isOwnName says whether a Host is the gateway's: an address, which nobody can
// make lead elsewhere, the name of the machine, the one that it has on its own
// network (mDNS), the gateway's id, or one of the configuration.
func isOwnName(s *Server, host string) bool {
	if host == "" {
		return true // a board of HTTP/1.0: a browser, which could be led here by a name, always says one
	}
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	if slices.ContainsFunc(s.names, func(own string) bool { return hostName(own) == name }) {
		return true
	}
	machine, _ := os.Hostname() // empty, then it is none
	short, _, _ := strings.Cut(machine, ".")
	for _, own := range []string{machine, short, s.agent.Health.Identity().ID} {
		if own = strings.ToLower(own); own != "" && (name == own || name == own+".local") {
			return true
		}
	}
	return false
}

// hostName is a Host without its port, brackets and last dot, in small letters.
func hostName(host string) string {
	if rest, ok := strings.CutPrefix(host, "["); ok {
		name, _, _ := strings.Cut(rest, "]")
		return name
	}
	name, _, _ := strings.Cut(host, ":")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
