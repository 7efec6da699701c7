package cloudlink

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/broker"
)

// issuer is an authority of a test.
type issuer struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newIssuer(t *testing.T) issuer {
	i := issuer{t: t, dir: t.TempDir()}
	i.cert, i.key = i.sign("authority", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	i.write("ca.pem", "CERTIFICATE", i.cert.Raw)
	return i
}

func (i issuer) sign(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, by := i.cert, i.key
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		i.t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		i.t.Fatal(err)
	}
	return c, key
}

func (i issuer) write(name, kind string, der []byte) string {
	i.t.Helper()
	path := filepath.Join(i.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		i.t.Fatal(err)
	}
	return path
}

// issue writes a certificate of 127.0.0.1, good for servers and clients.
func (i issuer) issue(name string) (certFile, keyFile string) {
	i.t.Helper()
	c, key := i.sign(name, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		i.t.Fatal(err)
	}
	return i.write(name+".pem", "CERTIFICATE", c.Raw), i.write(name+".key", "PRIVATE KEY", raw)
}

func (i issuer) ca() string { return filepath.Join(i.dir, "ca.pem") }

// reach connects once and says why that failed, or nil.
func reach(t *testing.T, address string, s Settings) error {
	t.Helper()
	secure, err := TLS(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	up := false
	log := &reasons{end: cancel}
	err = cloud.NewLink(cloud.LinkOptions{URL: "mqtts://" + address, ClientID: "g", TLS: secure, Log: slog.New(log),
		Up: func(context.Context) { up = true; cancel() }}).Run(ctx)
	if up {
		return err
	}
	return errors.Join(err, errors.New(log.why))
}

// reasons is a log that keeps why a link was not up, and ends the try.
type reasons struct {
	end context.CancelFunc
	why string
}

func (r *reasons) Enabled(context.Context, slog.Level) bool { return true }
func (r *reasons) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *reasons) WithGroup(string) slog.Handler            { return r }

// Handle keeps the reason of a line.
func (r *reasons) Handle(_ context.Context, line slog.Record) error {
	line.Attrs(func(a slog.Attr) bool {
		if a.Key == "reason" && r.why == "" {
			r.why = a.Value.String()
			r.end()
		}
		return true
	})
	return nil
}

// openBroker starts a real broker with TLS.
func openBroker(t *testing.T, server *tls.Config) string {
	t.Helper()
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true, TLS: server, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; _ = b.Close() })
	return b.Addr().String()
}

// TLS 1.2 goes to the cloud only if the configuration names it, whatever the broker
// or somebody on the way offers.
func TestTLSVersions(t *testing.T) {
	i := newIssuer(t)
	pair, err := tls.LoadX509KeyPair(i.issue("server"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most    uint16 // of the broker
		allowed bool   // tls_min: 1.2
		want    string
	}{
		{tls.VersionTLS13, false, ""},
		{tls.VersionTLS12, false, "the broker speaks no TLS 1.3"},
		{tls.VersionTLS12, true, ""},
		{tls.VersionTLS11, true, "protocol version"},
	} {
		address := openBroker(t, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: c.most})
		err := reach(t, address, Settings{CAFile: i.ca(), TLS12: c.allowed})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, allowed %v: %v, want %q", tls.VersionName(c.most), c.allowed, err, c.want)
		}
	}
}

// clientCases are who shows what to a broker that wants a certificate of its own
// authority.
func clientCases(own, other issuer) map[string]struct {
	s    Settings
	good bool
} {
	cert, key := own.issue("gateway")
	strange, strangeKey := other.issue("gateway")
	return map[string]struct {
		s    Settings
		good bool
	}{
		"its own":              {Settings{CAFile: own.ca(), ClientCertificate: cert, ClientKey: key}, true},
		"none":                 {Settings{CAFile: own.ca()}, false},
		"another authority's":  {Settings{CAFile: own.ca(), ClientCertificate: strange, ClientKey: strangeKey}, false},
		"to a broker not ours": {Settings{CAFile: other.ca(), ClientCertificate: cert, ClientKey: key}, false},
		"another's key":        {Settings{CAFile: own.ca(), ClientCertificate: cert, ClientKey: strangeKey}, false},
	}
}

func TestMutualTLS(t *testing.T) {
	own, other := newIssuer(t), newIssuer(t)
	pair, err := tls.LoadX509KeyPair(own.issue("server"))
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AddCert(own.cert)
	address := openBroker(t, &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known, MinVersion: tls.VersionTLS13})
	for name, c := range clientCases(own, other) {
		if err := reach(t, address, c.s); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Mosquitto takes and refuses the same.
func TestMutualTLSWithMosquitto(t *testing.T) {
	path := "/usr/sbin/mosquitto" // not on everybody's path
	if _, err := os.Stat(path); err != nil {
		t.Skip("mosquitto is not installed (Debian: apt-get install mosquitto), so certificates were not tried against it")
	}
	own, other := newIssuer(t), newIssuer(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close() // mosquitto takes it
	_, port, _ := net.SplitHostPort(address)
	cert, key := own.issue("server")
	conf := own.write("mosquitto.conf", "X", nil)
	text := "user root\nlistener " + port + " 127.0.0.1\nallow_anonymous true\nrequire_certificate true\ncafile " + own.ca() + "\ncertfile " + cert + "\nkeyfile " + key + "\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-c", conf)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	listens(t, address)
	for name, c := range clientCases(own, other) {
		if err := reach(t, address, c.s); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func listens(t *testing.T, address string) {
	t.Helper()
	for range 500 {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond) // until another process listens
	}
	t.Fatal("mosquitto does not listen")
}

// A renewed client certificate is shown at the next connection, without a restart.
func TestRenewedClientCertificate(t *testing.T) {
	old, renewed := newIssuer(t), newIssuer(t)
	cert, key := old.issue("gateway")
	secure, err := TLS(Settings{ClientCertificate: cert, ClientKey: key})
	if err != nil {
		t.Fatal(err)
	}
	newCert, newKey := renewed.issue("gateway")
	later := time.Now().Add(time.Hour)
	if err := errors.Join(os.Rename(newCert, cert), os.Rename(newKey, key), os.Chtimes(cert, later, later)); err != nil {
		t.Fatal(err)
	}
	shown, err := secure.GetClientCertificate(nil)
	if err != nil || shown.Leaf.CheckSignatureFrom(renewed.cert) != nil {
		t.Errorf("the old one is shown: %v", err)
	}
}

func TestOpenClientKeyIsRefused(t *testing.T) {
	cert, key := newIssuer(t).issue("gateway")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := TLS(Settings{ClientCertificate: cert, ClientKey: key}); err == nil || !strings.Contains(err.Error(), "cloud.client_certificate: everybody on this machine may read the private key") {
		t.Errorf("%v", err)
	}
}
