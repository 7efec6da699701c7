package engine

import (
	"io"
	"net"
	"sync"
	"testing"
)

// wire leads from an address to another one, and can be cut.
type wire struct {
	at    net.Listener
	loops sync.WaitGroup

	mu   sync.Mutex
	to   string
	ends []net.Conn
	cut  bool
}

// newWire leads to an address.
func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{at: l, to: to}
	w.loops.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.part(true)
		w.loops.Wait()
	})
	return w
}

func (w *wire) address() string { return w.at.Addr().String() }

func (w *wire) accept() {
	for {
		near, err := w.at.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", w.leads())
		if err != nil || !w.hold(near, far) {
			_ = near.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			w.loops.Go(func() {
				_, _ = io.Copy(way[0], way[1])
				_ = way[0].Close()
				_ = way[1].Close()
			})
		}
	}
}

// hold keeps both ends, so that they can be cut.
func (w *wire) hold(near, far net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		_ = far.Close()
		return false
	}
	w.ends = append(w.ends, near, far)
	return true
}

func (w *wire) leads() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to
}

// lead leads elsewhere from now on, as a name does that gets another address; what is
// connected is cut.
func (w *wire) lead(to string) {
	w.mu.Lock()
	w.to = to
	w.mu.Unlock()
	w.part(true)
	w.part(false)
}

// part cuts the wire, or mends it.
func (w *wire) part(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut = cut; cut {
		for _, c := range w.ends {
			_ = c.Close()
		}
		w.ends = nil
	}
}
