package cloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"roomgate/cloud/broker"
)

func TestTLSAndPassword(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate of 127.0.0.1
	defer web.Close()
	b, err := broker.Open(broker.Options{
		Listen: "127.0.0.1:0", Users: map[string]string{"g": "secret"}, Log: quiet,
		TLS: &tls.Config{Certificates: web.TLS.Certificates},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer run(t, b.Run)()
	known := x509.NewCertPool()
	known.AddCert(web.Certificate())
	say := func(password string, err error) func() (string, error) {
		return func() (string, error) { return password, err }
	}
	for _, c := range []struct {
		name, scheme string
		roots        *x509.CertPool
		password     func() (string, error)
		want         string // empty: it comes up
	}{
		{"right", "mqtts", known, say("secret", nil), ""},
		{"wrong password", "mqtts", known, say("Secret", nil), "not Authorized"},
		{"password not readable", "mqtts", known, say("", errors.New("no such file")), "cloud password: no such file"},
		{"unknown authority", "mqtts", x509.NewCertPool(), say("secret", nil), "certificate"},
		{"without TLS", "mqtt", nil, say("secret", nil), "connect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLink(LinkOptions{
				URL: c.scheme + "://" + b.Addr().String(), ClientID: "g", Login: LoginAs("g", c.password),
				TLS: &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS13}, Log: quiet,
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			l.o.Up = func(context.Context) { cancel() }
			up, err := l.once(ctx)
			if up != (c.want == "") {
				t.Fatalf("up %v, error %v", up, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "ecret")) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}
