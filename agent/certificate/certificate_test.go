package certificate

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files are the two files of a certificate.
type files struct{ certificate, key string }

func (f files) write(t *testing.T, certificate, key []byte) {
	t.Helper()
	for path, raw := range map[string][]byte{f.certificate: certificate, f.key: key} {
		if raw == nil {
			continue
		}
		before, _ := os.Stat(path)
		if err := os.WriteFile(path, raw, 0o640); err != nil {
			t.Fatal(err)
		}
		if before != nil { // as later as a renewal is, whatever the file system counts in
			if err := os.Chtimes(path, time.Time{}, before.ModTime().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// issue makes a certificate, which ends then.
func issue(t *testing.T, serial int64, from, to time.Time) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"gateway"}, NotBefore: from, NotAfter: to}
	der, err1 := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	raw, err2 := x509.MarshalPKCS8PrivateKey(private)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

func first(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	f := files{filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")}
	certificate, key := issue(t, 1, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	f.write(t, certificate, key)
	return f
}

func (p *Pair) serial() int64 { return p.Current().Leaf.SerialNumber.Int64() }

// Two files are renewed one after the other, and what is between is not served.
func TestRenewed(t *testing.T) {
	f := first(t)
	p, err := Read("http.tls", f.certificate, f.key)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := p.Look(); changed || err != nil {
		t.Errorf("nothing has changed: %v, %v", changed, err)
	}
	certificate, key := issue(t, 2, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	f.write(t, certificate, nil)
	for range 2 {
		if changed, err := p.Look(); changed || err == nil || !strings.HasPrefix(err.Error(), "http.tls: ") || p.serial() != 1 {
			t.Errorf("half renewed: %v, %v, serves %d", changed, err, p.serial())
		}
	}
	f.write(t, nil, key)
	if changed, err := p.Look(); !changed || err != nil || p.serial() != 2 {
		t.Errorf("renewed: %v, %v, serves %d", changed, err, p.serial())
	}
	if err := os.Remove(f.key); err != nil {
		t.Fatal(err)
	}
	if c, err := p.Show(nil); err != nil || c.Leaf.SerialNumber.Int64() != 2 {
		t.Errorf("without its file: %v", err)
	}
}

// A key that everybody may read is refused with what to do, at the start and later.
func TestOpenKey(t *testing.T) {
	for mode, open := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o400: false, 0o644: true, 0o604: true, 0o602: true, 0o666: true} {
		f := first(t)
		if err := os.Chmod(f.key, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Read("broker.tls", f.certificate, f.key)
		if errors.Is(err, ErrOpenKey) != open || (err != nil) != open {
			t.Errorf("%04o: %v", mode, err)
		}
		if open && (!strings.Contains(err.Error(), "broker.tls: everybody on this machine may read the private key "+f.key) || !strings.Contains(err.Error(), "chmod 640")) {
			t.Errorf("%04o says %v", mode, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	f := first(t)
	for _, c := range [][2]string{{f.certificate + "x", f.key}, {f.certificate, f.key + "x"}, {f.key, f.key}, {f.certificate, f.certificate}} {
		if err := os.Chmod(f.certificate, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := Read("http.tls", c[0], c[1]); err == nil || !strings.HasPrefix(err.Error(), "http.tls: ") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// said is a log that may be read while it is written.
type said struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write writes alone.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

func (s *said) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.String(), text)
}

// Run takes a renewed certificate by itself, and says each thing once.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := first(t)
		p, err := Read("http.tls", f.certificate, f.key)
		if err != nil {
			t.Fatal(err)
		}
		var log said
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- p.Run(ctx, func() (time.Time, bool) { return time.Now(), false }, slog.New(slog.NewTextHandler(&log, nil)))
		}()
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		if wait(time.Minute); log.count("msg") != 0 {
			t.Errorf("nothing is wrong: %s", &log)
		}
		if wait(2 * time.Hour); log.count("clients refuse") != 1 || log.count("so it may be the clock") != 1 {
			t.Errorf("over: %s", &log)
		}
		certificate, key := issue(t, 2, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		f.write(t, certificate, nil)
		if wait(3 * LookEvery); p.serial() != 1 || log.count("cannot be used") != 1 {
			t.Errorf("half renewed: %s", &log)
		}
		f.write(t, nil, key)
		if wait(LookEvery); p.serial() != 2 || log.count("a renewed certificate is used") != 1 {
			t.Errorf("renewed: %s", &log)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestJudge(t *testing.T) {
	f := first(t)
	p, err := Read("http.tls", f.certificate, f.key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at      time.Time
		trusted bool
		want    string
	}{
		{time.Now(), true, ""},
		{time.Now(), false, ""},
		{time.Now().Add(24 * time.Hour), true, "renew it"},
		{time.Unix(0, 0), true, "check the clock"},
		{time.Unix(0, 0), false, "the clock is not trusted and shows 1970-01-01"},
	} {
		if got := Judge(p.Current(), c.at, c.trusted); (got == "") != (c.want == "") || !strings.HasSuffix(strings.TrimSuffix(got, ", so it may be the clock that is wrong"), c.want) {
			t.Errorf("%s %v: %q", c.at, c.trusted, got)
		}
	}
}
