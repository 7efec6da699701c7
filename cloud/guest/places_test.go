package guest

import (
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:1":           "192.0.2.7/32",
		"[::ffff:192.0.2.7]:1":  "192.0.2.7/32",
		"[2001:db8::1]:1":       "2001:db8::/64",
		"[2001:db8::2:3:4:5]:1": "2001:db8::/64",
		"[2001:db8:0:1::1]:1":   "2001:db8:0:1::/64",
		"[fe80::1%eth0]:1":      "fe80::/64",
		"/run/roomgate/x.sock":  netip.Prefix{}.String(),
		"@":                     netip.Prefix{}.String(),
	} {
		if got := ParseNetwork(address).String(); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
		if tcp, err := net.ResolveTCPAddr("tcp", address); err == nil && Network(Address(tcp)).String() != want {
			t.Errorf("%s counts as %s, want %s", tcp, Network(Address(tcp)), want)
		}
	}
	if Address(&net.UnixAddr{Name: "x"}).IsValid() || Address(nil).IsValid() {
		t.Error("a socket in the file system has a network")
	}
}

// at is the n-th network.
func at(n int) netip.Prefix { return Network(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)})) }

// TestOneGuestCannotTakeAllPlaces takes all places in each way that there is; then
// comes somebody else.
func TestOneGuestCannotTakeAllPlaces(t *testing.T) {
	none := func() {}
	for name, c := range map[string]struct {
		places   *Places
		take     func(p *Places, n int) *Place
		newcomer func(p *Places) *Place
	}{
		"strangers of one network":   {&Places{Most: 8}, func(p *Places, _ int) *Place { return p.Enter(at(1).Addr(), none) }, stranger},
		"strangers of many networks": {&Places{Most: 8}, func(p *Places, n int) *Place { return p.Enter(at(n+1).Addr(), none) }, stranger},
		"a credential of one network": {&Places{Most: 8}, func(p *Places, _ int) *Place { return p.EnterKnown("eve", at(1), none) },
			func(p *Places) *Place { return p.EnterKnown("ada", at(1), none) }},
		"a credential of many networks": {&Places{Most: 8}, func(p *Places, n int) *Place { return p.EnterKnown("eve", at(n+1), none) },
			func(p *Places) *Place { return p.EnterKnown("ada", at(1), none) }},
		"one of those who share a credential": {&Places{Most: 8}, func(p *Places, _ int) *Place { return p.EnterKnown("eve", at(1), none) },
			func(p *Places) *Place { return p.EnterKnown("eve", at(2), none) }},
		"parts of somebody": {&Places{Most: 8}, func(p *Places, n int) *Place { return p.EnterPart("eve", fmt.Sprint(n), none) },
			func(p *Places) *Place { return p.EnterPart("ada", "1", none) }},
		"one of the parts": {&Places{Most: 8}, func(p *Places, _ int) *Place { return p.EnterPart("eve", "1", none) },
			func(p *Places) *Place { return p.EnterPart("eve", "2", none) }},
		"the known, and a stranger comes": {&Places{Most: 8, Reserve: 2}, func(p *Places, n int) *Place { return p.EnterKnown(fmt.Sprint(n), at(n+1), none) }, stranger},
		"strangers, and somebody known comes": {&Places{Most: 8, Reserve: 2}, func(p *Places, n int) *Place { return p.Enter(at(n+1).Addr(), none) },
			func(p *Places) *Place { return p.EnterKnown("ada", at(99), none) }},
		"strangers, and one shows who he is": {&Places{Most: 8, Reserve: 2}, func(p *Places, n int) *Place { return p.Enter(at(n+1).Addr(), none) },
			func(p *Places) *Place {
				if pl := stranger(p); pl != nil && pl.Know("ada") {
					return pl
				}
				return nil
			}},
		"the idle": {&Places{Most: 8, Reserve: 2}, func(p *Places, n int) *Place {
			pl := p.EnterKnown("", at(n/2), none)
			if pl != nil {
				pl.Idle(true)
			}
			return pl
		}, func(p *Places) *Place { return p.EnterKnown("", at(99), none) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.places
			for n := range 3 * p.Most {
				c.take(p, n)
			}
			pl := c.newcomer(p)
			if pl == nil {
				t.Fatal("the newcomer has no place")
			}
			if len(p.all) > p.Most || p.known > p.Most-p.Reserve {
				t.Errorf("%d places are held, %d by the known", len(p.all), p.known)
			}
			for other := range p.all {
				other.Leave()
			}
			if len(p.all)+p.known+len(p.clients)+len(p.groups)+len(p.strange) > 0 {
				t.Errorf("something is left: %+v", p)
			}
		})
	}
}

func stranger(p *Places) *Place { return p.Enter(at(99).Addr(), func() {}) }

// TestStrangersDisplaceNobodyWhoIsKnown: however many come, who has shown who he is
// stays.
func TestStrangersDisplaceNobodyWhoIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Places{Most: 10, Reserve: 2}
		var known, strange atomic.Int32
		for n := range 8 {
			if pl := p.Enter(at(1).Addr(), func() { known.Add(1) }); pl == nil || !pl.Know("ada") {
				t.Fatalf("place %d is not known", n)
			}
		}
		for n := range 100 {
			if p.Enter(at(2+n).Addr(), func() { strange.Add(1) }) == nil {
				t.Fatalf("stranger %d has no place", n)
			}
		}
		synctest.Wait()
		if known.Load() != 0 || strange.Load() != 98 {
			t.Errorf("%d of the known and %d strangers made room", known.Load(), strange.Load())
		}
	})
}

// TestWhoHoldsFewStays: with fair shares nobody is displaced any more, and a network
// has no more than its own: its oldest stranger makes room for its next, who may be another host.
func TestWhoHoldsFewStays(t *testing.T) {
	p := Places{Most: 8}
	for n := range 8 {
		p.EnterKnown(fmt.Sprint("u", n/2), at(1), func() { t.Error("somebody made room") })
	}
	if p.EnterKnown("u0", at(1), func() {}) != nil {
		t.Error("one who holds as many as others got another place")
	}
	q, lost := Places{Most: 8, Each: 2}, make(chan int, 4)
	for n := range 4 {
		if q.Enter(at(1).Addr(), func() { lost <- n }) == nil || q.strange[at(1)] > 2 {
			t.Errorf("place %d of a network: it has %d", n+1, q.strange[at(1)])
		}
		if n >= 2 {
			if first := <-lost; first != n-2 {
				t.Errorf("%d made room for %d", first, n)
			}
		}
		if q.Enter(netip.Addr{}, func() {}) == nil {
			t.Error("this machine has no place")
		}
	}
}

// TestOneHostTakesNoPlaceOfItsNeighbour: a host of a /64 comes again and again. Its neighbour stays, and one that comes
// takes a place of the host.
func TestOneHostTakesNoPlaceOfItsNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := func(name string) netip.Addr { return netip.MustParseAddr("2001:db8::" + name) }
		p := Places{Most: 20, Each: 8}
		p.Enter(host("ada"), func() { t.Error("the neighbour made room") })
		for range 100 {
			p.Enter(host("bad"), func() {})
		}
		p.Enter(host("bea"), func() { t.Error("the other one made room") })
		for range 100 {
			p.Enter(host("bad"), func() {})
		}
		synctest.Wait()
		if n := p.strange[Network(host("bad"))]; n != 8 {
			t.Errorf("the network holds %d places, want 8", n)
		}
	})
}
