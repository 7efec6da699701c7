package cloudlink

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"roomgate/cloud"
)

// A certificate is tried at a real broker: one that wants none says nothing about it, one that does says
// whether it takes this one.
func TestTry(t *testing.T) {
	ours, other := newIssuer(t), newIssuer(t)
	server, err := tls.LoadX509KeyPair(ours.issue("server"))
	if err != nil {
		t.Fatal(err)
	}
	good, err := tls.LoadX509KeyPair(ours.issue("g"))
	if err != nil {
		t.Fatal(err)
	}
	bad, err := tls.LoadX509KeyPair(other.issue("g"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(ours.ca())
	if err != nil {
		t.Fatal(err)
	}
	believed := x509.NewCertPool()
	believed.AppendCertsFromPEM(raw)
	wants := openBroker(t, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{server}, ClientCAs: believed, ClientAuth: tls.RequireAndVerifyClientCert})
	open := openBroker(t, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{server}})
	l := New("g")
	l.o = Options{Gateway: "g", Cloud: Settings{CAFile: ours.ca()}, Log: openRig(t).o.Log}
	for name, c := range map[string]struct {
		at    string
		pair  *tls.Certificate
		cause cloud.Cause
		asked bool
	}{
		"it is taken": {wants, &good, "", true}, "of another authority": {wants, &bad, cloud.CauseCertificate, true},
		"nobody wants it": {open, &bad, "", false}, "there is none": {wants, nil, cloud.CauseTLS, true},
	} {
		got, asked := l.Try(t.Context(), "mqtts://"+c.at, c.pair)
		if got.Cause != c.cause || asked != c.asked {
			t.Errorf("%s: %+v, asked %v", name, got, asked)
		}
	}
}
