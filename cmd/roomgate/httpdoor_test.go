package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/certificate"
	"roomgate/agent/config"
	"roomgate/agent/tlsauthority"
)

// handshake is the certificate that a door shows.
func handshake(t *testing.T, secure *tls.Config, roots *x509.CertPool) *x509.Certificate {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	go func() { _ = tls.Server(there, secure).HandshakeContext(t.Context()) }()
	c := tls.Client(here, &tls.Config{InsecureSkipVerify: roots == nil, RootCAs: roots, ServerName: "gateway"})
	if err := c.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.ConnectionState().PeerCertificates[0]
}

// A certificate that is renewed while the gateway runs is shown without a restart,
// by the door and by the room broker.
func TestRenewedCertificateIsShown(t *testing.T) {
	for _, key := range []string{"http.tls", "broker.tls"} {
		synctest.Test(t, func(t *testing.T) {
			cert, private, _ := selfSigned(t)
			c := config.Default()
			g := &gateway{config: &c, out: io.Discard, log: slog.New(slog.DiscardHandler)}
			secure, err := g.serverTLS(key, config.TLS{Certificate: cert, Key: private})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- g.loops[0].named(ctx) }()
			first := handshake(t, secure, nil)
			newCert, newPrivate, _ := selfSigned(t)
			later := time.Now().Add(50 * 365 * 24 * time.Hour)
			if err := errors.Join(os.Rename(newCert, cert), os.Rename(newPrivate, private), os.Chtimes(cert, later, later)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(certificate.LookEvery)
			synctest.Wait()
			if second := handshake(t, secure, nil); second.Equal(first) {
				t.Errorf("%s: the old certificate is shown", key)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// HTTPS is served beside plain HTTP, or in its place; what is said of the doors is so.
func TestDoors(t *testing.T) {
	cert, private, pool := selfSigned(t)
	pair := config.TLS{Certificate: cert, Key: private}
	for name, c := range map[string]struct {
		http config.HTTPTLS
		said string // schemes in order
		to   bool   // the first sends to the second
	}{
		"plain":      {config.HTTPTLS{}, "http", false},
		"in place":   {config.HTTPTLS{TLS: pair}, "https", false},
		"beside":     {config.HTTPTLS{TLS: pair, Listen: "127.0.0.1:0"}, "http https", false},
		"redirected": {config.HTTPTLS{TLS: pair, Listen: "127.0.0.1:0", Redirect: true}, "http https", true},
	} {
		all := config.Default()
		all.HTTP = config.HTTP{Listen: "127.0.0.1:0", TLS: c.http}
		var said strings.Builder
		g := &gateway{config: &all, out: &said, log: slog.New(slog.DiscardHandler)}
		doors, err := g.listen()
		if err != nil {
			t.Fatal(err)
		}
		var schemes []string
		for i, line := range strings.Split(strings.TrimSpace(said.String()), "\n") {
			scheme, address, _ := strings.Cut(strings.TrimPrefix(line, "http listening on "), "://")
			schemes = append(schemes, scheme)
			if address != doors[i].Addr().String() {
				t.Errorf("%s: door %d is at %s, said %q", name, i, doors[i].Addr(), line)
			}
			if scheme == "https" {
				go func() {
					if conn, err := doors[i].Accept(); err == nil {
						_, _ = io.WriteString(conn, "x")
						_ = conn.Close()
					}
				}()
				conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, ServerName: "gateway"})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_ = conn.Close()
			}
		}
		if strings.Join(schemes, " ") != c.said || len(schemes) != len(doors) {
			t.Errorf("%s: said %v", name, schemes)
		}
		if (doors[0].redirect != "") != c.to || c.to && !strings.HasSuffix(doors[1].Addr().String(), ":"+doors[0].redirect) {
			t.Errorf("%s: sent to %q", name, doors[0].redirect)
		}
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}
}

// A key that everybody may read ends the start with what to do, for each door.
func TestOpenKeyEndsTheStart(t *testing.T) {
	cert, private, _ := selfSigned(t)
	if err := os.Chmod(private, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"http.tls", "broker.tls"} {
		c := config.Default()
		c.HTTP.Listen = "127.0.0.1:0"
		pair := config.TLS{Certificate: cert, Key: private}
		g := &gateway{config: &c, out: io.Discard, log: slog.New(slog.DiscardHandler)}
		var err error
		if key == "http.tls" {
			c.HTTP.TLS.TLS = pair
			_, err = g.listen()
		} else {
			c.Broker.Listen, c.Broker.TLS = "127.0.0.1:0", pair
			err = g.openRoomBroker()
		}
		var f *fault
		if !errors.As(err, &f) || f.code != exitConfig || !strings.Contains(err.Error(), key+": everybody on this machine may read the private key "+private) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// Root makes the authority for the user that the service runs as.
func TestAuthorityIsTheServices(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away, so whose the authority is was not looked at")
	}
	const service = 4711
	data := t.TempDir()
	if err := os.Chown(data, service, service); err != nil {
		t.Fatal(err)
	}
	cmd := newRoot()
	cmd.SetArgs([]string{"tls", "init", "--data", data, "--config", filepath.Join(data, "none"), "--name", "gate.local"})
	cmd.SetOut(io.Discard)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".", tlsauthority.RootFile, tlsauthority.AuthorityFile, tlsauthority.GatewayFile} {
		info, err := os.Stat(filepath.Join(data, tlsauthority.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != service || s.Gid != service {
			t.Errorf("%s belongs to %d:%d", name, s.Uid, s.Gid)
		}
	}
}
