package tlsauthority

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/goldentest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	today   = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	gateway = Hosts{Names: []string{"gate.local"}, Addresses: []netip.Addr{netip.MustParseAddr("192.168.1.20"), netip.MustParseAddr("fd00::20")}}
)

func makeAuthority(t *testing.T, l Limits) (data string, a *Authority) {
	t.Helper()
	data = t.TempDir()
	a, err := Make(data, "Roomgate House of tests", l, today, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data, a
}

func hostsOf(texts ...string) (h Hosts) {
	for _, text := range texts {
		if ip, err := netip.ParseAddr(text); err == nil {
			h.Addresses = append(h.Addresses, ip)
		} else {
			h.Names = append(h.Names, text)
		}
	}
	return h
}

// forged are certificates that whoever stole the card can make: whatever the limits
// say, signed with the building's key.
func (a *Authority) forged(t *testing.T, hosts Hosts) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := a.certify(hosts, today, &key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// verified is what a client says that trusts only the root.
func (a *Authority) verified(leaf *x509.Certificate, host string) error {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM(a.Root())
	between.AddCert(a.issuer)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: today, DNSName: host})
	return err
}

// limitCases are what the authority of gateway may certify, and what it may not.
var limitCases = []struct {
	host string
	good bool
}{
	{"gate.local", true}, {"door.gate.local", true}, {"192.168.1.20", true}, {"fd00::20", true},
	{"evil.example.com", false}, {"local", false}, {"xgate.local", false}, {"gate.local.example.com", false}, {"localhost", false},
	{"192.168.1.21", false}, {"8.8.8.8", false}, {"127.0.0.1", false}, {"fd00::21", false}, {"2001:db8::1", false}, {"::1", false},
}

// A stolen authority certifies nothing but the gateway that it was stolen from.
func TestAuthorityIsLimited(t *testing.T) {
	_, a := makeAuthority(t, LimitsOf(gateway))
	for _, c := range limitCases {
		if err := a.verified(a.forged(t, hostsOf(c.host)), c.host); (err == nil) != c.good {
			t.Errorf("%s: %v, want good %v", c.host, err, c.good)
		}
		if c.good {
			continue
		}
		if err := a.verified(a.forged(t, hostsOf("gate.local", c.host)), "gate.local"); err == nil {
			t.Errorf("%s beside a good name is not refused", c.host)
		}
	}
	_, a = makeAuthority(t, Limits{Names: []string{"gate.local"}})
	for _, host := range []string{"192.168.1.20", "8.8.8.8", "fd00::20"} {
		if a.verified(a.forged(t, hostsOf(host)), host) == nil {
			t.Errorf("without addresses in its limits it certifies %s", host)
		}
	}
	_, a = makeAuthority(t, Limits{Addresses: []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24")}})
	for host, good := range map[string]bool{"192.168.1.77": true, "192.168.2.1": false, "gate.local": false, "fd00::20": false} {
		if err := a.verified(a.forged(t, hostsOf(host)), host); (err == nil) != good {
			t.Errorf("of a network alone, %s: %v", host, err)
		}
	}
}

// Neither letters nor addresses of pages, nor clients, nor another authority.
func TestAuthorityIsForServersOnly(t *testing.T) {
	_, a := makeAuthority(t, LimitsOf(gateway))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := url.Parse("https://example.com/")
	for name, leaf := range map[string]x509.Certificate{
		"a mailbox":         {EmailAddresses: []string{"boss@example.com"}, DNSNames: []string{"gate.local"}},
		"a page":            {URIs: []*url.URL{page}, DNSNames: []string{"gate.local"}},
		"another authority": {IsCA: true, KeyUsage: x509.KeyUsageCertSign, DNSNames: []string{"gate.local"}},
	} {
		leaf.NotBefore, leaf.NotAfter = today, today.Add(time.Hour)
		c, err := sign(&leaf, a.issuer, &key.PublicKey, a.key)
		if err != nil {
			t.Fatal(err)
		}
		if name == "another authority" {
			below := &Authority{root: a.root, issuer: c, key: key}
			leaf, roots, between := below.forged(t, hostsOf("gate.local")), x509.NewCertPool(), x509.NewCertPool()
			roots.AddCert(a.root)
			between.AddCert(a.issuer)
			between.AddCert(c)
			if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: today, DNSName: "gate.local"}); err == nil {
				t.Error("an authority below the building's is trusted")
			}
			continue
		}
		if a.verified(c, "gate.local") == nil {
			t.Errorf("%s is certified", name)
		}
	}
	good := a.forged(t, gateway)
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(a.root)
	between.AddCert(a.issuer)
	if _, err := good.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: today, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil {
		t.Error("the gateway's certificate is a client's too")
	}
}

