// Package guest shares out what a stranger can reach: as whom a guest of the
// network counts, and how places, tries and turns are divided so that no guest
// takes all of them. It knows no protocol and no noun of the building.
package guest

import (
	"net"
	"net/netip"
)

// Network is as whom an address counts: itself for IPv4, for IPv6 its /64, of
// which one host has every address. An IPv4 address in IPv6 is the IPv4 address.
// The zero Addr is the zero Prefix.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits) // bits fit the family; of the zero Addr it is zero
	return p
}

// Address is that of a peer; zero for one without an IP address, as behind a socket in the
// file system.
func Address(peer net.Addr) netip.Addr {
	if t, ok := peer.(*net.TCPAddr); ok {
		return t.AddrPort().Addr()
	}
	if peer == nil {
		return netip.Addr{}
	}
	return parse(peer.String())
}

// ParseNetwork is Network of "address:port"; zero for anything else.
func ParseNetwork(hostport string) netip.Prefix { return Network(parse(hostport)) }

func parse(hostport string) netip.Addr {
	p, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr()
}
