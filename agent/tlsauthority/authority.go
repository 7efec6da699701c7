// Package tlsauthority is a building's own certificate authority, for anybody who has
// no other: it certifies this gateway to the phones and displays of the house.
//
// A root that people put on their phones is a power over these phones. So the
// root here certifies nothing but the names and the private addresses of this
// gateway (RFC 5280 section 4.2.1.10), and its key is never written down: it signs
// one issuing authority with the same limits, and is forgotten. What lies on the
// card can at most pretend to be the gateway that it was stolen from. The limits
// stand in both, because some clients do not look at those of a root.
//
// The files, in the folder of Dir in the data folder:
//
//	root.crt       the root, which is public
//	authority.pem  the issuing authority with its key
//	gateway.pem    the gateway's certificate with its key and the authority's
package tlsauthority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"roomgate/agent/atomicfile"
)

// Dir is the authority's folder in the data folder.
const Dir = "tls"

// The files in it.
const (
	RootFile      = "root.crt"
	AuthorityFile = "authority.pem"
	GatewayFile   = "gateway.pem"
)

const (
	// Lifetime of root and authority: as long as such a gateway hangs on its wall.
	Lifetime = 10 * 365 * 24 * time.Hour
	// CertificateLifetime is what Apple's systems bear with room to spare (825
	// days is their most, support.apple.com/103769). A gateway that was in a
	// drawer for two months still has a good one.
	CertificateLifetime = 90 * 24 * time.Hour
	// RenewBefore its end the gateway's certificate is renewed.
	RenewBefore = 30 * 24 * time.Hour
	// backdated lets a certificate be good at once for a phone whose clock is behind.
	backdated = 48 * time.Hour
)

// earliest is before any clock that is right.
var earliest = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ErrNone is the error of a gateway without an authority of its own.
var ErrNone = errors.New("this gateway has no authority of its own yet: make one with roomgate tls init")

// ErrThere is the error of Make where there is one already.
var ErrThere = errors.New("this gateway has an authority already, which phones and displays trust: roomgate tls status shows it, --replace makes another")

// Authority certifies one gateway.
type Authority struct {
	folder string
	root   *x509.Certificate
	issuer *x509.Certificate
	key    *ecdsa.PrivateKey // of issuer
}

// Make makes an authority for these limits, and the gateway's first certificate,
// in a data folder. One that is there stays and is refused with ErrThere, unless
// replace; it is then kept beside as Dir.before. owned is called for each file and
// folder before they get their names; nil: who makes them owns them.
func Make(data, building string, l Limits, now time.Time, replace bool, owned func(path string) error) (*Authority, error) {
	if now.Before(earliest) {
		return nil, fmt.Errorf("the clock shows %s, and certificates from then would be over: set it first, as with timedatectl", now.UTC().Format(time.DateOnly))
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	folder, fresh := filepath.Join(data, Dir), filepath.Join(data, "."+Dir+".new")
	_, err := os.Lstat(folder)
	there := err == nil
	switch {
	case there && !replace:
		return nil, ErrThere
	case !there && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(fresh), os.Mkdir(fresh, 0o700)); err != nil {
		return nil, err
	}
	a, err := create(fresh, building, l, now)
	if err == nil {
		_, err = a.Issue(l.hosts(), now)
	}
	if err == nil {
		err = own(fresh, owned)
	}
	if err == nil {
		err = intoPlace(fresh, folder, there)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(fresh))
	}
	a.folder = folder
	return a, nil
}

func own(folder string, owned func(string) error) error {
	if owned == nil {
		return nil
	}
	err := owned(folder)
	for _, name := range []string{RootFile, AuthorityFile, GatewayFile} {
		err = errors.Join(err, owned(filepath.Join(folder, name)))
	}
	return err
}

// intoPlace gives the folder its name. A power cut between the two renames leaves
// none; who ran the command runs it again.
func intoPlace(fresh, folder string, there bool) error {
	if there {
		before := folder + ".before"
		if err := errors.Join(os.RemoveAll(before), os.Rename(folder, before)); err != nil {
			return err
		}
	}
	return errors.Join(os.Rename(fresh, folder), atomicfile.Sync(filepath.Dir(folder)))
}

