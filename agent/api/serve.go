package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	headerTimeout = 5 * time.Second  // for the head of a request
	readTimeout   = 15 * time.Second // for the whole of it
	writeTimeout  = 15 * time.Second // for an answer, unless it is patient
	idleTimeout   = 2 * time.Minute  // between two requests
	closeTimeout  = 5 * time.Second  // for the requests under way at the end
	maxHeader     = 12 << 10         // bytes; net/http adds 4 KiB of its own
	// maxConnections bounds what is open on one listener; more wait to be
	// accepted. One address gets half of it.
	maxConnections = 2048
	maxPerAddress  = maxConnections / 2
)

// Serve answers requests on l with h until ctx ends, then ends the streams,
// lets the other requests finish for a few seconds, and returns nil. It closes
// l. A TLS listener works as well as a plain one. No goroutine is left behind,
// unless a handler does not heed its context.
func (s *Server) Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	gate := &gate{Listener: l, free: semaphore.NewWeighted(maxConnections), ctx: ctx, counts: &s.counts, held: map[string]int{}}
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         gate.state,
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
	_ = gate.free.Acquire(last, maxConnections) // net/http forgets connections a moment before they end
	return nil
}

// gate bounds the connections of one listener. It hands them out as they are,
// so that net/http recognizes TLS, and learns of their end by their state.
type gate struct {
	net.Listener
	ctx    context.Context
	free   *semaphore.Weighted
	counts *counts

	mu   sync.Mutex
	held map[string]int // connections by address
}

// Accept waits for a free place and a connection. An address that holds too
// many is hung up on.
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

// host is whom a connection counts for; empty for a socket in the file system.
func host(conn net.Conn) string {
	h, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return ""
	}
	return h
}

func (g *gate) enter(conn net.Conn) bool {
	h := host(conn)
	g.mu.Lock()
	defer g.mu.Unlock()
	if h != "" && g.held[h] >= maxPerAddress {
		return false
	}
	g.held[h]++
	g.counts.open.Add(1)
	return true
}

// state gives the place of a closed connection back.
func (g *gate) state(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	h := host(conn)
	g.mu.Lock()
	if g.held[h]--; g.held[h] <= 0 {
		delete(g.held, h)
	}
	g.mu.Unlock()
	g.counts.open.Add(-1)
	g.free.Release(1)
}
