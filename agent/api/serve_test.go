package api

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// inServer runs f in virtual time with a server that has no building: what is
// tested here happens before any handler.
func inServer(t *testing.T, h http.HandlerFunc, f func(t *testing.T, s *Server, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		s, p := New(Options{Log: slog.New(slog.DiscardHandler)}), newPipes("192.0.2.7")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, p, h) }()
		f(t, s, p)
		p.client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve ended with %v", err)
		}
		if n := s.counts.open.Load(); n != 0 {
			t.Errorf("%d connections are still counted", n)
		}
	})
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

func (p *pipes) mustDial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := p.dial()
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestSlowRequestsAreCutOff: whoever does not finish a request in time loses
// the connection, and others are served meanwhile.
func TestSlowRequestsAreCutOff(t *testing.T) {
	for _, c := range []struct {
		name, first string
		drip        string // sent once a second
		within      time.Duration
	}{
		{"silent", "", "", headerTimeout},
		{"head byte by byte", "GET / HTTP/1.1\r\n", "X", headerTimeout},
		{"head without end", "GET / HTTP/1.1\r\n", "A: b\r\n", headerTimeout},
		{"body byte by byte", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n", "x", readTimeout},
		{"idle", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "", idleTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err == nil {
					ok(w, r)
				}
			}
			inServer(t, read, func(t *testing.T, _ *Server, p *pipes) {
				conn := p.mustDial(t)
				var dripping sync.WaitGroup
				dripping.Go(func() { drip(conn, c.first, c.drip) })
				defer dripping.Wait()
				defer conn.Close()
				start, gone := time.Now(), make(chan time.Duration, 1)
				go func() {
					_, _ = io.Copy(io.Discard, conn) // until the server hangs up
					gone <- time.Since(start)
				}()
				for range 200 {
					if got := p.do(t, "GET", "/"); got.body != "ok" {
						t.Fatalf("another client gets %d", got.StatusCode)
					}
					select {
					case took := <-gone:
						if took < c.within-time.Second || took > c.within+time.Second {
							t.Errorf("it took %v", took)
						}
						return
					case <-time.After(time.Second):
					}
				}
				t.Error("it is still open")
			})
		})
	}
}

// drip sends first, and then a little every second until it cannot.
func drip(conn net.Conn, first, rest string) {
	for err := error(nil); err == nil && first != ""; first = rest {
		_, err = io.WriteString(conn, first)
		time.Sleep(time.Second)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	inServer(t, ok, func(t *testing.T, _ *Server, p *pipes) {
		for _, header := range []string{
			"A: " + strings.Repeat("x", 20<<10),
			strings.Repeat("A: b\r\n", 5000) + "A: b",
		} {
			conn := p.mustDial(t)
			go func() { _, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n"+header+"\r\n\r\n") }()
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("answer is %d", r.StatusCode)
			}
			_ = r.Body.Close()
			_ = conn.Close()
		}
	})
}

// TestOneAddressHasHalfOfTheConnections opens one too many, then one from
// elsewhere.
func TestOneAddressHasHalfOfTheConnections(t *testing.T) {
	inServer(t, ok, func(t *testing.T, s *Server, p *pipes) {
		var held []net.Conn
		for range maxPerNetwork {
			held = append(held, p.mustDial(t))
		}
		held = append(held, p.mustDial(t))
		if _, err := held[0].Read(make([]byte, 1)); err == nil {
			t.Error("the first did not make room for one more")
		}
		synctest.Wait()
		if n := s.counts.open.Load(); n != maxPerNetwork {
			t.Errorf("%d are open", n)
		}
		p.host = "192.0.2.8"
		if got := p.do(t, "GET", "/"); got.body != "ok" {
			t.Errorf("another address gets %d", got.StatusCode)
		}
		for _, conn := range held {
			_ = conn.Close()
		}
		synctest.Wait()
		p.host = "192.0.2.7"
		p.client.CloseIdleConnections()
		if got := p.do(t, "GET", "/"); got.body != "ok" {
			t.Errorf("after they left it gets %d", got.StatusCode)
		}
	})
}

// TestEndLetsRequestsFinish: a request under way at the end is answered, one
// that takes too long is cut off.
func TestEndLetsRequestsFinish(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		ok    bool
	}{{time.Second, true}, {time.Hour, false}} {
		synctest.Test(t, func(t *testing.T) {
			s, p := New(Options{Log: slog.New(slog.DiscardHandler)}), newPipes("")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			stop := make(chan struct{})
			go func() {
				ended <- s.Serve(ctx, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(c.takes):
					case <-stop:
					}
					ok(w, r)
				}))
			}()
			go func() {
				time.Sleep(100 * time.Millisecond)
				cancel()
			}()
			start := time.Now()
			r, err := p.client.Do(newRequest(t, "GET", "/"))
			if (err == nil) != c.ok {
				t.Errorf("a request of %v: %v", c.takes, err)
			}
			if err == nil {
				_ = r.Body.Close()
			}
			if err := <-ended; err != nil || time.Since(start) > closeTimeout+time.Second {
				t.Errorf("serve ended after %v with %v", time.Since(start), err)
			}
			close(stop)
			p.client.CloseIdleConnections()
		})
	}
}

// TestListenerThatFailsEndsServe: only the listener is fatal.
func TestListenerThatFailsEndsServe(t *testing.T) {
	p := newPipes("")
	_ = p.Close()
	if err := New(Options{Log: slog.New(slog.DiscardHandler)}).Serve(t.Context(), p, http.HandlerFunc(ok)); err == nil {
		t.Error("serve ended without an error")
	}
}

// TestTLSListener: HTTP/1.1 and HTTP/2 come through a TLS listener, and its
// connections are counted like others.
func TestTLSListener(t *testing.T) {
	borrowed := httptest.NewTLSServer(nil) // for its certificate
	certificates, roots := borrowed.TLS.Certificates, x509.NewCertPool()
	roots.AddCert(borrowed.Certificate())
	borrowed.Close()
	for protocol, next := range map[string][]string{"HTTP/1.1": nil, "HTTP/2.0": {"h2"}} {
		synctest.Test(t, func(t *testing.T) {
			s, p := New(Options{Log: slog.New(slog.DiscardHandler)}), newPipes("192.0.2.7")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			l := tls.NewListener(p, &tls.Config{Certificates: certificates, NextProtos: next, Time: sometime})
			go func() { ended <- s.Serve(ctx, l, http.HandlerFunc(ok)) }()
			client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: next != nil,
				TLSClientConfig: &tls.Config{RootCAs: roots, Time: sometime},
				DialContext:     func(context.Context, string, string) (net.Conn, error) { return p.dial() }}}
			r, err := client.Get("https://example.com/")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Body.Close(); r.Proto != protocol || s.counts.open.Load() != 1 {
				t.Errorf("%s answers, %d connections", r.Proto, s.counts.open.Load())
			}
			client.CloseIdleConnections()
			cancel()
			if err := <-ended; err != nil || s.counts.open.Load() != 0 {
				t.Errorf("serve ended with %v, %d connections", err, s.counts.open.Load())
			}
		})
	}
}

// sometime is when the borrowed certificate is valid.
func sometime() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