// create makes root and authority.
func create(folder, building string, l Limits, now time.Time) (*Authority, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := l.template(building, now)
	template.MaxPathLen = 1
	root, err := sign(template, template, &rootKey.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	template = l.template(building+", issuing", now)
	template.MaxPathLenZero = true
	issuer, err := sign(template, root, &key.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	a := &Authority{folder, root, issuer, key}
	raw, err := withKey(key, issuer)
	if err != nil {
		return nil, err
	}
	return a, errors.Join(
		atomicfile.Write(filepath.Join(folder, RootFile), a.Root(), func(f *os.File) error { return f.Chmod(0o644) }),
		atomicfile.Write(filepath.Join(folder, AuthorityFile), raw, nil))
}

// sign fills in what all certificates have and signs one.
func sign(template, parent *x509.Certificate, public *ecdsa.PublicKey, by *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber, template.BasicConstraintsValid = serial, true
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func withKey(key *ecdsa.PrivateKey, chain ...*x509.Certificate) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	raw := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	for _, c := range chain {
		raw = append(raw, encode(c)...)
	}
	return raw, nil
}

func encode(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// Load reads the authority of a data folder; ErrNone if there is none. A key that
// others than its owner may read is refused.
func Load(data string) (*Authority, error) {
	folder := filepath.Join(data, Dir)
	raw, err := os.ReadFile(filepath.Join(folder, RootFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	root, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, RootFile), err)
	}
	pair, err := load(filepath.Join(folder, AuthorityFile))
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || pair.Leaf.CheckSignatureFrom(root) != nil {
		return nil, fmt.Errorf("%s is not the authority of %s beside it: take both from one backup, or make another authority with roomgate tls init --replace",
			filepath.Join(folder, AuthorityFile), RootFile)
	}
	return &Authority{folder, root, pair.Leaf, key}, nil
}

func parse(raw []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("holds no certificate as PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}

// ErrOpen is the error of a file with a private key that others may read.
var ErrOpen = errors.New("others than its owner may read this private key")

// load reads a file with a key and its certificates.
func load(file string) (*tls.Certificate, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: %w (mode %04o): chmod 600 it, and if others use this machine make another authority with roomgate tls init --replace",
			file, ErrOpen, info.Mode().Perm())
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &pair, nil
}

// Root is the root certificate as PEM.
func (a *Authority) Root() []byte { return encode(a.root) }

// RootFile is where the root certificate lies.
func (a *Authority) RootFile() string { return filepath.Join(a.folder, RootFile) }

// Ends is when root and authority end: from then on phones trust nothing of it.
func (a *Authority) Ends() time.Time { return a.root.NotAfter }

// Fingerprint is the SHA-256 of the root as phones show it: pairs of hexadecimal
// digits with colons.
func (a *Authority) Fingerprint() string {
	sum := sha256.Sum256(a.root.Raw)
	pairs := make([]string, len(sum))
	for i, b := range sum {
		pairs[i] = strings.ToUpper(hex.EncodeToString([]byte{b}))
	}
	return strings.Join(pairs, ":")
}

// Limits are what the authority may certify.
func (a *Authority) Limits() Limits {
	l := Limits{Names: slices.Clone(a.issuer.PermittedDNSDomains)}
	for _, n := range a.issuer.PermittedIPRanges {
		ip, _ := netip.AddrFromSlice(n.IP)
		ones, _ := n.Mask.Size()
		l.Addresses = append(l.Addresses, netip.PrefixFrom(ip.Unmap(), ones))
	}
	return l
}

// Issue makes and writes a certificate of the gateway for these names and
// addresses, with a key of its own. Those outside the limits are
// left out. With an error of the disk there is a certificate all the same.
func (a *Authority) Issue(hosts Hosts, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	in, _ := a.Limits().split(hosts)
	leaf, err := a.certify(in, now, &key.PublicKey)
	if err != nil {
		return nil, err
	}
	raw, err := withKey(key, leaf, a.issuer)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return nil, err
	}
	return &pair, atomicfile.Write(filepath.Join(a.folder, GatewayFile), raw, nil)
}

// certify signs a certificate for these names and addresses, whatever the limits
// are: it is for the clients to look at them. The common name has a space in it,
// because OpenSSL holds one that looks like a name of a host to the limits too.
func (a *Authority) certify(hosts Hosts, now time.Time, public *ecdsa.PublicKey) (*x509.Certificate, error) {
	ends := now.Add(CertificateLifetime)
	if ends.After(a.issuer.NotAfter) {
		ends = a.issuer.NotAfter
	}
	template := &x509.Certificate{NotBefore: now.Add(-backdated).UTC(), NotAfter: ends.UTC(), KeyUsage: x509.KeyUsageDigitalSignature,
		DNSNames: hosts.Names, Subject: pkix.Name{CommonName: "Roomgate gateway"}}
	for _, ip := range hosts.Addresses {
		template.IPAddresses = append(template.IPAddresses, ip.AsSlice())
	}
	return sign(template, a.issuer, public, a.key)
}

// Certificate reads the gateway's certificate.
func (a *Authority) Certificate() (*tls.Certificate, error) {
	return load(filepath.Join(a.folder, GatewayFile))
}
