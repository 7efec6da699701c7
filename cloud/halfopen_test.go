package cloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/cloud/broker"
)

// hole is a proxy on the way to the broker that stops forwarding and closes nothing: what
// is written goes nowhere, and nobody is told.
type hole struct {
	*cable
	mu    sync.Mutex
	lines []*atomic.Bool // of each connection: it swallows
}

func (h *hole) dial(ctx context.Context, network, address string) (net.Conn, error) {
	far, err := h.cable.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	near, end := net.Pipe()
	deaf := new(atomic.Bool)
	h.mu.Lock()
	h.lines = append(h.lines, deaf)
	h.mu.Unlock()
	for _, way := range [][2]net.Conn{{end, far}, {far, end}} {
		h.wg.Go(func() {
			forward(way[0], way[1], deaf)
			_ = end.Close()
			_ = far.Close()
		})
	}
	return near, nil
}

// forward copies until the one or the other ends.
func forward(from io.Reader, to io.Writer, deaf *atomic.Bool) {
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if deaf.Load() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// swallow lets what is connected now go nowhere any more.
func (h *hole) swallow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lines {
		l.Store(true)
	}
}

// A line that is half open is given up within the keep-alive, and what was sent into it comes by
// the next one, in order and once more at most.
func TestHalfOpenLineLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		k := sink{t: t}
		h := &hole{cable: newCable(t, k.serve)}
		box := rows{}
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: h.dial, Log: quiet})
		up := NewUplink(l, &box, UplinkOptions{Acks: AcksBroker, Window: 20, Log: quiet, History: box.history})
		defer run(t, l.Run)()
		defer run(t, up.Run)()
		time.Sleep(soon)
		box.add(100)
		up.Wake()
		time.Sleep(soon)
		h.swallow()
		began := time.Now()
		box.add(100)
		up.Wake()
		time.Sleep(soon) // the gateway does not know yet
		if !l.Connected() {
			t.Fatal("the line was given up at once: it was cut, not half open")
		}
		for !l.Connected() || box.forgotten() < 200 {
			if time.Since(began) > time.Minute {
				t.Fatalf("a minute after the line was half open: connected %v, %d of 200 rows are forgotten, %+v", l.Connected(), box.forgotten(), l.Trouble())
			}
			time.Sleep(time.Second)
		}
		count, last := k.seen()
		wantRange(t, last, 101, 200)
		for seq, n := range count {
			if n > 2 {
				t.Errorf("row %d came %d times", seq, n)
			}
		}
		if l.Trouble().Cause != CauseSilent {
			t.Errorf("it was %+v: want that the broker does not answer", l.Trouble())
		}
	})
}

// A broker that is started again while rows are replayed gets all of them nevertheless.
func TestBrokerRestartsDuringAReplay(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker, Window: 50, Rate: 100})
		p.box.add(300)
		p.up.Wake()
		time.Sleep(10 * time.Second)
		before, _ := p.sink.seen()
		p.up.Replay(10, 200)
		time.Sleep(500 * time.Millisecond)
		acknowledged, _ := p.sink.seen()
		p.sink.silence(true) // what comes from now on is lost with the broker
		time.Sleep(300 * time.Millisecond)
		p.unplug(true)
		taken, _ := p.sink.seen()
		p.sink.silence(false)
		p.sink.mu.Lock()
		p.sink.runs = nil // its memory
		p.sink.mu.Unlock()
		time.Sleep(10 * time.Second)
		p.unplug(false)
		time.Sleep(time.Minute)
		after, _ := p.sink.seen()
		lost := 0
		for seq := uint64(10); seq <= 200; seq++ {
			if acknowledged[seq] == before[seq] && after[seq] != 1 {
				t.Errorf("row %d was not acknowledged, and comes %d times after the restart", seq, after[seq])
			}
			if taken[seq] > acknowledged[seq] {
				lost++
			}
		}
		if lost == 0 {
			t.Error("the broker had taken nothing that it lost: the test shows nothing")
		}
	})
}

// A certificate that has ended, or is not valid yet, is not trusted, by the clock of this side. Once the
// clock is right the link is up, with nothing else changed.
func TestCertificateOutOfItsTime(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true, Log: quiet, TLS: &tls.Config{Certificates: web.TLS.Certificates}})
	if err != nil {
		t.Fatal(err)
	}
	defer run(t, b.Run)()
	known := x509.NewCertPool()
	known.AddCert(web.Certificate())
	for name, wrong := range map[string]time.Time{"ended": web.Certificate().NotAfter.Add(time.Second), "not valid yet": web.Certificate().NotBefore.Add(-time.Second)} {
		t.Run(name, func(t *testing.T) {
			var clock atomic.Pointer[time.Time]
			clock.Store(&wrong)
			l := NewLink(LinkOptions{URL: "mqtts://" + b.Addr().String(), ClientID: "g", Log: quiet, MaxBackoff: 50 * time.Millisecond,
				TLS: &tls.Config{RootCAs: known, MinVersion: tls.VersionTLS13, Time: func() time.Time { return *clock.Load() }}})
			defer run(t, l.Run)()
			wait := func(what string, holds func() bool) {
				t.Helper()
				for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("%s: %+v", what, l.Trouble())
					}
				}
			}
			wait("it is not told that the certificate is not trusted", func() bool { return l.Trouble().Cause == CauseUntrusted })
			if l.Connected() {
				t.Error("it is connected")
			}
			right := time.Now()
			clock.Store(&right)
			wait("with the right clock it is not connected", l.Connected)
		})
	}
}
