package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/agent/calendar"
	"roomgate/agent/config"
	"roomgate/agent/outgoing"
	"roomgate/agent/push"
	"roomgate/agent/webhook"
)

// names makes every name lead to an address while a test runs, by a real
// nameserver: resolving is part of what an attacker plays with.
func names(t *testing.T, address string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before; _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		ip, b := netip.MustParseAddr(address), make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			end := 12 + strings.IndexByte(string(b[12:n]), 0) + 5
			reply := append([]byte{b[0], b[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, b[12:end]...)
			if asked := b[end-3]; asked == 1 && ip.Is4() || asked == 28 && ip.Is6() { // A, AAAA
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, asked, 0, 1, 0, 0, 0, 0, 0, byte(ip.BitLen()/8))
				reply = append(reply, ip.AsSlice()...)
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// ways are the doors out of a gateway: each asks for an address and says what
// whoever named it is told; empty: it was reached.
func ways(t *testing.T) map[string]func(address string) string {
	var c config.Config
	keep := func(client *http.Client) *http.Client { t.Cleanup(client.CloseIdleConnections); return client }
	tell := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	follow := func(client *http.Client) func(string) string {
		return func(address string) string {
			feed := &calendar.Feed{URL: address + "/secret.ics", Client: keep(client)}
			_, err := feed.Fetch(t.Context(), time.Now(), time.Now().Add(time.Hour))
			if errors.Is(err, calendar.ErrNotCalendar) {
				return ""
			}
			return strings.ReplaceAll(tell(err), feed.Redacted(), "")
		}
	}
	c.Webhooks.AllowHTTP = true
	sender := webhook.NewSender(keep(webhook.NewClient(c.Webhooks.Policy(false))))
	return map[string]func(string) string{
		"webhook": func(address string) string {
			return sender.Send(t.Context(), address, "id", []byte("{}"), []webhook.Secret{"a secret"}).Error
		},
		"linked calendar": follow(calendar.NewClient(c.Calendars.Policy(false))),
		"update": func(address string) string {
			body, err := fetchBundle(keep(updateClient()))(t.Context(), address, 0, "")
			if err == nil {
				_ = body.Close()
			}
			return tell(err)
		},
		"own calendar": follow(calendar.NewClient(outgoing.Policy{Anywhere: true})),
		"push": func(address string) string {
			return push.New(address, func() (string, error) { return "", nil }, keep(push.NewClient(nil))).Look(t.Context()).Error
		},
		"demo's webhook": func(address string) string {
			own := webhook.NewSender(keep(receiverClient(c.Webhooks.Policy(true), nil, nil)))
			return own.Send(t.Context(), address, "id", []byte("{}"), []webhook.Secret{"a secret"}).Error
		},
		"demo's calendar": follow(calendar.NewClient(c.Calendars.Policy(true))),
	}
}

// TestNoDoorOutLeadsIn lets a name that a tenant or the cloud gives lead to each
// kind of address inside, on a port that is open and on one that is closed.
// Nothing is reached, and nobody learns which it was.
func TestNoDoorOutLeadsIn(t *testing.T) {
	var reached atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	port := func(s *httptest.Server) string { _, p, _ := net.SplitHostPort(s.Listener.Addr().String()); return p }

	all := ways(t)
	told := map[string]map[string]bool{}
	for _, address := range []string{"127.0.0.1", "127.8.9.10", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::",
		"169.254.169.254", "fe80::1", "fd00:ec2::254", "168.63.129.16", "100.100.100.200", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1", "198.18.0.1"} {
		names(t, address)
		for _, door := range []string{"webhook", "linked calendar", "update"} {
			for _, p := range []string{port(s), port(gone)} {
				for _, target := range []string{"http://rebind.example:" + p, "https://rebind.example:" + p} {
					if door == "update" && strings.HasPrefix(target, "http:") {
						continue
					}
					if told[door] == nil {
						told[door] = map[string]bool{}
					}
					told[door][all[door](target)] = true
				}
			}
		}
	}
	for door, texts := range told {
		if len(texts) != 1 || texts[""] {
			t.Errorf("%s tells %d things apart: %v", door, len(texts), texts)
		}
	}
	if reached.Load() > 0 {
		t.Errorf("this machine was reached %d times", reached.Load())
	}
	names(t, "127.0.0.1")
	for _, door := range []string{"own calendar", "push", "demo's webhook", "demo's calendar"} {
		before := reached.Load()
		if said := all[door]("http://here.example:" + port(s)); said != "" || reached.Load() != before+1 {
			t.Errorf("%s: this machine is its business, and it says %q", door, said)
		}
	}
}
