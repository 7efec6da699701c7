package main

import (
	"context"
	"errors"
	"net"
	"sync"

	"roomgate/agent/doctor"
)

// errCut is what the demo's gateway hears of a cloud that was cut off.
var errCut = errors.New(doctor.LineCut)

// wire is the demo's line to the cloud. It can be cut and mended.
type wire struct {
	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// dial reaches out unless the line is cut.
func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	cut := w.cut
	w.mu.Unlock()
	if cut {
		return nil, errCut
	}
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return nil, errors.Join(errCut, c.Close())
	}
	if w.conns == nil {
		w.conns = map[net.Conn]bool{}
	}
	w.conns[c] = true
	return wired{c, w}, nil
}

// set cuts or mends the line.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for c := range w.conns {
			_ = c.Close()
		}
		clear(w.conns)
	}
}

// wired is a connection that is forgotten when it ends.
type wired struct {
	net.Conn
	wire *wire
}

// Close ends the connection.
func (c wired) Close() error {
	c.wire.mu.Lock()
	delete(c.wire.conns, c.Conn)
	c.wire.mu.Unlock()
	return c.Conn.Close()
}
