package outgoing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// Where clouds tell a machine about itself, in ranges that are otherwise fine.
var (
	metadataV4 = netip.MustParsePrefix("168.63.129.16/32")                                               // Azure
	metadataV6 = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254")} // AWS, Google
)

var (
	privateV4 = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16")}
	privateV6 = netip.MustParsePrefix("fc00::/7")
)

// guard judges addresses after DNS, so that a name which changes its address
// between two looks gains nothing.
type guard struct {
	policy Policy
	inner  *ssrf.Guardian // by the ranges that a policy allows
	strict *ssrf.Guardian // by those of the internet
	// networks are those that this machine is in, each with its own address
	// there: an address of the internet in one of them is a neighbour all the
	// same, as IPv6 gives one to every printer.
	networks func() []netip.Prefix
}

func newGuard(p Policy) *guard {
	var v4, v6 []netip.Prefix
	if p.AllowPrivate {
		v4, v6 = append(v4, privateV4...), append(v6, privateV6)
	}
	// A receiver may listen on any port: TLS tells it from what does not expect us.
	return &guard{policy: p, networks: ownNetworks,
		inner: ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(metadataV4),
			ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)),
		strict: ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(metadataV4))}
}

// ownNetworks are the addresses of this machine with the networks that they are
// in. Where they cannot be read there are none.
func ownNetworks() (all []netip.Prefix) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// check refuses an address that the policy does not allow.
func (g *guard) check(ip netip.Addr) error {
	if g.policy.Anywhere || g.policy.AllowLoopback && g.machine(ip) {
		return nil
	}
	for _, m := range metadataV6 {
		if ip.WithZone("") == m {
			return &AddressError{Address: ip}
		}
	}
	private := !g.policy.AllowPrivate && ip.Zone() == "" && !ip.Is4In6()
	switch {
	case private && (ip.IsPrivate() || g.neighbour(ip) && g.strict.SafeAddr(ip) == nil):
		return g.policy.private(ip)
	case ip.Zone() != "" || g.inner.SafeAddr(ip) != nil:
		return &AddressError{Address: ip}
	}
	return nil
}

// public says whether an address is in the internet, so that a failure there
// tells nothing of the building. The machine itself is, where the policy
// allows it: a demo has nothing to hide.
func (g *guard) public(ip netip.Addr) bool {
	return g.strict.SafeAddr(ip) == nil && !g.neighbour(ip) || g.policy.AllowLoopback && g.machine(ip)
}

// neighbour says whether an address is in a network that this machine is in.
func (g *guard) neighbour(ip netip.Addr) bool {
	return slices.ContainsFunc(g.networks(), func(n netip.Prefix) bool { return n.Contains(ip) })
}

// machine says whether an address is one of this machine.
func (g *guard) machine(ip netip.Addr) bool {
	return ip.IsLoopback() && !ip.Is4In6() || slices.ContainsFunc(g.networks(), func(n netip.Prefix) bool { return n.Addr() == ip })
}

// control is a net.Dialer's ControlContext: it sees the address that is about
// to be connected, whatever its name was.
func (g *guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" { // dialled by nobody here
		return errors.New("requests go by TCP only")
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address that was found cannot be read: %w", err)
	}
	return g.check(to.Addr())
}
