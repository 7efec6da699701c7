package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"roomgate/cloud/guest"
)

const (
	headerTimeout = 5 * time.Second  // for the head of a request
	readTimeout   = 15 * time.Second // for the whole of it
	writeTimeout  = 15 * time.Second // for an answer, unless it is patient
	idleTimeout   = 2 * time.Minute  // between two requests
	closeTimeout  = 5 * time.Second  // for the requests under way at the end
	maxHeader     = 12 << 10         // bytes; net/http adds 4 KiB of its own
	// maxConnections bounds what is open on one listener. An eighth is kept for
	// strangers, of whom one network gets half of all.
	maxConnections  = 2048
	keptConnections = maxConnections / 8
	maxPerNetwork   = maxConnections / 2
	// maxLeaving bounds those that have made room and are not closed yet.
	maxLeaving = 256
)

// Serve answers requests on l with h until ctx ends, then ends the streams,
// lets the other requests finish for a few seconds, and returns nil. It closes
// l. A TLS listener works as well as a plain one. No goroutine is left behind,
// unless a handler ignores its context.
func (s *Server) Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	gate := newGate(ctx, l, &s.counts)
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         gate.state,
		ConnContext:       gate.context,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(gate); close(ended) }()
	select {
	case err := <-ended:
		if ctx.Err() == nil {
			return fmt.Errorf("serve %s: %w", l.Addr(), errors.Join(err, server.Close()))
		}
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		s.log.Warn("requests were cut off at the end", "error", err)
		_ = server.Close() // it has nothing new to say
	}
	<-ended
	_ = gate.free.Acquire(last, maxConnections+maxLeaving) // net/http forgets connections a moment before they end
	return nil
}

// gate bounds the connections of one listener. It hands them out as they are,
// so that net/http recognizes TLS, and learns of their end by their state. A
// connection is a stranger's until a credential has come by it.
type gate struct {
	net.Listener
	ctx    context.Context
	free   *semaphore.Weighted
	counts *counts
	places guest.Places

	mu   sync.Mutex
	held map[net.Conn]*guest.Place
}

func newGate(ctx context.Context, l net.Listener, n *counts) *gate {
	return &gate{Listener: l, ctx: ctx, counts: n, held: map[net.Conn]*guest.Place{},
		free:   semaphore.NewWeighted(maxConnections + maxLeaving),
		places: guest.Places{Most: maxConnections, Reserve: keptConnections, Each: maxPerNetwork}}
}

// Accept waits for a connection. When places run out somebody makes room; a
// network with too many strangers is hung up on.
func (g *gate) Accept() (net.Conn, error) {
	if err := g.free.Acquire(g.ctx, 1); err != nil {
		return nil, net.ErrClosed
	}
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			g.free.Release(1)
			return nil, err
		}
		if g.enter(conn) {
			return conn, nil
		}
		g.counts.refused.Add(1)
		_ = conn.Close() // nothing was said on it
	}
}

func (g *gate) enter(conn net.Conn) bool {
	place := g.places.Enter(guest.Address(conn.RemoteAddr()), func() {
		g.counts.displaced.Add(1)
		hangUp(conn)
	})
	if place == nil {
		return false
	}
	g.mu.Lock()
	g.held[conn] = place
	g.mu.Unlock()
	g.counts.open.Add(1)
	return true
}

// hangUp ends a connection at once, without the goodbye of TLS.
func hangUp(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close() // its end is told by its state
}

func (g *gate) place(conn net.Conn) *guest.Place {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[conn]
}

// state notes whether a connection is needed just now, and gives the place of a
// closed one back.
func (g *gate) state(conn net.Conn, state http.ConnState) {
	place := g.place(conn)
	if place == nil {
		return
	}
	switch state {
	case http.StateActive, http.StateIdle:
		place.Idle(state == http.StateIdle)
	case http.StateClosed, http.StateHijacked:
		place.Leave()
		g.mu.Lock()
		delete(g.held, conn)
		g.mu.Unlock()
		g.counts.open.Add(-1)
		g.free.Release(1)
	}
}

// placeKey is under what the context of a connection has its place.
type placeKey struct{}

func (g *gate) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, placeKey{}, g.place(conn))
}

// welcomed notes that a good credential came by the connection of a request.
func welcomed(r *http.Request) {
	if place, _ := r.Context().Value(placeKey{}).(*guest.Place); place != nil {
		place.Know("") // one proxy speaks for many, so it counts by its network
	}
}
