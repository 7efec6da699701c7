package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOneGuestCannotTakeAllConnections takes them in each way that a guest of the
// network has. Others come in, and who has shown a credential keeps his.
func TestOneGuestCannotTakeAllConnections(t *testing.T) {
	request := "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	for name, c := range map[string]struct {
		host func(i int) string
		says string
		most int // of them that stay; 0: any number
	}{
		"two addresses, silent":   {func(i int) string { return fmt.Sprint("192.0.2.", 10+i%2) }, "", 0},
		"two addresses, idle":     {func(i int) string { return fmt.Sprint("192.0.2.", 10+i%2) }, request, 0},
		"two addresses, dripping": {func(i int) string { return fmt.Sprint("192.0.2.", 10+i%2) }, "GET /", 0},
		"one /64":                 {func(i int) string { return fmt.Sprintf("[2001:db8::%x]", i+1) }, request, maxPerNetwork},
		"many networks, idle":     {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]", i+1) }, request, 0},
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Api-Key") != "" {
					welcomed(r)
				}
				ok(w, r)
			}
			inServer(t, answer, func(t *testing.T, s *Server, p *pipes) {
				display := p.mustDial(t)
				defer display.Close()
				ask := func(conn net.Conn, header string) string {
					go func() { _, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n"+header+"\r\n") }()
					r, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil {
						return err.Error()
					}
					body, _ := io.ReadAll(r.Body)
					return string(body)
				}
				if got := ask(display, "X-Api-Key: k\r\n"); got != "ok" {
					t.Fatalf("a display gets %s", got)
				}
				for i := range maxConnections + 100 {
					p.host = c.host(i)
					conn := p.mustDial(t)
					defer conn.Close()
					go func() {
						_, _ = io.WriteString(conn, c.says)
						_, _ = io.Copy(io.Discard, conn)
					}()
				}
				synctest.Wait()
				p.host = "192.0.2.99"
				if got := p.do(t, "GET", "/"); got.body != "ok" {
					t.Errorf("a newcomer gets %d", got.StatusCode)
				}
				if got := ask(display, ""); got != "ok" {
					t.Errorf("a display that was there before gets %s", got)
				}
				synctest.Wait() // who made room has gone
				if n := s.counts.open.Load(); n > maxConnections || c.most > 0 && n > int64(c.most+2) {
					t.Errorf("%d connections are open", n)
				}
			})
		})
	}
}

// TestOneClientCannotTakeAllStreams: one credential opens all streams or long polls
// that there are. Others get theirs, and the first is told to come back.
func TestOneClientCannotTakeAllStreams(t *testing.T) {
	for what, path := range map[string]string{"streams": "/devices/events", "long polls": "/devices/events?wait=1m&cursor="} {
		t.Run(what, func(t *testing.T) {
			inBuilding(t, func(t *testing.T, b *building) {
				if strings.HasSuffix(path, "=") {
					path += b.events("/devices/events").Next
				}
				ended := make(chan time.Duration, maxWaiters)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				open := func(key string) {
					r := newRequest(t, "GET", path).WithContext(ctx)
					r.Header.Set(headerKey, systemKey)
					if what == "streams" {
						r.Header.Set("Accept", "text/event-stream")
					}
					start := time.Now()
					answer, err := b.net.client.Do(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
					if ctx.Err() == nil {
						ended <- time.Since(start)
					}
				}
				for range maxWaiters {
					go open(systemKey)
				}
				synctest.Wait()
				display := b.server.streams.waiters.EnterKnown("http display d", netip.Prefix{}, func() { t.Error("the display makes room") })
				if display == nil {
					t.Fatal("a display has no place")
				}
				defer display.Leave()
				synctest.Wait()
				if len(ended) != 1 {
					t.Errorf("%d of the client have made room, want 1", len(ended))
				}
				extra := b.ask("GET", "/devices/events", "Accept: text/event-stream")
				checkProblem(t, "one more of the client", extra, 503, "busy", "")
				cancel()
				synctest.Wait()
			})
		})
	}
}

// TestOneTenantCannotTakeAllStreams: an organization with many keys follows with all of them. A display comes in, and
// so does the key of another organization.
func TestOneTenantCannotTakeAllStreams(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		follow := func(key string) {
			r := newRequest(t, "GET", "/devices/events").WithContext(ctx)
			name, value, _ := strings.Cut(key, ": ")
			r.Header.Set(name, value)
			r.Header.Set("Accept", "text/event-stream")
			if answer, err := b.net.client.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
		}
		var keys []string
		for range 250 {
			keys = append(keys, second(b.orgKey(t, auroraOrg, "events:read")))
		}
		for i := range maxWaiters {
			go follow(keys[i%len(keys)])
		}
		synctest.Wait()
		if n := b.server.streams.open.Load(); n != maxWaiters {
			t.Fatalf("%d streams are open, want %d", n, maxWaiters)
		}
		for i := range 10 {
			path, header := "/devices/events", second(b.orgKey(t, borealisOrg, "events:read"))
			if i%2 == 0 {
				header = "X-API-Key: " + b.edgeKey(aurora)
				path = "/display/" + aurora + "/stream"
			}
			r := newRequest(t, "GET", path).WithContext(ctx)
			name, value, _ := strings.Cut(header, ": ")
			r.Header.Set(name, value)
			r.Header.Set("Accept", "text/event-stream")
			answer, err := b.net.client.Do(r)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("newcomer %d: %v, %v", i, answer, err)
			}
		}
		cancel()
		synctest.Wait()
	}, tenants)
}

func second[A, B any](_ A, b B) B { return b }