// OpenSSL, which curl, mosquitto and many boards trust by, reads the limits as Go does.
func TestAuthorityIsLimitedForOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed, so the limits were not tried against it")
	}
	_, a := makeAuthority(t, LimitsOf(gateway))
	dir := t.TempDir()
	write := func(name string, raw []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	root, between := write("root", a.Root()), write("between", encode(a.issuer))
	for _, c := range limitCases {
		leaf := write("leaf", encode(a.forged(t, hostsOf(c.host))))
		kind := "-verify_hostname"
		if _, err := netip.ParseAddr(c.host); err == nil {
			kind = "-verify_ip"
		}
		out, err := exec.Command(openssl, "verify", "-no-CApath", "-no-CAstore", "-CAfile", root, "-untrusted", between, "-attime", "1795165200",
			"-purpose", "sslserver", kind, c.host, leaf).CombinedOutput()
		if (err == nil) != c.good || !c.good && !bytes.Contains(out, []byte("permitted subtree violation")) {
			t.Errorf("%s: %v, want good %v: %s", c.host, err, c.good, out)
		}
	}
}

func TestLimitsAreRefused(t *testing.T) {
	for what, l := range map[string]Limits{
		"has no name and no private address":          {},
		`name "com" is no name of a gateway`:          {Names: []string{"com"}},
		`name "local" is no name of a gateway`:        {Names: []string{"local"}},
		`name "*.example.com" is no`:                  {Names: []string{"*.example.com"}},
		`name "192.168.1.1" is no`:                    {Names: []string{"192.168.1.1"}},
		`name "-a.example" is no`:                     {Names: []string{"-a.example"}},
		"address 8.8.8.8/32 is not private":           {Addresses: []netip.Prefix{netip.MustParsePrefix("8.8.8.8/32")}},
		"address 0.0.0.0/0 is not private":            {Addresses: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}},
		"address 192.168.0.0/8 is not private":        {Addresses: []netip.Prefix{netip.MustParsePrefix("192.168.0.0/8")}},
		"address 2001:db8::/64 is not private":        {Addresses: []netip.Prefix{netip.MustParsePrefix("2001:db8::/64")}},
		"address ::ffff:8.8.8.8/128 is not private":   {Addresses: []netip.Prefix{netip.MustParsePrefix("::ffff:8.8.8.8/128")}},
		"there are 33 names and 0 addresses: want at": {Names: slices.Repeat([]string{"a.local"}, 33)},
	} {
		data := t.TempDir()
		if _, err := Make(data, "x", l, today, false, nil); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%+v: %v, want %s", l, err, what)
		}
		if left, _ := os.ReadDir(data); len(left) > 0 {
			t.Errorf("%+v left %v", l, left)
		}
	}
	if _, err := Make(t.TempDir(), "x", LimitsOf(gateway), time.Unix(0, 0), false, nil); err == nil || !strings.Contains(err.Error(), "clock shows 1970-01-01") {
		t.Errorf("with a clock of 1970: %v", err)
	}
}

