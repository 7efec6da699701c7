package authority

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A file that is damaged is named, and hides no other gateway. A list that is lost is written again.
func TestDamagedFiles(t *testing.T) {
	a := make90(t)
	for _, id := range []string{"hq", "oslo", "rome"} {
		if _, err := a.ask(t, id, a.admit(t, id), request(t, id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"hq", "rome"} {
		if err := a.Revoke(id); err != nil {
			t.Fatal(err)
		}
	}
	noted := filepath.Join(a.dir, noteFile)
	for _, lost := range []string{filepath.Join(a.dir, ListFile), noted} {
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
		if err := a.WriteList(); err != nil || len(a.revoked(t)) != 2 {
			t.Errorf("without %s: %v, %v", lost, a.revoked(t), err)
		}
	}
	spoil := func(path, with string) {
		if err := os.WriteFile(path, []byte(with), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil(a.file("hq"), "x")
	all, err := a.Gateways()
	if err == nil || !strings.Contains(err.Error(), a.file("hq")) || len(all) != 2 || all[0].ID != "oslo" {
		t.Errorf("%+v, %v", all, err)
	}
	if since, err := a.Revoked(); err == nil || since["rome"].IsZero() {
		t.Errorf("revoked are %v, %v", since, err)
	}
	if err := a.Revoke("oslo"); err != nil || len(a.revoked(t)) != 3 {
		t.Errorf("another one is not revoked: %v", err)
	}
	spoil(noted, "")
	for what, err := range map[string]error{"crl": a.WriteList(), "revoke": a.Revoke("oslo")} {
		if err == nil || !strings.Contains(err.Error(), noted) || !strings.Contains(err.Error(), "cloud ca crl") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(a.revoked(t)) != 3 {
		t.Error("the list has lost somebody")
	}
}

// list is what a broker reads.
func (a *Authority) list(t *testing.T) *x509.RevocationList {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(a.dir, ListFile))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	list, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Of several who make an authority in a folder at once one does, and all files are of its key.
func TestMadeAtOnce(t *testing.T) {
	for range 10 {
		dir := filepath.Join(t.TempDir(), "ca")
		var all sync.WaitGroup
		made := make([]error, 4)
		for i := range made {
			all.Go(func() { _, made[i] = Init(dir, "Acme gateways", time.Now()) })
		}
		all.Wait()
		good := 0
		for _, err := range made {
			if err == nil {
				good++
			} else if !errors.Is(err, ErrThere) {
				t.Error(err)
			}
		}
		a, err := Open(dir)
		if good != 1 || err != nil {
			t.Fatalf("%d have made one: %v", good, err)
		}
		root, err := os.ReadFile(filepath.Join(dir, RootFile))
		if err != nil || !bytes.Equal(root, encode("CERTIFICATE", a.root.Raw)) {
			t.Errorf("%s is of another key: %v", RootFile, err)
		}
		if err := a.list(t).CheckSignatureFrom(a.root); err != nil {
			t.Errorf("%s: %v", ListFile, err)
		}
	}
}
