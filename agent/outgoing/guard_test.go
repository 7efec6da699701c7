package outgoing

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// forms are addresses in all the ways that they are written, and what each
// policy makes of them: strict reaches the internet only, open the building too.
var forms = []struct {
	host         string
	strict, open bool
}{
	{"93.184.216.34", true, true}, {"[2606:2800:220:1::1]", true, true}, {"hooks.example.com", true, true},
	{"10.1.2.3", false, true}, {"172.16.0.1", false, true}, {"172.31.255.255", false, true}, {"192.168.1.2", false, true}, {"[fd12::1]", false, true},
	// This machine.
	{"127.0.0.1", false, false}, {"127.8.9.10", false, false}, {"0.0.0.0", false, false}, {"0.1.2.3", false, false}, {"[::1]", false, false}, {"[::]", false, false},
	{"localhost", false, false}, {"LocalHost.", false, false}, {"a.localhost", false, false},
	// Addresses in others: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
	{"[::ffff:127.0.0.1]", false, false}, {"[::ffff:7f00:1]", false, false}, {"[::ffff:10.0.0.1]", false, false}, {"[::ffff:93.184.216.34]", false, false},
	{"[::127.0.0.1]", false, false}, {"[64:ff9b::7f00:1]", false, false}, {"[64:ff9b::10.0.0.1]", false, false}, {"[64:ff9b:1::1]", false, false},
	{"[2002:7f00:1::]", false, false}, {"[2002:a00:1::]", false, false}, {"[2001:0:7f00:1::]", false, false}, {"[fe80::5efe:10.0.0.1]", false, false},
	// Links, groups, and what clouds tell a machine about itself.
	{"169.254.169.254", false, false}, {"[fe80::1]", false, false}, {"[fe80::1%25eth0]", false, false}, {"[fd12::1%25eth0]", false, false},
	{"[fd00:ec2::254]", false, false}, {"[fd20:ce::254]", false, false}, {"168.63.129.16", false, false}, {"100.100.100.200", false, false}, {"192.0.0.192", false, false},
	{"224.0.0.1", false, false}, {"255.255.255.255", false, false}, {"[ff02::1]", false, false}, {"[fec0::1]", false, false}, {"100.64.0.1", false, false}, {"198.18.0.1", false, false}, {"240.0.0.1", false, false},
}

func TestURLsAreJudged(t *testing.T) {
	for _, c := range forms {
		for p, ok := range map[Policy]bool{{}: c.strict, {AllowPrivate: true, AllowHTTP: true}: c.open, {Anywhere: true}: true} {
			u, err := url.Parse("https://" + c.host + ":8443/in")
			if err != nil {
				t.Fatal(err)
			}
			if err := p.CheckURL(u); (err == nil) != ok {
				t.Errorf("%s with %+v: %v", c.host, p, err)
			}
		}
	}
	for text, p := range map[string]Policy{"http://a.example/": {}, "http://10.0.0.1/": {AllowPrivate: true, AllowLoopback: true}, "ftp://a.example/": {Anywhere: true},
		"file:///etc/passwd": {Anywhere: true}, "https:a.example": {}, "https://a.example:0/": {Anywhere: true}, "https://a.example:70000/": {}, "https:///path": {}} {
		u, err := url.Parse(text)
		if err != nil {
			continue // as good
		}
		if p.CheckURL(u) == nil {
			t.Errorf("%s with %+v was taken", text, p)
		}
	}
}

// TestGuardJudgesTheAddress has all of them as a resolver may answer them.
func TestGuardJudgesTheAddress(t *testing.T) {
	for _, c := range forms {
		host := strings.NewReplacer("%25", "%").Replace(c.host)
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil {
			continue // a name
		}
		for p, ok := range map[Policy]bool{{}: c.strict, {AllowPrivate: true}: c.open} {
			if err := newGuard(p).control(t.Context(), "tcp6", host+":443", nil); (err == nil) != ok {
				t.Errorf("%s with %+v: %v", host, p, err)
			}
		}
	}
	if newGuard(Policy{}).control(t.Context(), "udp4", "93.184.216.34:443", nil) == nil || newGuard(Policy{}).control(t.Context(), "tcp4", "nonsense", nil) == nil {
		t.Error("not TCP, or no address, and let through")
	}
}

