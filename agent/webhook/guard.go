package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Policy says where notifications may go.
type Policy struct {
	AllowPrivate bool // to 10/8, 172.16/12, 192.168/16 and fc00::/7 too
	AllowHTTP    bool // without TLS too
}

const maxURL = 2048 // bytes

// CheckURL refuses an address that notifications can never go to. What a name
// leads to is judged when it is dialled.
func (p Policy) CheckURL(text string) error {
	u, err := parseURL(text)
	if err != nil {
		return err
	}
	switch {
	case u.Scheme == "http" && !p.AllowHTTP:
		return invalid("url", "is http: want https, or set webhooks.allow_http in the configuration")
	case u.Scheme != "http" && u.Scheme != "https":
		return invalid("url", "has the scheme %s: want https", quoted(u.Scheme))
	case u.User != nil:
		return invalid("url", "holds a user or a password: leave them out, the signature says who sends")
	case u.Fragment != "":
		return invalid("url", "has a fragment, which is never sent: leave out what follows #")
	}
	return p.checkHost(u)
}

func parseURL(text string) (*url.URL, error) {
	switch {
	case text == "":
		return nil, invalid("url", "is missing: want the https address of a receiver")
	case len(text) > maxURL:
		return nil, invalid("url", "has %d bytes: want at most %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Hostname() == "" {
		return nil, invalid("url", "is not an address: want https://HOST[:PORT]/PATH")
	}
	return u, nil
}

func (p Policy) checkHost(u *url.URL) error {
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return invalid("url", "has the port %s: want 1 to 65535", quoted(port))
		}
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return invalid("url", "leads to this gateway itself: want the host of a receiver")
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil // a name
	}
	if err := newGuard(p, nil).check(ip); err != nil {
		return invalid("url", "%v", err)
	}
	return nil
}

// Where clouds tell a machine about itself, in ranges that are otherwise fine.
var (
	metadataV4 = netip.MustParsePrefix("168.63.129.16/32")                                               // Azure
	metadataV6 = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254")} // AWS, Google
)

// guard judges addresses after DNS, so that a name which changes its address
// between two looks gains nothing.
type guard struct {
	policy Policy
	inner  *ssrf.Guardian
}

// newGuard makes the guard of a policy. It also lets the prefixes through that
// are in also; only tests have such.
func newGuard(p Policy, also []netip.Prefix) *guard {
	v4, v6 := also, []netip.Prefix(nil)
	if p.AllowPrivate {
		v4 = append(v4, netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"))
		v6 = append(v6, netip.MustParsePrefix("fc00::/7"))
	}
	// A receiver may listen on any port: TLS tells it from what does not expect us.
	return &guard{p, ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(metadataV4),
		ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))}
}

// AddressError is an address that notifications must not go to.
type AddressError struct {
	Address netip.Addr
	Private bool // the configuration could allow it
}

// Error names the address and what can be done.
func (e *AddressError) Error() string {
	if e.Private {
		return fmt.Sprintf("leads to the private address %v: set webhooks.allow_private in the configuration if that is meant", e.Address)
	}
	return fmt.Sprintf("leads to %v, which is no address of a receiver: loopback, link-local, metadata and special ranges are never reached", e.Address)
}

func (g *guard) check(ip netip.Addr) error {
	for _, m := range metadataV6 {
		if ip.WithZone("") == m {
			return &AddressError{Address: ip}
		}
	}
	if ip.Zone() != "" || g.inner.SafeAddr(ip) != nil {
		return &AddressError{ip, ip.IsPrivate() && !ip.Is4In6() && !g.policy.AllowPrivate}
	}
	return nil
}

// control is a net.Dialer's ControlContext: it sees the address that is about
// to be connected, whatever its name was.
func (g *guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" { // dialled by nobody here
		return errors.New("notifications go by TCP only")
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address that was found cannot be read: %w", err)
	}
	return g.check(to.Addr())
}

// NewClient returns the client that notifications are sent with. It uses no
// proxy: one would dial for us where the policy cannot see.
func NewClient(p Policy) *http.Client { return newClient(p, nil, nil) }

func newClient(p Policy, also []netip.Prefix, resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{Timeout: Timeout, KeepAlive: -1, Resolver: resolver, ControlContext: newGuard(p, also).control}
	return &http.Client{Transport: &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    Timeout,
		ResponseHeaderTimeout:  Timeout,
		MaxResponseHeaderBytes: maxHeader,
		MaxConnsPerHost:        4,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // a small answer must not unpack to a large one
	}}
}
