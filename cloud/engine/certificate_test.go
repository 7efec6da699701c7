package engine

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/authority"
	"roomgate/cloud/cell"
)

// certified is the certificate that an authority gives a gateway.
func certified(t *testing.T, ca *authority.Authority, gateway string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: gateway}}, key)
	if err != nil {
		t.Fatal(err)
	}
	topics := cloud.Topics{Gateway: gateway}
	secret, err := ca.Admit(gateway)
	if err != nil {
		t.Fatal(err)
	}
	request, err := cloud.SealEnrolled(secret, topics.Up(cloud.LevelEnrol), cloud.EnrolRequest{Request: der})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := ca.Answer(gateway, request)
	if err != nil {
		t.Fatal(err)
	}
	var said cloud.EnrolAnswer
	if err := answer.Open(secret, topics.Down(cloud.LevelEnrol), &said); err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: said.Chain, PrivateKey: key}
}

// ofServer writes a certificate of 127.0.0.1 and its key, and returns who trusts it.
func ofServer(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "server.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeFile(t, filepath.Join(dir, "server.key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return pool
}

// NATS lets in whom the certificate names, with the lines of the example for that, and nobody else.
func TestCertificatesAtNATS(t *testing.T) {
	logins := &cell.Logins{Certificates: true}
	for _, id := range []string{"hq", "rome"} {
		if _, err := logins.Admit(id); err != nil {
			t.Fatal(err)
		}
	}
	n := newNATS(t, 1, logins)
	n.stop(0)
	node := n.nodes[0]
	trusts, dir := ofServer(t, node.dir), filepath.Join(t.TempDir(), "ca")
	ca, err := authority.Init(dir, "gateways", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	other, err := authority.Init(filepath.Join(t.TempDir(), "ca"), "strangers", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(dir, authority.RootFile), filepath.Join(node.dir, "ca.crt"))
	raw, err := os.ReadFile(filepath.Join(node.dir, "one.conf"))
	if err != nil {
		t.Fatal(err)
	}
	const commented = "  # tls { cert_file: \"server.pem\", key_file: \"server.key\", ca_file: \"ca.crt\", verify_and_map: true }"
	if !strings.Contains(string(raw), commented) {
		t.Fatal("one.conf has no line for certificates")
	}
	writeFile(t, filepath.Join(node.dir, "one.conf"), strings.Replace(string(raw), commented, strings.Replace(commented, "# ", "", 1), 1))
	n.start(0)
	try := func(pair *tls.Certificate) cloud.Cause {
		secure := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: trusts, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		return cloud.Try(ctx, cloud.LinkOptions{URL: "mqtts://" + node.mqtt, ClientID: "roomgate-hq", TLS: secure, Log: quiet}).Cause
	}
	if cause := try(certified(t, ca, "hq")); cause != "" {
		t.Errorf("a gateway of the cell: %s", cause)
	}
	hears(t, "mqtts://"+node.mqtt, trusts, ca, certified(t, ca, "hq"))
	for name, pair := range map[string]*tls.Certificate{"none": {}, "of another authority": certified(t, other, "hq"), "of a gateway in no cell": certified(t, ca, "oslo")} {
		if cause := try(pair); cause == "" {
			t.Errorf("a certificate %s is let in", name)
		}
	}
}

// hears checks that a backend with a certificate of the authority, and no password, hears what a gateway sends.
func hears(t *testing.T, url string, trusts *x509.CertPool, ca *authority.Authority, gateway *tls.Certificate) {
	t.Helper()
	certificate, key, err := ca.Backend(cell.BackendUser(1))
	if err != nil {
		t.Fatal(err)
	}
	own, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	secure := func(pair *tls.Certificate) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: trusts, Certificates: []tls.Certificate{*pair}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	heard, up := make(chan cloud.Message, 1), make(chan struct{}, 1)
	backend := cloud.NewLink(cloud.LinkOptions{URL: url, ClientID: "backend", TLS: secure(&own), Log: quiet, Fleeting: true, Subscribe: []string{"roomgate/v1/+/up/event"},
		Up: func(context.Context) { up <- struct{}{} }, Receive: func(_ context.Context, m cloud.Message) error { heard <- m; return nil }})
	topics := cloud.Topics{Gateway: "hq"}
	sender := cloud.NewLink(cloud.LinkOptions{URL: url, ClientID: "roomgate-hq", TLS: secure(gateway), Log: quiet, Fleeting: true})
	var ended sync.WaitGroup
	for _, l := range []*cloud.Link{backend, sender} {
		ended.Go(func() { _ = l.Run(ctx) })
	}
	defer ended.Wait()
	defer cancel()
	select {
	case <-up:
	case <-ctx.Done():
		t.Fatalf("the backend is not let in: %+v", backend.Trouble())
	}
	if err := sender.Publish(ctx, cloud.Message{Topic: topics.Up(cloud.LevelEvent), Payload: []byte("x"), QoS: 1}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-ctx.Done():
		t.Error("the backend hears nothing")
	}
}
