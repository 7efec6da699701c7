package authority

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/cloud"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func make90(t *testing.T) *Authority {
	t.Helper()
	a, err := Init(filepath.Join(t.TempDir(), "ca"), "Acme gateways", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func request(t *testing.T, name string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}, DNSNames: []string{"evil.example.com"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// ask is what a gateway with that secret gets for a request.
func (a *Authority) ask(t *testing.T, gateway string, secret, der []byte) (said cloud.EnrolAnswer, err error) {
	t.Helper()
	topics := cloud.Topics{Gateway: gateway}
	sealed, err := cloud.SealEnrolled(secret, topics.Up(cloud.LevelEnrol), cloud.EnrolRequest{Request: der})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.Answer(gateway, sealed)
	if err != nil {
		return said, err
	}
	if err := answer.Open(secret, topics.Down(cloud.LevelEnrol), &said); err != nil {
		t.Fatal(err)
	}
	return said, nil
}

func (a *Authority) admit(t *testing.T, gateway string) []byte {
	t.Helper()
	secret, err := a.Admit(gateway)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func leaf(t *testing.T, said cloud.EnrolAnswer) *x509.Certificate {
	t.Helper()
	if len(said.Chain) != 2 {
		t.Fatalf("%+v", said)
	}
	c, err := x509.ParseCertificate(said.Chain[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A gateway gets a certificate for clients under its own id, whatever it asks for.
func TestCertificate(t *testing.T) {
	a := make90(t)
	said, err := a.ask(t, "hq", a.admit(t, "hq"), request(t, "hq"))
	if err != nil {
		t.Fatal(err)
	}
	c, pool := leaf(t, said), x509.NewCertPool()
	pool.AddCert(a.root)
	for use, good := range map[x509.ExtKeyUsage]bool{x509.ExtKeyUsageClientAuth: true, x509.ExtKeyUsageServerAuth: false} {
		if _, err := c.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{use}}); (err == nil) != good {
			t.Errorf("for %v: %v", use, err)
		}
	}
	if got := fmt.Sprint(c.Subject, c.URIs, c.DNSNames, c.IsCA); got != "CN=hq [urn:roomgate:gateway:hq] [] false" {
		t.Errorf("it is of %s %v %v", c.Subject, c.URIs, c.DNSNames)
	}
	if life := time.Until(c.NotAfter); life > DefaultDays*24*time.Hour || life < DefaultDays*24*time.Hour-time.Minute {
		t.Errorf("it is good for %v", life)
	}
}

// The same request has the same answer, a later one another, and a stranger none.
func TestAnswers(t *testing.T) {
	a := make90(t)
	secret, der := a.admit(t, "hq"), request(t, "hq")
	first, err := a.ask(t, "hq", secret, der)
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.ask(t, "hq", secret, der)
	if err != nil || !leaf(t, again).Equal(leaf(t, first)) {
		t.Errorf("the same again: %v", err)
	}
	later, err := a.ask(t, "hq", secret, request(t, "hq"))
	if err != nil || leaf(t, later).Equal(leaf(t, first)) {
		t.Errorf("later: %v", err)
	}
	if _, err := a.ask(t, "hq", cloud.NewEnrolment(), der); !errors.Is(err, cloud.ErrEnrolment) {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := a.ask(t, "unknown", secret, der); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := a.Answer("../hq", cloud.Enrolled{}); err == nil {
		t.Error("an id with a slash is taken")
	}
	for what, bad := range map[string][]byte{"of another gateway": request(t, "rome"), "nothing": nil, "changed": append(bytes.Clone(der), 0)} {
		if said, err := a.ask(t, "hq", secret, bad); err != nil || said.Code != cloud.EnrolInvalid || said.Chain != nil {
			t.Errorf("%s: %+v, %v", what, said, err)
		}
	}
}

// A claim that was not taken ends nothing: the secret of the one before holds until the gateway has asked by the new one.
func TestClaimedAgain(t *testing.T) {
	a := make90(t)
	old := a.admit(t, "hq")
	if _, err := a.ask(t, "hq", old, request(t, "hq")); err != nil {
		t.Fatal(err)
	}
	renewed := a.admit(t, "hq")
	for range 7 { // and who claims again before it was heard does no harm
		a.admit(t, "hq")
	}
	if _, err := a.ask(t, "hq", old, request(t, "hq")); err != nil {
		t.Errorf("before the claim is taken: %v", err)
	}
	if _, err := a.ask(t, "hq", renewed, request(t, "hq")); err != nil {
		t.Error(err)
	}
	if _, err := a.ask(t, "hq", old, request(t, "hq")); !errors.Is(err, cloud.ErrEnrolment) {
		t.Errorf("the secret of before: %v", err)
	}
}

// revoked are the serials that a broker reads.
func (a *Authority) revoked(t *testing.T) map[string]bool {
	t.Helper()
	list := a.list(t)
	if err := list.CheckSignatureFrom(a.root); err != nil || !list.NextUpdate.Equal(a.root.NotAfter) {
		t.Fatalf("the list ends %v: %v", list.NextUpdate, err)
	}
	all := map[string]bool{}
	for _, e := range list.RevokedCertificateEntries {
		all[e.SerialNumber.Text(16)] = true
	}
	return all
}

// All certificates of a gateway that may be good are taken back, and no other is given before the next claim.
func TestRevoke(t *testing.T) {
	a := make90(t)
	if len(a.revoked(t)) != 0 {
		t.Error("the first list is not empty")
	}
	secret := a.admit(t, "hq")
	one, _ := a.ask(t, "hq", secret, request(t, "hq"))
	two, _ := a.ask(t, "hq", secret, request(t, "hq"))
	other, _ := a.ask(t, "rome", a.admit(t, "rome"), request(t, "rome"))
	if err := a.Revoke("nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("nobody: %v", err)
	}
	for range 2 {
		if err := a.Revoke("hq"); err != nil {
			t.Fatal(err)
		}
		list := a.revoked(t)
		if len(list) != 2 || !list[leaf(t, one).SerialNumber.Text(16)] || !list[leaf(t, two).SerialNumber.Text(16)] || list[leaf(t, other).SerialNumber.Text(16)] {
			t.Errorf("the list has %v", list)
		}
		if said, err := a.ask(t, "hq", secret, request(t, "hq")); err != nil || said.Code != cloud.EnrolRevoked || !strings.Contains(said.Reason, "claim it again") {
			t.Errorf("a revoked one gets %+v, %v", said, err)
		}
	}
	if said, err := a.ask(t, "hq", a.admit(t, "hq"), request(t, "hq")); err != nil || len(said.Chain) == 0 {
		t.Errorf("claimed again: %+v, %v", said, err)
	}
	all, err := a.Gateways()
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if got := fmt.Sprintln(all[0].ID, all[0].Revoked.IsZero(), all[1].ID, all[1].Until.IsZero()); got != "hq true rome false\n" {
		t.Errorf("%+v", all)
	}
	if len(a.revoked(t)) != 2 {
		t.Error("the old ones are good again")
	}
	a.Now = func() time.Time { return time.Now().Add(keptTaken + 100*24*time.Hour) }
	if err := a.Revoke("hq"); err != nil || len(a.revoked(t)) != 0 {
		t.Errorf("what has ended stays in the list: %v, %v", a.revoked(t), err)
	}
}

// One authority in a folder, which nobody else may read, and which several processes use.
func TestFolder(t *testing.T) {
	a := make90(t)
	for name, mode := range map[string]fs.FileMode{RootFile: 0o644, KeyFile: 0o600, ListFile: 0o644, gatewayDir: fs.ModeDir | 0o700} {
		if info, err := os.Stat(filepath.Join(a.dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := Init(a.dir, "another", time.Now()); !errors.Is(err, ErrThere) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("where none is: %v", err)
	}
	var all sync.WaitGroup
	for _, id := range []string{"a", "b", "a", "b"} {
		all.Go(func() {
			b, err := Open(a.dir)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := b.Admit(id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := os.Chmod(filepath.Join(a.dir, KeyFile), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(a.dir); !errors.Is(err, errOpen) {
		t.Errorf("a key that others may read: %v", err)
	}
}

// An authority that ends soon gives nothing longer than itself, and then nothing.
func TestAuthorityEnds(t *testing.T) {
	a := make90(t)
	secret := a.admit(t, "hq")
	a.Now = func() time.Time { return time.Now().Add(Lifetime - 24*time.Hour) }
	if said, err := a.ask(t, "hq", secret, request(t, "hq")); err != nil || !leaf(t, said).NotAfter.Equal(a.Ends()) {
		t.Errorf("a day before its end: %v", err)
	}
	a.Now = func() time.Time { return time.Now().Add(Lifetime + 24*time.Hour) }
	if _, err := a.ask(t, "hq", secret, request(t, "hq")); err == nil || !strings.Contains(err.Error(), "make another one") {
		t.Errorf("after its end: %v", err)
	}
}
