package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strconv"
	"time"

	"roomgate/agent/api"
	"roomgate/agent/certificate"
	"roomgate/agent/config"
	"roomgate/agent/tlsauthority"
)

// httpDoor is an address at which the network reaches the HTTP interface.
type httpDoor struct {
	net.Listener
	name     string
	redirect string // the port of HTTPS to which all are sent; empty: they are served
}

// listen takes the addresses of HTTP: one, or with http.tls.listen two.
func (g *gateway) listen() (doors []httpDoor, err error) {
	c := g.config.HTTP
	secure, err := g.serverTLS("http.tls", c.TLS.TLS)
	if err != nil {
		return nil, err
	}
	first := secure
	if c.TLS.Plain() {
		first = nil
	}
	door, err := g.listenAt("http", c.Listen, first)
	if err != nil {
		return nil, err
	}
	doors = append(doors, door)
	g.demo.at = pageAddress(door.Addr(), first != nil)
	g.listens(door.Addr().(*net.TCPAddr).Port)
	if c.TLS.Listen == "" {
		return doors, nil
	}
	door, err = g.listenAt("https", c.TLS.Listen, secure)
	if err != nil {
		return nil, err
	}
	if c.TLS.Redirect {
		doors[0].redirect = strconv.Itoa(door.Addr().(*net.TCPAddr).Port)
	}
	return append(doors, door), nil
}

// listens notes the port that the system has chosen for http.listen, in the configuration, and
// in each that is read later.
func (g *gateway) listens(port int) {
	chosen := func(c *config.Config) {
		if host, asked, err := net.SplitHostPort(c.HTTP.Listen); err == nil && asked == "0" {
			c.HTTP.Listen = net.JoinHostPort(host, strconv.Itoa(port))
		}
	}
	chosen(g.config)
	if again := g.again; again != nil {
		g.again = func() (*config.Config, error) {
			c, err := again()
			if err == nil {
				chosen(c)
			}
			return c, err
		}
	}
}

// pageAddress is where a browser on this machine finds the pages.
func pageAddress(a net.Addr, secure bool) string {
	at := a.(*net.TCPAddr).AddrPort()
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	if secure {
		return "https://" + at.String()
	}
	return "http://" + at.String()
}

// listenAt takes one address. Without TLS who can hear the network is told what
// that means.
func (g *gateway) listenAt(name, address string, secure *tls.Config) (httpDoor, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		flag := map[string]string{"http": "listen", "https": "http.tls.listen"}[name]
		return httpDoor{}, cannotListen(name, address, saidBy(g, flag), err)
	}
	g.closers = append(g.closers, func() error { return ignore(l.Close(), net.ErrClosed) })
	d := httpDoor{Listener: l, name: name}
	if secure != nil {
		g.say("http listening on https://%s", l.Addr())
		d.Listener = tls.NewListener(l, secure)
		return d, nil
	}
	g.say("http listening on http://%s", l.Addr())
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() && !g.config.HTTP.TLS.Redirect {
		g.log.Warn("http is open to the network without tls, keys and pictures travel in the clear: set http.tls", "address", l.Addr().String())
	}
	return d, nil
}

// served is the loop that answers at a door.
func (d httpDoor) served(server *api.Server) loop {
	h := server.Handler()
	if d.redirect != "" {
		h = api.Redirect(h, d.redirect)
	}
	return loop{d.name, func(ctx context.Context) error { return server.Serve(ctx, d, h) }}
}

// serverTLS is what a door shows; nil: it is plain. Anybody who renews the certificate
// needs no restart. Boards in rooms and old tablets know no later version than 1.2.
func (g *gateway) serverTLS(key string, t config.TLS) (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case t.Authority:
		if err := g.openAuthority(key); err != nil {
			return nil, err
		}
		secure.GetCertificate = g.authority.Serve
	case t.Certificate != "":
		pair, err := certificate.Read(key, t.Certificate, t.Key)
		if err != nil {
			return nil, fail(exitConfig, "%w", err)
		}
		g.loops = append(g.loops, loop{key, func(ctx context.Context) error { return pair.Run(ctx, g.moment, g.log) }})
		secure.GetCertificate = pair.Serve
	default:
		return nil, nil
	}
	return secure, nil
}

// openAuthority opens the building's own authority, once for all doors.
func (g *gateway) openAuthority(key string) (err error) {
	if g.authority != nil {
		return nil
	}
	g.authority, err = tlsauthority.Open(context.Background(), tlsauthority.Options{Data: g.config.Data, Log: g.log, Clock: g.moment})
	if err != nil {
		return fail(exitConfig, "%s.authority: %w", key, err)
	}
	g.loops = append(g.loops, loop{"authority", g.authority.Run})
	return nil
}

// root is the root certificate of the building's own authority; nil: it is not used.
func (g *gateway) root() func() []byte {
	if g.authority == nil {
		return nil
	}
	return g.authority.Root
}

// moment is what the building thinks of the time, which nobody knows before it is
// open.
func (g *gateway) moment() (now time.Time, trusted bool) {
	if g.agent == nil {
		return time.Now(), false
	}
	c := g.agent.Health.Clock()
	return c.Now, c.Trusted
}
