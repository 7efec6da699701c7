package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"roomgate/cloud"
)

// A claim that waits while its gateway is revoked brings no certificate, nor does any before it; the next one does.
func TestRevokedWhileAClaimWaits(t *testing.T) {
	a := make90(t)
	first := a.admit(t, "hq")
	if _, err := a.ask(t, "hq", first, request(t, "hq")); err != nil {
		t.Fatal(err)
	}
	waits := a.admit(t, "hq")
	if err := a.Revoke("hq"); err != nil {
		t.Fatal(err)
	}
	for what, secret := range map[string][]byte{"of before": first, "of the claim that waits": waits} {
		if said, err := a.ask(t, "hq", secret, request(t, "hq")); err != nil || said.Code != cloud.EnrolRevoked || said.Chain != nil {
			t.Errorf("the secret %s: %+v, %v", what, said, err)
		}
	}
	next := a.admit(t, "hq")
	if said, err := a.ask(t, "hq", waits, request(t, "hq")); err != nil || said.Code != cloud.EnrolRevoked {
		t.Errorf("claimed again, but not taken: %+v, %v", said, err)
	}
	if said, err := a.ask(t, "hq", next, request(t, "hq")); err != nil || len(said.Chain) == 0 {
		t.Errorf("claimed again: %+v, %v", said, err)
	}
	for what, secret := range map[string][]byte{"of before": first, "of the claim that waited": waits} {
		if said, err := a.ask(t, "hq", secret, request(t, "hq")); !errors.Is(err, cloud.ErrEnrolment) {
			t.Errorf("then the secret %s: %+v, %v", what, said, err)
		}
	}
	if len(a.revoked(t)) != 1 {
		t.Errorf("the list has %v", a.revoked(t))
	}
}

