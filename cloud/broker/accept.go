package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// listenerID is what the router calls the source of our connections.
const listenerID = "room"

// accept takes connections until the listener is closed.
func (b *Broker) accept() error {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			// Out of descriptors, or a client that is gone already.
			b.log.warn("broker could not accept a client", "reason", err)
			select {
			case <-b.stop:
				return nil
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		wrapped, err := b.admit(c, address(c.RemoteAddr()), isLocal(c))
		if err != nil {
			_ = c.Close()
			b.log.warn("broker refused a connection", "address", c.RemoteAddr().String(), "reason", err)
			continue
		}
		go func() {
			defer b.release(wrapped)
			if err := b.serve(wrapped, b.o.TLS); err != nil {
				b.log.debug("broker client ended", "address", c.RemoteAddr().String(), "reason", err)
			}
		}()
	}
}

// Serve serves one connection as if it came from this machine, without TLS,
// until it ends.
func (b *Broker) Serve(c net.Conn) error { return b.serveLocal(c, false) }

// Inside is the user of connections that ServeInside serves, as the ACL is
// asked about it. No other client can have that name.
const Inside = "$inside"

// ServeInside is Serve for this process itself: the client needs no password,
// and its id is one that an anonymous client could have.
func (b *Broker) ServeInside(c net.Conn) error { return b.serveLocal(c, true) }

func (b *Broker) serveLocal(c net.Conn, inside bool) error {
	wrapped, err := b.admit(c, netip.Addr{}, true)
	if err != nil {
		_ = c.Close()
		return err
	}
	defer b.release(wrapped)
	wrapped.inside = inside
	return b.serve(wrapped, nil)
}

// admit counts a connection in, or says why not.
func (b *Broker) admit(c net.Conn, from netip.Addr, local bool) (*conn, error) {
	if !local && b.guesses.tooMany(from) {
		return nil, errGuesses
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	var wrapped *conn // others enter only once this is unlocked
	at := from
	if local {
		at = netip.Addr{}
	}
	place := b.places.Enter(at, func() { b.displace(wrapped) })
	if place == nil {
		return nil, errors.New("all places are taken by clients that have logged in")
	}
	wrapped = newConn(c, b.o.MaxPacket, b.budget.share())
	wrapped.local, wrapped.from, wrapped.place = local, from, place
	wrapped.flushes = &b.serving
	b.conns[wrapped] = struct{}{}
	b.serving.Add(1)
	return wrapped, nil
}

// displace ends a connection whose place somebody else needs.
func (b *Broker) displace(c *conn) {
	c.cut()
	b.log.warn("broker ended a connection: its place was needed", "address", c.from)
}

func (b *Broker) release(c *conn) {
	_ = c.Close()
	c.place.Leave()
	b.mu.Lock()
	delete(b.conns, c)
	b.mu.Unlock()
	b.serving.Done()
}

// serve runs one client. A fault of the router in the client's goroutine ends
// that client, not the process.
func (b *Broker) serve(c *conn, secure *tls.Config) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.cut()
			err = fmt.Errorf("broker fault while serving a client: %v", r)
			b.o.Log.Error("broker fault, client cut off", "client", c.id, "fault", r)
		}
	}()
	if secure != nil {
		if err := c.secure(secure); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
	}
	defer b.yield(c)
	defer b.ids.leave(c)
	err = b.server.EstablishConnection(listenerID, c)
	b.forgetOverflow(c)
	b.leave(c)
	return err
}

// secure puts TLS on the connection, within the time for CONNECT.
func (c *conn) secure(config *tls.Config) error {
	t := tls.Server(c.Conn, config)
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	if err := t.HandshakeContext(ctx); err != nil {
		return err
	}
	c.Conn = t
	return nil
}

// forgetOverflow empties the session of a client that could not even take
// what waited for it: with every return it would be cut off for the same.
func (b *Broker) forgetOverflow(c *conn) {
	if c.established || !c.overflowed() {
		return
	}
	if cl, ok := b.server.Clients.Get(c.id); ok {
		cl.ClearInflights()
		b.log.warn("broker dropped what waited for a client: it is too much", "client", c.id)
	}
}

// address is the peer's IP address; zero if it has none.
func address(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// isLocal says whether both ends of a connection are this machine's loopback.
func isLocal(c net.Conn) bool {
	return address(c.RemoteAddr()).IsLoopback() && address(c.LocalAddr()).IsLoopback()
}