// TestMachineOfADemo is reached by all its addresses, also without TLS, and
// nothing else is.
func TestMachineOfADemo(t *testing.T) {
	g := newGuard(Policy{AllowLoopback: true})
	g.networks = func() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("172.17.0.2/16")} }
	for address, ok := range map[string]bool{"127.0.0.1": true, "127.0.1.1": true, "::1": true, "172.17.0.2": true,
		"172.17.0.3": false, "10.0.0.1": false, "0.0.0.0": false, "::": false, "::ffff:127.0.0.1": false, "169.254.169.254": false} {
		if err := g.check(netip.MustParseAddr(address)); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	for text, ok := range map[string]bool{"http://127.0.0.1:9/": true, "http://localhost:9/": true, "http://[::1]:9/": true, "https://localhost/": true, "http://a.example/": false} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Policy{AllowLoopback: true}).CheckURL(u); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNeighboursAreInside: IPv6 gives every printer an address of the internet.
func TestNeighboursAreInside(t *testing.T) {
	for p, ok := range map[Policy]bool{{Section: "calendars"}: false, {AllowPrivate: true}: true} {
		g := newGuard(p)
		g.networks = func() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("2606:2800:220:1::5/64")} }
		near, far := netip.MustParseAddr("2606:2800:220:1::1"), netip.MustParseAddr("2606:2800:220:2::1")
		err := g.check(near)
		if (err == nil) != ok || g.check(far) != nil || g.public(near) || !g.public(far) {
			t.Errorf("%+v: %v", p, err)
		}
		if err != nil && !strings.Contains(err.Error(), "set calendars.allow_private") {
			t.Errorf("%v does not say what to do", err)
		}
	}
}

// TestRebindingNameIsRefused gives a name an address that may be reached, and
// then one that may not: what counts is the address that is dialled.
func TestRebindingNameIsRefused(t *testing.T) {
	reached, port := counter(t, "127.0.0.1", nil)
	for _, address := range []string{"127.0.0.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "::1", "::", "fe80::1", "64:ff9b::7f00:1", "2002:7f00:1::", "fd00:ec2::254"} {
		c := newClient(Options{MaxBody: 10}, newGuard(Policy{AllowHTTP: true}), nameserver(t, address))
		_, err := c.Get("http://rebind.example.com:" + port)
		var refused *AddressError
		if !errors.As(err, &refused) || refused.Address.String() != address {
			t.Errorf("%s: %v", address, err)
		}
		c.CloseIdleConnections()
	}
	if reached.Load() != 0 {
		t.Fatalf("this machine was reached %d times", reached.Load())
	}
	c := open(t, Options{MaxBody: 10}, "127.0.0.1", "127.0.0.2")
	for i, want := range []error{nil, new(AddressError)} {
		resp, err := c.Get("http://rebind.example.com:" + port)
		if (err == nil) != (want == nil) || reached.Load() != 1 {
			t.Fatalf("look %d: %v", i, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		c.CloseIdleConnections()
	}
}

// here are forms of what stands for the internet here, or is in it.
var here = regexp.MustCompile(`(?i)^127\.0\.0\.1$|localhost|::ffff:(127|7f00|93)`)

// TestRedirectsAreJudged: a server in the internet sends us on to each form.
func TestRedirectsAreJudged(t *testing.T) {
	for _, f := range forms {
		if f.strict {
			continue
		}
		inside, inner := counter(t, "127.0.0.1", nil)
		_, port := counter(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+f.host+":"+inner+"/", http.StatusFound)
		})
		c := open(t, Options{MaxBody: 10}, "127.0.0.1")
		if here.MatchString(f.host) {
			continue // stands for the internet here
		}
		c.CheckRedirect = Redirects(3)
		resp, err := c.Get("http://calendar.example.com:" + port)
		if err == nil {
			_ = resp.Body.Close()
		}
		var hidden *Hidden
		if !errors.As(err, &hidden) || inside.Load() > 0 {
			t.Errorf("%s: %v, reached %d times", f.host, err, inside.Load())
		}
	}
}
