package authority

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"time"
)

// A backend has a certificate for clients under a name that no gateway has, and it is taken back as a gateway's.
func TestBackend(t *testing.T) {
	a := make90(t)
	certificate, key, err := a.Backend("backend@1")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.root)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(pair.Leaf.Subject, pair.Leaf.URIs); got != "CN=backend@1 [urn:roomgate:backend:backend@1]" || time.Until(pair.Leaf.NotAfter) < 364*24*time.Hour {
		t.Errorf("it is of %s, until %v", got, pair.Leaf.NotAfter)
	}
	for _, name := range []string{"hq", "backend", "a/b@1", "a@b,O=x", "", "../a@1"} {
		if _, _, err := a.Backend(name); !errors.Is(err, ErrBackend) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := a.Admit("backend@1"); err == nil {
		t.Error("a backend is claimed")
	}
	if err := a.Revoke("backend@1"); err != nil || !a.revoked(t)[pair.Leaf.SerialNumber.Text(16)] {
		t.Errorf("revoked are %v, %v", a.revoked(t), err)
	}
	if _, _, err := a.Backend("backend@1"); err != nil {
		t.Error(err)
	}
	if all, err := a.Gateways(); err != nil || len(all) != 1 || !all[0].Revoked.IsZero() || len(a.revoked(t)) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}