// Requests that come again bring no other certificate, and write nothing.
func TestReplays(t *testing.T) {
	a := make90(t)
	secret := a.admit(t, "hq")
	old := [][]byte{request(t, "hq"), request(t, "hq"), request(t, "hq")}
	for _, der := range old {
		if _, err := a.ask(t, "hq", secret, der); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(a.file("hq"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if said, err := a.ask(t, "hq", secret, old[i%2]); err != nil || len(said.Chain) == 0 {
			t.Fatalf("%+v, %v", said, err)
		}
	}
	after, err := os.Stat(a.file("hq"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("a replay has written the file: %v", err)
	}
	for range mostLeaves {
		if _, err := a.ask(t, "hq", secret, request(t, "hq")); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := a.ask(t, "hq", secret, old[0]); err != nil || said.Code != cloud.EnrolInvalid {
		t.Errorf("long ago: %+v, %v", said, err)
	}
	if s, _, _ := a.read("hq"); len(s.Issued) != len(old)+mostLeaves {
		t.Errorf("%d certificates are known", len(s.Issued))
	}
	a.Now = func() time.Time { return time.Now().Add(91 * 24 * time.Hour) }
	if said, err := a.ask(t, "hq", secret, old[0]); err != nil || len(said.Chain) == 0 {
		t.Errorf("a gateway that was off until all had ended: %+v, %v", said, err)
	}
}

// What is known of a gateway is bounded. A certificate that may be good is forgotten for none.
func TestMostCertificates(t *testing.T) {
	now := time.Now()
	s := &stored{}
	for i := range mostIssued {
		if err := s.hold(held{Serial: "a", Until: now.Add(time.Hour), Leaf: []byte{1}}, now); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if err := s.hold(held{Serial: "b", Until: now.Add(time.Hour)}, now); !errors.Is(err, errMany) {
		t.Errorf("one more: %v", err)
	}
	if err := s.hold(held{Serial: "b", Until: now.Add(3 * time.Hour)}, now.Add(2*time.Hour)); err != nil || len(s.Issued) != mostIssued || s.Issued[mostIssued-1].Serial != "b" {
		t.Errorf("after their end: %v, %d", err, len(s.Issued))
	}
	s.takeBack(now)
	if err := s.hold(held{Serial: "c", Until: now.Add(time.Hour)}, now); err != nil || len(s.Issued) != mostIssued {
		t.Errorf("revoked: %v, %d", err, len(s.Issued))
	}
}

// A clock that is ahead for a while forgets no certificate, and one that is behind makes none.
func TestWrongClock(t *testing.T) {
	a := make90(t)
	secret := a.admit(t, "hq")
	for range 3 {
		if _, err := a.ask(t, "hq", secret, request(t, "hq")); err != nil {
			t.Fatal(err)
		}
	}
	a.Now = func() time.Time { return time.Now().Add(100 * 24 * time.Hour) }
	if _, err := a.ask(t, "hq", secret, request(t, "hq")); err != nil {
		t.Fatal(err)
	}
	rome := a.admit(t, "rome")
	if err := a.Revoke("rome"); err != nil {
		t.Fatal(err)
	}
	a.Now = nil
	if said, err := a.ask(t, "hq", secret, request(t, "hq")); err == nil || !strings.Contains(err.Error(), "set the clock") {
		t.Errorf("before the last one: %+v, %v", said, err)
	}
	if err := a.Revoke("hq"); err != nil || len(a.revoked(t)) != 4 {
		t.Errorf("the list has %v, %v", a.revoked(t), err)
	}
	a.Now = func() time.Time { return time.Now().Add(200 * 24 * time.Hour) }
	if err := a.Revoke("rome"); err != nil || len(a.revoked(t)) != 4 {
		t.Errorf("by a clock that is ahead the list has %v, %v", a.revoked(t), err)
	}
	a.Now = nil
	for gateway, secret := range map[string][]byte{"hq": a.admit(t, "hq"), "rome": a.admit(t, "rome")} {
		if said, err := a.ask(t, gateway, secret, request(t, gateway)); err != nil || len(said.Chain) == 0 {
			t.Errorf("%s claimed again: %+v, %v", gateway, said, err)
		}
	}
	if _, err := a.ask(t, "rome", rome, request(t, "rome")); !errors.Is(err, cloud.ErrEnrolment) {
		t.Error(err)
	}
}

// A list that was written while the clock was six hours ahead is good at once.
func TestListOfAClockAhead(t *testing.T) {
	a := make90(t)
	a.Now = func() time.Time { return time.Now().Add(6 * time.Hour) }
	if err := a.WriteList(); err != nil {
		t.Fatal(err)
	}
	if list := a.list(t); list.ThisUpdate.After(time.Now()) {
		t.Errorf("it is good from %v", list.ThisUpdate)
	}
}

// The secret of a claim that a gateway may have taken is pushed out by no other one.
func TestClaimsThatWait(t *testing.T) {
	a := make90(t)
	first := a.admit(t, "hq")
	for range mostClaims - 1 {
		a.admit(t, "hq")
	}
	if _, err := a.Admit("hq"); !errors.Is(err, errWaiting) {
		t.Errorf("one more: %v", err)
	}
	a.Now = func() time.Time { return time.Now().Add(claimAge + time.Hour) }
	a.admit(t, "hq")
	if s, _, _ := a.read("hq"); len(s.Next) != mostClaims {
		t.Errorf("%d wait", len(s.Next))
	}
	a.Now = nil
	b := make90(t)
	taken := b.admit(t, "hq")
	for range 20 {
		b.admit(t, "hq")
	}
	if said, err := b.ask(t, "hq", taken, request(t, "hq")); err != nil || len(said.Chain) == 0 {
		t.Errorf("the first of 21: %+v, %v", said, err)
	}
	if _, err := a.ask(t, "hq", first, request(t, "hq")); !errors.Is(err, cloud.ErrEnrolment) {
		t.Errorf("a month later: %v", err)
	}
}

// Keys are of P-256.
func TestKeys(t *testing.T) {
	a := make90(t)
	secret := a.admit(t, "hq")
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for what, key := range map[string]any{"P-224": p224, "RSA": other} {
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "hq"}}, key)
		if err != nil {
			t.Fatal(err)
		}
		if said, err := a.ask(t, "hq", secret, der); err != nil || said.Code != cloud.EnrolInvalid || !strings.Contains(said.Reason, "P-256") {
			t.Errorf("%s: %+v, %v", what, said, err)
		}
	}
}