// The root's key is nowhere, the other keys are their owner's alone, and one
// authority does not take the place of another by mistake.
func TestMake(t *testing.T) {
	data, a := makeAuthority(t, LimitsOf(gateway))
	folder := filepath.Join(data, Dir)
	for name, mode := range map[string]fs.FileMode{".": 0o700, RootFile: 0o644, AuthorityFile: 0o600, GatewayFile: 0o600} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		raw, _ := os.ReadFile(filepath.Join(folder, e.Name()))
		for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
			if block.Type != "PRIVATE KEY" {
				continue
			}
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil || a.root.PublicKey.(*ecdsa.PublicKey).Equal(key.(*ecdsa.PrivateKey).Public()) {
				t.Errorf("%s holds the key of the root, or none: %v", e.Name(), err)
			}
		}
	}
	if len(entries) != 3 {
		t.Errorf("the folder has %v", entries)
	}
	if _, err := Make(data, "x", LimitsOf(gateway), today, false, nil); !errors.Is(err, ErrThere) {
		t.Errorf("a second one: %v", err)
	}
	again, err := Load(data)
	if err != nil || again.Fingerprint() != a.Fingerprint() || !bytes.Equal(again.Root(), a.Root()) {
		t.Fatalf("read again: %v", err)
	}
	if l := again.Limits(); !slices.Equal(l.Names, gateway.Names) || !slices.Equal(l.hosts().Addresses, gateway.Addresses) {
		t.Errorf("its limits are %+v", l)
	}
	for _, c := range []*x509.Certificate{a.root, a.issuer} { // some clients do not look at the limits of a root
		if !c.PermittedDNSDomainsCritical || !slices.Equal(c.PermittedDNSDomains, gateway.Names) || len(c.PermittedIPRanges) != 2 {
			t.Errorf("%s is not limited", c.Subject)
		}
	}
	var owned []string
	b, err := Make(data, "x", LimitsOf(gateway), today, true, func(path string) error { owned = append(owned, filepath.Base(path)); return nil })
	if err != nil || b.Fingerprint() == a.Fingerprint() {
		t.Errorf("another: %v", err)
	}
	if len(owned) != 4 {
		t.Errorf("given to the owner: %v", owned)
	}
	if raw, err := os.ReadFile(filepath.Join(folder+".before", RootFile)); err != nil || !bytes.Equal(raw, a.Root()) {
		t.Errorf("the one before is not kept: %v", err)
	}
	if len(a.Fingerprint()) != 95 || strings.Count(a.Fingerprint(), ":") != 31 {
		t.Errorf("fingerprint %s", a.Fingerprint())
	}
}

func TestLoadRefuses(t *testing.T) {
	if _, err := Load(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("where none is: %v", err)
	}
	for what, spoil := range map[string]func(folder string) error{
		"others than its owner may read this private key (mode 0640): chmod 600 it": func(folder string) error {
			return os.Chmod(filepath.Join(folder, AuthorityFile), 0o640)
		},
		"holds no certificate as PEM": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, RootFile), []byte("spoiled"), 0o644)
		},
		"is not the authority of root.crt beside it": func(folder string) error {
			_, other := makeAuthority(t, LimitsOf(gateway))
			return os.WriteFile(filepath.Join(folder, RootFile), other.Root(), 0o644)
		},
		"failed to find any PEM data": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, AuthorityFile), nil, 0o600)
		},
	} {
		data, _ := makeAuthority(t, LimitsOf(gateway))
		if err := spoil(filepath.Join(data, Dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(data); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

func TestStatus(t *testing.T) {
	data, a := makeAuthority(t, LimitsOf(gateway))
	s := a.Status(hostsOf("gate.local", "192.168.1.21", "other.local"))
	if s.Certificate == nil {
		t.Fatalf("%+v", s)
	}
	goldentest.Values(t, "the authority", goldentest.Pairs{"Outside": {slices.Equal(s.Outside, []string{"other.local", "192.168.1.21"}), true},
		"Until":                 {s.Until, today.Add(Lifetime)},
		"Addresses":             {slices.Equal(s.Addresses, []string{"192.168.1.20", "fd00::20"}), true},
		"Certificate.Addresses": {slices.Equal(s.Certificate.Addresses, s.Addresses), true}})
	if err := os.Remove(filepath.Join(data, Dir, GatewayFile)); err != nil {
		t.Fatal(err)
	}
	if s = a.Status(gateway); s.Certificate != nil || s.Trouble == "" {
		t.Errorf("without a certificate: %+v", s)
	}
}
