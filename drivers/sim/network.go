package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"roomgate/drivers"
)

// host is what answers at a network address.
type host struct {
	faults *Faults
	serve  func(net.Conn)
}

// Listen makes serve answer at address, a host:port. It is called in a
// goroutine of its own for each connection and must return soon after the
// connection was closed, which Close of the world does.
func (w *World) Listen(address string, serve func(net.Conn)) error {
	return w.ListenPart(address, &Faults{done: w.done}, serve)
}

// ListenPart is Listen for a part: its faults are those of the cable. While it
// is unplugged, connections break and no new one is made; stuck, it is silent
// and dialling waits; garbled, what it sends arrives wrong; delayed, each
// piece takes that much longer in either direction.
func (w *World) ListenPart(address string, f *Faults, serve func(net.Conn)) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return err
	}
	return place(w, w.hosts, address, &host{f, serve})
}

var clients atomic.Int64 // numbers the far ends of connections

// Dial reaches what listens at address. The network must be "tcp".
func (w *World) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" {
		return nil, dialError(address, net.UnknownNetworkError(network))
	}
	h, err := find(w, w.hosts, address)
	if err != nil {
		return nil, dialError(address, syscall.ECONNREFUSED)
	}
	if _, err := h.faults.pass(address, ctx.Done()); err != nil {
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case errors.Is(err, drivers.ErrOffline):
			err = syscall.EHOSTUNREACH
		}
		return nil, dialError(address, err)
	}
	c := newCable(h, address)
	if !w.Run(func() { c.run(h) }) {
		return nil, dialError(address, drivers.ErrClosed)
	}
	return c.client, nil
}

// CableTo connects a part to what listens at address, by a cable of the part's
// own: its faults are the part's.
func (w *World) CableTo(ctx context.Context, f *Faults, address string) (net.Conn, error) {
	if _, err := f.pass(address, ctx.Done()); err != nil {
		return nil, dialError(address, err)
	}
	far, err := w.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	h := &host{f, func(near net.Conn) { splice(near, far) }}
	c := newCable(h, address)
	if !w.Run(func() { c.run(h) }) {
		_ = far.Close()
		return nil, dialError(address, drivers.ErrClosed)
	}
	return c.client, nil
}

// splice carries bytes between two connections until one of them ends, and
// ends the other.
func splice(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // the end of one is no fault
			_, _ = way[0].Close(), way[1].Close()
		})
	}
	both.Wait()
}

func dialError(address string, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: addr(address), Err: err}
}

// cable is a connection between a driver and a part, with the part's faults
// in its middle.
type cable struct {
	client, clientPlug *end
	serverPlug, server *end
	over               chan struct{} // closed when nothing can pass any more
	once               sync.Once
}

func newCable(h *host, address string) *cable {
	port := 32768 + clients.Add(1)%28000
	from := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: int(port)}
	c := &cable{over: make(chan struct{})}
	c.client, c.clientPlug = pipe(from, addr(address))
	c.serverPlug, c.server = pipe(from, addr(address))
	return c
}

// run serves the connection until either side closes it, the part is
// unplugged or the world ends.
func (c *cable) run(h *host) {
	var all sync.WaitGroup
	all.Go(func() {
		defer c.server.Close()
		h.serve(c.server)
	})
	all.Go(func() { c.pump(h.faults, c.serverPlug, c.clientPlug, false) })
	all.Go(func() { c.pump(h.faults, c.clientPlug, c.serverPlug, true) })
	for !isDone(c.over) {
		bell := h.faults.wait()
		if h.faults.isUnplugged() || isDone(h.faults.done) {
			c.cut()
			break
		}
		select {
		case <-c.over:
		case <-bell:
		case <-h.faults.done:
		}
	}
	all.Wait()
}

// cut breaks the connection: what is on its way is lost.
func (c *cable) cut() {
	c.once.Do(func() { close(c.over) })
	c.clientPlug.Close()
	c.serverPlug.Close()
}

// pump carries bytes one way, through the part's faults.
func (c *cable) pump(f *Faults, to, from *end, garble bool) {
	defer c.cut()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		garbled, err := f.pass(from.remote.String(), c.over)
		if err != nil {
			return
		}
		for i := range buf[:n] {
			if garbled && garble {
				buf[i] ^= 0x55
			}
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
