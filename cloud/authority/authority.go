// Package authority is a cloud's own certificate authority: it certifies to a broker which
// gateway somebody is, and takes that back.
//
// # Why
//
// A password at a broker is a secret that both sides have; the key of a certificate never
// leaves its gateway. The authority certifies clients and nothing else, and a
// gateway only under its own id. Its folder is plain files, so that a broker reads them and a
// person sees what is there:
//
//	ca.crt          the authority, which is public: the broker's list of whom to believe
//	ca.pem          the authority with its key, for its owner alone
//	crl.pem         what was taken back, for the broker
//	revoked.json    the same, by gateway
//	gateways/ID.json  the secret of a gateway's claim, and its certificates; a backend has one, too
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// The files in the folder.
const (
	RootFile   = "ca.crt"
	KeyFile    = "ca.pem"
	ListFile   = "crl.pem"
	lockFile   = "lock"
	noteFile   = "revoked.json"
	gatewayDir = "gateways"
)

// Lifetime is that of an authority, DefaultDays that of a gateway's certificate.
const (
	Lifetime    = 10 * 365 * 24 * time.Hour
	DefaultDays = 90
)

// backdated lets a certificate be good at once for a broker whose clock is behind.
const backdated = time.Hour

// Errors of a folder.
var (
	ErrNone    = errors.New("there is no authority: make one with roomgate cloud ca init")
	ErrThere   = errors.New("there is an authority already, which brokers believe")
	ErrUnknown = errors.New("no certificate was given to this gateway")
	errOpen    = errors.New("others than its owner may read this private key: chmod 600 it, and if others use this machine make another authority")
)

// Authority is one, in its folder. Several processes may use a folder at once.
type Authority struct {
	// Life is how long a gateway's certificate is good; 0: DefaultDays.
	Life time.Duration
	// Now is the time; nil: time.Now.
	Now func() time.Time

	dir  string
	root *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Init makes an authority of that name in a folder that has none. The key is written last: before it is there,
// there is no authority.
func Init(dir, name string, now time.Time) (a *Authority, err error) {
	if err := os.MkdirAll(filepath.Join(dir, gatewayDir), 0o700); err != nil {
		return nil, err
	}
	a = &Authority{dir: dir, Now: func() time.Time { return now }}
	err = a.alone(func() error {
		if _, err := os.Stat(filepath.Join(dir, KeyFile)); err == nil {
			return fmt.Errorf("%s: %w", dir, ErrThere)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return a.begin(name, now)
	})
	a.Now = nil
	if err != nil {
		return nil, err
	}
	return a, nil
}

// begin makes the key and the files.
func (a *Authority) begin(name string, now time.Time) (err error) {
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-backdated).UTC(), NotAfter: now.Add(Lifetime).UTC(),
		IsCA: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
	if a.root, err = a.sign(template, template, a.key.Public()); err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return err
	}
	if err := a.note([]taken{}, now); err != nil {
		return err
	}
	root := encode("CERTIFICATE", a.root.Raw)
	if err := write(filepath.Join(a.dir, RootFile), root, 0o644); err != nil {
		return err
	}
	return write(filepath.Join(a.dir, KeyFile), append(encode("PRIVATE KEY", der), root...), 0o600)
}

// Open reads the authority of a folder.
func Open(dir string) (*Authority, error) {
	path := filepath.Join(dir, KeyFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", dir, ErrNone)
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s: %w", path, errOpen)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds no ECDSA key", path)
	}
	return &Authority{dir: dir, root: pair.Leaf, key: key}, nil
}

// Ends is when the authority ends.
func (a *Authority) Ends() time.Time { return a.root.NotAfter }

// now is the time in whole seconds, as certificates have it.
func (a *Authority) now() time.Time {
	if a.Now != nil {
		return a.Now().UTC()
	}
	return time.Now().UTC()
}

// certify signs a certificate: for clients only, under that name.
func (a *Authority) certify(name string, uri *url.URL, life time.Duration, public any) (*x509.Certificate, error) {
	now := a.now()
	ends := now.Add(life)
	if ends.After(a.root.NotAfter) {
		ends = a.root.NotAfter
	}
	if !ends.After(now) {
		return nil, fmt.Errorf("the authority ended on %s: make another one", a.root.NotAfter.Format(time.DateOnly))
	}
	return a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: name}, URIs: []*url.URL{uri},
		NotBefore: now.Add(-min(backdated, life/10)), NotAfter: ends, KeyUsage: x509.KeyUsageDigitalSignature}, a.root, public)
}

func (a *Authority) sign(template, parent *x509.Certificate, public any) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber, template.BasicConstraintsValid = serial, true
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
