package outgoing

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Policy says where requests may go. The zero value reaches the internet by
// https and nothing else.
type Policy struct {
	// Anywhere is for targets that the owner's configuration names: any
	// address, and failures are told as they are.
	Anywhere bool
	// AllowPrivate lets requests go to 10/8, 172.16/12, 192.168/16, fc00::/7
	// and the networks that this machine is in.
	AllowPrivate bool
	// AllowLoopback lets them go to this machine, also without TLS. It is for
	// a demo.
	AllowLoopback bool
	// Demo says that it is one, which has a flag for that.
	Demo      bool
	AllowHTTP bool // without TLS too
	// Section is the part of the configuration with allow_private and
	// allow_http; empty: there is none.
	Section string
}

// CheckURL refuses an address that a request can never go to, in words that
// follow the name of its field. The address behind a name is judged when it is
// dialled.
func (p Policy) CheckURL(u *url.URL) error {
	host := hostOf(u)
	ip, err := netip.ParseAddr(host)
	isAddress, machine := err == nil, host == "localhost" || strings.HasSuffix(host, ".localhost")
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("has the scheme %.60q: want https", u.Scheme)
	case u.Opaque != "" || host == "":
		return errors.New("is not an address: want https://HOST[:PORT]/PATH")
	case numeric(host):
		return errNumeric
	case p.Demo && !p.AllowLoopback && !p.Anywhere && (machine || isAddress && ip.IsLoopback()):
		return errors.New("leads to this machine, which a demo reaches once it is started with --allow-loopback")
	case u.Scheme == "http" && !p.AllowHTTP && !(p.AllowLoopback && (machine || isAddress && newGuard(p).machine(ip))):
		return errors.New("is http: want https" + p.or("allow_http"))
	case !goodPort(u.Port()):
		return fmt.Errorf("has the port %.60q: want 1 to 65535", u.Port())
	case machine && !p.AllowLoopback && !p.Anywhere:
		return errors.New("leads to this gateway itself: want another host")
	case isAddress:
		return newGuard(p).check(ip)
	}
	return nil
}

// or names the setting that would allow what was refused, if there is one.
func (p Policy) or(key string) string {
	if p.Section == "" {
		return ""
	}
	return ", or set " + p.Section + "." + key + " in the configuration"
}

// private is an address that the configuration could allow.
func (p Policy) private(ip netip.Addr) error {
	hint := "want one in the internet"
	if p.Section != "" {
		hint = "set " + p.Section + ".allow_private in the configuration if that is meant"
	}
	return &AddressError{ip, true, hint}
}

// errNumeric follows the name of a field, or of what was asked for.
var errNumeric = errors.New("has a host that is written as a number: want its name, or an address like 192.0.2.1")

// numeric says that a host is neither a name nor an address as it should be:
// some resolvers read 2130706433, 0x7f.1 and 127.1 as an address (inet_aton(3)),
// and no name ends in a number (RFC 3696 section 2).
func numeric(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// hostOf is the host of an address in the one spelling that it is judged by.
func hostOf(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }

func goodPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// AddressError is an address that requests must not go to.
type AddressError struct {
	Address netip.Addr
	Private bool // the configuration could allow it
	hint    string
}

// Error names the address and what can be done.
func (e *AddressError) Error() string {
	if e.Private {
		return fmt.Sprintf("leads to the private address %v: %s", e.Address, e.hint)
	}
	return fmt.Sprintf("leads to %v, where requests never go: loopback, link-local, metadata and special ranges are refused", e.Address)
}
