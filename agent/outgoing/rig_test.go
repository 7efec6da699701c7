package outgoing

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"code.dny.dev/ssrf"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// nameserver answers every question for an address with the next of a list,
// which are all of one family; it has none of the other family.
func nameserver(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		b, i := make([]byte, 512), 0
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			end := 12 + strings.IndexByte(string(b[12:n]), 0) + 5
			reply := append([]byte{b[0], b[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, b[12:end]...)
			ip := netip.MustParseAddr(answers[min(i, len(answers)-1)])
			if asked := b[end-3]; asked == 1 && ip.Is4() || asked == 28 && ip.Is6() { // A, AAAA
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, asked, 0, 1, 0, 0, 0, 0, 0, byte(ip.BitLen()/8))
				reply = append(reply, ip.AsSlice()...)
				i++
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// counter is a server on an address of this machine that counts who reaches it,
// and its port.
func counter(t *testing.T, ip string, h http.HandlerFunc) (reached *atomic.Int32, port string) {
	t.Helper()
	reached = new(atomic.Int32)
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		if h != nil {
			h(w, r)
		}
	})}}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err = net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return reached, port
}

// open returns a client that takes 127.0.0.1 for the internet, which a test does
// not have, and 127.0.0.2 for a neighbour that may be spoken to.
func open(t *testing.T, o Options, answers ...string) *http.Client {
	t.Helper()
	g := newGuard(o.Policy)
	one, both := netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("127.0.0.0/30")
	g.networks = func() []netip.Prefix { return nil }
	g.strict = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(one), ssrf.WithDeniedV4Prefixes(metadataV4))
	g.inner = g.strict
	if o.Policy.AllowPrivate {
		g.inner = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(both))
	}
	c := newClient(o, g, nameserver(t, answers...))
	t.Cleanup(c.CloseIdleConnections)
	return c
}
