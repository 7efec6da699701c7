package camera_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"image/jpeg"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/drivers"
	"roomgate/drivers/camera"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// with runs a test in virtual time on a camera and its driver.
func with(t *testing.T, p *peers.Camera, o *camera.Options, test func(t *testing.T, d drivers.Driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		if err := w.Add("room", "camera", p); err != nil {
			t.Fatal(err)
		}
		d, err := o.Open(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		test(t, d)
	})
}

func snapshot(t *testing.T, d drivers.Driver) (drivers.Status, error) {
	t.Helper()
	return d.Do(t.Context(), drivers.Command{Action: drivers.ActSnapshot})
}

func TestSnapshot(t *testing.T) {
	p := part("digest")
	with(t, p, options(), func(t *testing.T, d drivers.Driver) {
		s, err := snapshot(t, d)
		if err != nil {
			t.Fatal(err)
		}
		m, err := jpeg.Decode(bytes.NewReader(s.Picture.Data))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(s.Picture.Data)
		if s.Details["width"] != m.Bounds().Dx() || s.Details["height"] != m.Bounds().Dy() ||
			s.Details["bytes"] != len(s.Picture.Data) || s.Details["sha256"] != hex.EncodeToString(sum[:]) {
			t.Errorf("details %v do not fit the picture", s.Details)
		}
		if s.Picture.ContentType != "image/jpeg" || s.Value != drivers.On {
			t.Errorf("got %q, value %q", s.Picture.ContentType, s.Value)
		}
	})
}

func TestLogin(t *testing.T) {
	for _, c := range []struct {
		camera, algorithm, auth, password string
		want                              string // part of the error, empty for a picture
	}{
		{"none", "", "auto", "s3same", ""},
		{"none", "", "digest", "s3same", ""},
		{"basic", "", "auto", "s3same", ""},
		{"basic", "", "basic", "s3same", ""},
		{"basic", "", "digest", "s3same", "refuses the login"}, // never downgraded
		{"digest", "", "auto", "s3same", ""},
		{"digest", "", "digest", "s3same", ""},
		{"digest", "SHA-256", "auto", "s3same", ""},
		{"digest", "", "basic", "s3same", "refuses the login"},
		{"both", "", "auto", "s3same", ""},
		{"both", "", "basic", "s3same", ""},
		{"basic", "", "auto", "wr0ng", "refuses the login"},
		{"digest", "", "auto", "wr0ng", "refuses the login"},
		{"both", "", "auto", "wr0ng", "refuses the login"},
	} {
		t.Run(strings.Join([]string{c.camera, c.algorithm, c.auth, c.password}, " "), func(t *testing.T) {
			p, o := part(c.camera), options()
			p.Algorithm, o.Auth, o.Password = c.algorithm, c.auth, drivers.Secret(c.password)
			with(t, p, o, func(t *testing.T, d drivers.Driver) {
				for range 2 { // a nonce is good once
					_, err := snapshot(t, d)
					expect(t, err, c.want)
				}
				if _, err := d.Poll(t.Context()); err != nil {
					t.Errorf("Poll must not depend on the login: %v", err)
				}
			})
		})
	}
}

// expect checks that an error says want (empty: that there is none), and
// never a secret.
func expect(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q", err, want)
	case err != nil && (strings.Contains(err.Error(), "s3same") || strings.Contains(err.Error(), "wr0ng")):
		t.Errorf("the error shows the password: %v", err)
	}
}

func TestPasswordFileIsReadEachTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	o := options()
	o.Password, o.PasswordFile = "", file
	with(t, part("digest"), o, func(t *testing.T, d drivers.Driver) {
		_, err := snapshot(t, d)
		expect(t, err, "read secret")
		if err := os.WriteFile(file, []byte("s3same\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = snapshot(t, d)
		expect(t, err, "")
	})
}

func TestMoods(t *testing.T) {
	for _, c := range []struct{ mood, snapshot, poll string }{
		{"well", "", ""},
		{"fail", "camera answers 503", "camera answers 503"},
		{"truncate", "ends too early", ""},
		{"abort", "broke off", ""},
		{"hang", "deadline exceeded", "deadline exceeded"},
		{"endless", "more than", ""},
		{"else", "not a JPEG", ""},
		{"stray", "another host", "another host"},
	} {
		t.Run(c.mood, func(t *testing.T) {
			p, o := part("none"), options()
			o.MaxBytes = 64 << 10
			with(t, p, o, func(t *testing.T, d drivers.Driver) {
				p.Mood(c.mood)
				began := time.Now()
				s, err := snapshot(t, d)
				expect(t, err, c.snapshot)
				if err != nil && s.Picture != nil {
					t.Error("there is a picture beside the error")
				}
				_, err = d.Poll(t.Context())
				expect(t, err, c.poll)
				if errors.Is(err, drivers.ErrOffline) {
					t.Errorf("a camera that is there is called offline: %v", err)
				}
				if took := time.Since(began); took > 2*o.Timeout {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestTooBig(t *testing.T) {
	o := options()
	o.MaxBytes = 1 << 10
	with(t, part("none"), o, func(t *testing.T, d drivers.Driver) {
		_, err := snapshot(t, d)
		expect(t, err, "more than 1024 bytes")
	})
}

func TestPrivacySwitch(t *testing.T) {
	p, o := part("none"), options()
	o.Start = drivers.Off
	with(t, p, o, func(t *testing.T, d drivers.Driver) {
		do := func(action, want string) {
			t.Helper()
			s, err := d.Do(t.Context(), drivers.Command{Action: action})
			if err != nil || s.Value != want {
				t.Errorf("%s: %q, %v", action, s.Value, err)
			}
			all, err := d.Poll(t.Context())
			if err != nil || all[0].Value != want {
				t.Errorf("after %s: %v, %v", action, all, err)
			}
		}
		refused := func() {
			t.Helper()
			_, err := snapshot(t, d)
			expect(t, err, "switched off")
		}
		refused()
		do(drivers.ActOn, drivers.On)
		if _, err := snapshot(t, d); err != nil {
			t.Error(err)
		}
		do(drivers.ActOff, drivers.Off)
		refused()
		if got := p.Pictures(); got != 1 {
			t.Errorf("the camera gave %d pictures away, want 1", got)
		}
		p.Unplug()
		if _, err := d.Do(t.Context(), drivers.Command{Action: drivers.ActOn}); !errors.Is(err, drivers.ErrOffline) {
			t.Errorf("on without a camera gives %v", err)
		}
		refused()
		p.Plug()
		do(drivers.ActOn, drivers.On)
		p.Unplug()
		if _, err := d.Do(t.Context(), drivers.Command{Action: drivers.ActOff}); err != nil {
			t.Errorf("privacy must not need the camera: %v", err)
		}
	})
}

func TestProbes(t *testing.T) {
	for probe, source := range map[string]string{"head": "answers and asks for its password (http 401)", "get": "answers and asks for its password (http 401)", "tcp": "tcp connection"} {
		o := options()
		o.Probe = probe
		with(t, part("digest"), o, func(t *testing.T, d drivers.Driver) {
			s, err := d.Poll(t.Context())
			if err != nil || s[0].Source != source {
				t.Errorf("%s: %v, %v", probe, s, err)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"http://10.0.0.8/snapshot.jpg":       "",
		"http://10.0.0.8:80/snapshot.jpg?a=": "",
		"http://10.0.0.8/again":              "", // a redirect on the same host
		"http://10.0.0.8/nothing?pw=s3same":  "check url",
		"http://10.0.0.9/snapshot.jpg":       "does not answer",
	} {
		o := options()
		o.URL = url
		with(t, part("none"), o, func(t *testing.T, d drivers.Driver) {
			_, err := snapshot(t, d)
			expect(t, err, want)
			_, err = d.Poll(t.Context())
			expect(t, err, want)
		})
	}
}

func TestCertificates(t *testing.T) {
	cert, file := certificate(t)
	sum := sha256.Sum256(cert.Certificate[0])
	good := hex.EncodeToString(sum[:])
	for name, c := range map[string]struct{ ca, pin, want string }{
		"unknown":           {want: "certificate"},
		"by file":           {ca: file},
		"by fingerprint":    {pin: good},
		"wrong fingerprint": {pin: strings.Repeat("0", 64), want: "another fingerprint"},
	} {
		t.Run(name, func(t *testing.T) {
			p, o := part("basic"), options()
			p.Address, p.Certificate = "10.0.0.8:443", cert
			o.URL, o.CAFile, o.Fingerprint = "https://10.0.0.8/snapshot.jpg", c.ca, c.pin
			with(t, p, o, func(t *testing.T, d drivers.Driver) {
				_, err := snapshot(t, d)
				expect(t, err, c.want)
			})
		})
	}
}

func TestBadCAFile(t *testing.T) {
	o := options()
	o.URL, o.CAFile = "https://10.0.0.8/", filepath.Join(t.TempDir(), "none.pem")
	w := sim.NewWorld()
	defer w.Close()
	if _, err := o.Open(context.Background(), w); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	o.CAFile = "/dev/zero" // which never ends
	if _, err := o.Open(context.Background(), w); err == nil || !strings.Contains(err.Error(), "is no file: name a file") {
		t.Errorf("a device: %v", err)
	}
}

// certificate makes a certificate that signs itself, valid in virtual time
// too, and its file.
func certificate(t *testing.T) (*tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses:  []net.IP{net.IPv4(10, 0, 0, 8)},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "camera.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}
