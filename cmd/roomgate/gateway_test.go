package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/agent/config"
)

// The brokers end after what uses them, so that goodbyes arrive.
func TestBrokersEndLast(t *testing.T) {
	var order []string
	until := func(name string) loop {
		return loop{name, func(ctx context.Context) error {
			<-ctx.Done()
			order = append(order, name)
			return nil
		}}
	}
	ctx, cancel := context.WithCancel(t.Context())
	g := &gateway{loops: []loop{until("agent")}, brokers: []loop{until("broker")}}
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := g.run(ctx); err != nil {
		t.Fatal(err)
	}
	if strings.Join(order, " ") != "agent broker" {
		t.Errorf("ended in the order %v", order)
	}
}

// What the loops count on is there before they begin, and is waited for no longer than
// the gateway runs.
func TestLoopsBeginSettled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var order []string
	broker := loop{"broker", func(ctx context.Context) error { <-ctx.Done(); return nil }}
	agent := loop{"agent", func(ctx context.Context) error {
		order = append(order, "agent")
		cancel()
		return nil
	}}
	settle := func(got context.Context) {
		if got.Done() == nil {
			t.Error("settles without an end")
		}
		order = append(order, "settled")
	}
	if err := (&gateway{brokers: []loop{broker}, loops: []loop{agent}, settle: settle}).run(ctx); err != nil {
		t.Fatal(err)
	}
	if strings.Join(order, " ") != "settled agent" {
		t.Errorf("began in the order %v", order)
	}
}

// Whatever fails ends the rest, with its name.
func TestOneFailureEndsAll(t *testing.T) {
	broken := errors.New("broken")
	waits := loop{"waits", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
	fails := loop{"culprit", func(context.Context) error { return broken }}
	for _, g := range []*gateway{
		{loops: []loop{waits, fails}, brokers: []loop{waits}},
		{loops: []loop{waits}, brokers: []loop{waits, fails}},
	} {
		err := g.run(t.Context())
		if !errors.Is(err, broken) || strings.Count(err.Error(), "culprit: broken") != 1 {
			t.Errorf("got %v", err)
		}
	}
	silent := loop{"quitter", func(context.Context) error { return nil }}
	if err := (&gateway{loops: []loop{silent}}).run(t.Context()); err == nil || !strings.Contains(err.Error(), "quitter") {
		t.Errorf("a loop that just ended: %v", err)
	}
}

func TestCloseInReverse(t *testing.T) {
	var order []int
	g := &gateway{}
	for i := range 3 {
		g.closers = append(g.closers, func() error { order = append(order, i); return nil })
	}
	if err := errors.Join(g.close(), g.close()); err != nil {
		t.Fatal(err)
	}
	if len(order) != 3 || order[0] != 2 || order[2] != 0 {
		t.Errorf("closed in the order %v", order)
	}
}

func TestListenWithTLS(t *testing.T) {
	certificate, key, pool := selfSigned(t)
	c := config.Default()
	c.HTTP = config.HTTP{Listen: "127.0.0.1:0", TLS: config.HTTPTLS{TLS: config.TLS{Certificate: certificate, Key: key}}}
	var said strings.Builder
	g := &gateway{config: &c, out: &said, log: slog.New(slog.DiscardHandler)}
	doors, err := g.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	l := doors[0]
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, _ = io.WriteString(conn, "hello")
			conn.Close()
		}
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: pool, ServerName: "gateway"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, _ := io.ReadAll(conn); string(got) != "hello" {
		t.Errorf("got %q", got)
	}
	if !strings.HasPrefix(said.String(), "http listening on https://127.0.0.1:") {
		t.Errorf("said %q", &said)
	}
	c.HTTP.TLS.Key = certificate
	var f *fault
	if _, err := g.listen(); !errors.As(err, &f) || f.code != exitConfig {
		t.Errorf("a wrong key: %v", err)
	}
}

func TestCannotListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = net.Listen("tcp", taken.Addr().String())
	if got := cannotListen("http", taken.Addr().String(), "listen", err).Error(); !strings.Contains(got, "in use") || !strings.Contains(got, "--listen") {
		t.Errorf("got %q", got)
	}
	_, err = net.Listen("tcp", "192.0.2.1:0") // an address of nobody
	if got := cannotListen("room broker", "192.0.2.1:0", "broker", err).Error(); !strings.HasSuffix(got, " with --broker") {
		t.Errorf("got %q", got)
	}
	low := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)}
	if got := cannotListen("http", ":80", "http.listen in /etc/roomgate/gateway.yaml", low).Error(); !strings.HasSuffix(got, "takes a right that this process does not have: choose another with http.listen in /etc/roomgate/gateway.yaml") {
		t.Errorf("got %q", got)
	}
	for cause, want := range map[syscall.Errno]int{syscall.EACCES: exitConfig, syscall.EADDRINUSE: exitFailed, syscall.EADDRNOTAVAIL: exitFailed} {
		var coded *fault // what a restart may mend is tried again by systemd
		if err := cannotListen("http", ":80", "listen", &net.OpError{Op: "listen", Err: cause}); !errors.As(err, &coded) || coded.code != want {
			t.Errorf("%v ends in %v", cause, coded)
		}
	}
}

// A service names the key and its file, who gave a flag the flag.
func TestWhatHasSaidWhereToListen(t *testing.T) {
	text := []byte("gateway: {id: g}\nhttp: {listen: ':1'}\n")
	for want, set := range map[string][]config.Setting{"http.listen in g.yaml": nil, "listen": {{Key: "http.listen", Value: ":2", Origin: "--listen"}}} {
		c, err := config.Parse("g.yaml", text, nil, set...)
		if err != nil {
			t.Fatal(err)
		}
		g := &gateway{config: c, file: "g.yaml"}
		if got := saidBy(g, "listen"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := saidBy(g, "broker"); got != "broker.listen in g.yaml" {
			t.Errorf("by default: %q", got)
		}
	}
}

func selfSigned(t *testing.T) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"gateway"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key, pool = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem"), x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	if err := errors.Join(
		os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600)); err != nil {
		t.Fatal(err)
	}
	return certificate, key, pool
}
