package tlsauthority

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Hosts are the names and addresses by which a gateway is reached.
type Hosts struct {
	Names     []string
	Addresses []netip.Addr
}

// Found are the name and the private addresses that this machine has now: its
// hostname, with .local if it has no domain, as multicast DNS calls it (RFC 6762).
func Found() (h Hosts) {
	if name, err := os.Hostname(); err == nil && name != "" {
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		if !strings.Contains(name, ".") {
			name += ".local"
		}
		if checkName(name) == nil {
			h.Names = append(h.Names, name)
		}
	}
	known, _ := net.InterfaceAddrs() // without them it has a name at least
	for _, a := range known {
		prefix, err := netip.ParsePrefix(a.String())
		if ip := prefix.Addr().Unmap(); err == nil && ip.IsPrivate() && !slices.Contains(h.Addresses, ip) {
			h.Addresses = append(h.Addresses, ip)
		}
	}
	return h
}

// Limits are what an authority may certify. A name has those below it in it.
type Limits struct {
	Names     []string
	Addresses []netip.Prefix
}

// LimitsOf are exactly these hosts.
func LimitsOf(h Hosts) (l Limits) {
	l.Names = slices.Clone(h.Names)
	for _, ip := range h.Addresses {
		l.Addresses = append(l.Addresses, netip.PrefixFrom(ip, ip.BitLen()))
	}
	return l
}

// maxLimits bounds the names and the networks of an authority.
const maxLimits = 32

var nameShape = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$`)

func longLabel(label string) bool { return len(label) > 63 }

// checkName refuses what is no name of one machine. A name without a dot may be a
// whole top-level domain, and limits always have what is below a name in them.
func checkName(name string) error {
	if name == "localhost" {
		return nil
	}
	if len(name) > 253 || slices.ContainsFunc(strings.Split(name, "."), longLabel) || !nameShape.MatchString(name) {
		return fmt.Errorf("name %q is no name of a gateway: want one with a dot, in lower case, as roomgate.local or gate.example.com", name)
	}
	return nil
}

func (l Limits) check() error {
	if len(l.Names) == 0 && len(l.Addresses) == 0 {
		return errors.New("this machine has no name and no private address that could be certified: give one with --name or --address")
	}
	if len(l.Names) > maxLimits || len(l.Addresses) > maxLimits {
		return fmt.Errorf("there are %d names and %d addresses: want at most %d of each", len(l.Names), len(l.Addresses), maxLimits)
	}
	for _, name := range l.Names {
		if err := checkName(name); err != nil {
			return err
		}
	}
	for _, p := range l.Addresses {
		if err := checkNetwork(p); err != nil {
			return err
		}
	}
	return nil
}

// local are the networks that are nobody's on the internet (RFC 1918, RFC 4193,
// RFC 3927, RFC 4291, RFC 1122).
var local = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func checkNetwork(p netip.Prefix) error {
	inside := func(n netip.Prefix) bool { return n.Contains(p.Addr()) && n.Bits() <= p.Bits() }
	if !p.IsValid() || !slices.ContainsFunc(local, inside) {
		return fmt.Errorf("address %s is not private: want one of the building's network, as 192.168.1.20, or a network of it, as 192.168.1.0/24", p)
	}
	return nil
}

// hosts are those of the limits that are one name or one address.
func (l Limits) hosts() (h Hosts) {
	h.Names = slices.Clone(l.Names)
	for _, p := range l.Addresses {
		if p.IsSingleIP() {
			h.Addresses = append(h.Addresses, p.Addr())
		}
	}
	return h
}

// split says which hosts are inside the limits, with all that the limits name one
// by one, and which are outside.
func (l Limits) split(h Hosts) (in, out Hosts) {
	in = l.hosts()
	for _, name := range h.Names {
		below := func(limit string) bool { return name == limit || strings.HasSuffix(name, "."+limit) }
		switch {
		case slices.Contains(in.Names, name):
		case slices.ContainsFunc(l.Names, below):
			in.Names = append(in.Names, name)
		default:
			out.Names = append(out.Names, name)
		}
	}
	for _, ip := range h.Addresses {
		switch {
		case slices.Contains(in.Addresses, ip):
		case slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Contains(ip) }):
			in.Addresses = append(in.Addresses, ip)
		default:
			out.Addresses = append(out.Addresses, ip)
		}
	}
	return in, out
}

// nobody is a domain that can be nobody's (RFC 2606): an authority that may speak
// for mailboxes and URIs there speaks for none.
const nobody = "invalid"

// template is an authority with these limits. Where it may certify no address at
// all, that has to be said: limits for names alone let every address pass.
func (l Limits) template(name string, now time.Time) *x509.Certificate {
	t := &x509.Certificate{Subject: pkix.Name{CommonName: name, Organization: []string{"Roomgate"}},
		NotBefore: now.Add(-backdated).UTC(), NotAfter: now.Add(Lifetime).UTC(),
		IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: l.Names,
		PermittedEmailAddresses: []string{nobody}, PermittedURIDomains: []string{nobody}}
	if len(l.Names) == 0 {
		t.PermittedDNSDomains = []string{nobody}
	}
	for _, p := range l.Addresses {
		p = p.Masked()
		t.PermittedIPRanges = append(t.PermittedIPRanges, &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())})
	}
	if len(l.Addresses) == 0 {
		t.ExcludedIPRanges = []*net.IPNet{{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}}
	}
	return t
}
