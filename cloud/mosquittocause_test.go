package cloud

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// authority signs certificates for the brokers and clients of a test.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.key, a.cert = a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign writes NAME.pem and NAME.key into the folder of the authority.
func (a *authority) sign(name string, c *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".pem", "CERTIFICATE", raw)
	a.write(name+".key", "PRIVATE KEY", secret)
	signed, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return key, signed
}

func (a *authority) write(name, kind string, raw []byte) {
	if err := os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func (a *authority) pair(name string) tls.Certificate {
	pair, err := tls.LoadX509KeyPair(a.path(name+".pem"), a.path(name+".key"))
	if err != nil {
		a.t.Fatal(err)
	}
	return pair
}

// mosquittoTLS is one that speaks TLS with a certificate of the authority.
func mosquittoTLS(t *testing.T, a *authority, more string) string {
	a.sign("broker", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	m := newMosquitto(t, "allow_anonymous true\ncafile "+a.path("ca.pem")+"\ncertfile "+a.path("broker.pem")+"\nkeyfile "+a.path("broker.key")+"\n"+more)
	return m.start()
}

// What a link says of a broker that does not have it, met at a real one.
func TestMosquittoCauses(t *testing.T) {
	own, other := newAuthority(t), newAuthority(t)
	own.sign("gateway", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	other.sign("stranger", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	plain := mosquitto(t)
	secure := mosquittoTLS(t, own, "")
	mutual := mosquittoTLS(t, own, "require_certificate true\n")
	guarded := mosquittoUsers(t, "user g\ntopic read roomgate/v1/g/down/#\ntopic write roomgate/v1/g/up/#\n")
	config := func(a *authority, pairs ...tls.Certificate) *tls.Config {
		return &tls.Config{RootCAs: a.pool(), Certificates: pairs, MinVersion: tls.VersionTLS12}
	}
	older := config(own)
	older.MaxVersion = tls.VersionTLS12
	for _, c := range []struct {
		name, url      string
		config         *tls.Config
		user, password string
		cause          Cause
	}{
		{"all is well", strings.Replace(mutual, "mqtt:", "mqtts:", 1), config(own, own.pair("gateway")), "", "", ""},
		{"other authority", strings.Replace(secure, "mqtt:", "mqtts:", 1), config(other), "", "", CauseUntrusted},
		{"no certificate", strings.Replace(mutual, "mqtt:", "mqtts:", 1), config(own), "", "", CauseCertificate},
		{"no certificate, TLS 1.2", strings.Replace(mutual, "mqtt:", "mqtts:", 1), older, "", "", CauseCertificate},
		{"certificate of a stranger", strings.Replace(mutual, "mqtt:", "mqtts:", 1), config(own, other.pair("stranger")), "", "", CauseCertificate},
		{"plain to TLS", secure, nil, "", "", CauseTLSWanted},
		{"TLS to plain", strings.Replace(plain, "mqtt:", "mqtts:", 1), config(own), "", "", CauseTLSMissing},
		{"nobody listens", "mqtt://127.0.0.1:1", nil, "", "", CauseUnreachable},
		{"right password", guarded, nil, "g", "right", ""},
		{"wrong password", guarded, nil, "g", "wrong", CauseLogin},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := make(chan struct{}, 1)
			presence := func() Message {
				return Message{Topic: "roomgate/v1/g/up/presence", Payload: []byte("x"), QoS: 1, Retained: true}
			}
			l := NewLink(LinkOptions{URL: c.url, ClientID: "g", TLS: c.config, Log: quiet,
				Login: LoginAs(c.user, func() (string, error) { return c.password, nil }), Birth: presence, Will: presence,
				Subscribe: []string{"roomgate/v1/g/down/command"}, Up: func(context.Context) { up <- struct{}{} }})
			defer run(t, l.Run)()
			for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline) && len(up) == 0 && l.Trouble().Cause == ""; {
				time.Sleep(5 * time.Millisecond)
			}
			got := l.Trouble()
			if got.Cause != c.cause || (got.Cause == "") != (got.Seen() == "") || (len(up) == 1) != (c.cause == "") {
				t.Errorf("%q (%s), want %q", got.Cause, got.Error, c.cause)
			}
			t.Logf("%s: %s", got.Cause, got.Error)
		})
	}
}

// right is their password.
func right() (string, error) { return "right", nil }

// mosquittoUsers is one with an access list, for users with the password "right".
func mosquittoUsers(t *testing.T, acl string) string {
	t.Helper()
	dir := t.TempDir()
	users, list := filepath.Join(dir, "users"), filepath.Join(dir, "acl")
	text := ""
	for line := range strings.Lines(acl) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "user "); ok {
			text += name + ":right\n"
		}
	}
	for name, text := range map[string]string{users: text, list: acl} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tool, err := exec.LookPath("mosquitto_passwd")
	if err != nil {
		t.Skip("mosquitto_passwd is not installed (Debian: apt-get install mosquitto)")
	}
	if out, err := exec.Command(tool, "-U", users).CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_passwd: %v, %s", err, out)
	}
	return newMosquitto(t, "allow_anonymous false\npassword_file "+users+"\nacl_file "+list+"\n").start()
}

// A real broker that is killed and started again is no duplicate id, and half of the
// reconnections take less than 5 s; two with one id are one, with and without the
// right to read their own topic.
func TestMosquittoRestarts(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true\n")
	address := m.start()
	const links, restarts = 12, 4 // the pauses are drawn, so it takes many to know the median
	up := make(chan time.Time, links)
	for i := range links {
		id := fmt.Sprint("g", i)
		o := presenceOf(LinkOptions{URL: address, ClientID: id, Log: quiet, Spread: func() time.Duration { return 2 * time.Second },
			Own: Own{Contested: func(context.Context, int) { t.Error("somebody was told of a duplicate id") }}}, id)
		o.Own.Topic = "up/presence/" + id
		own := o.Own.Topic
		o.Birth = func() Message { return Message{Topic: own, Payload: []byte(id), QoS: 1, Retained: true} }
		o.Will = o.Birth
		o.Up = func(context.Context) { up <- time.Now() }
		defer run(t, NewLink(o).Run)()
	}
	all := func() (came []time.Time) {
		for range links {
			came = append(came, <-up)
		}
		return came
	}
	all()
	var took []time.Duration
	for n := range restarts {
		m.stop()
		time.Sleep(time.Duration(n) * 500 * time.Millisecond)
		m.start()
		start := time.Now()
		for _, at := range all() {
			took = append(took, at.Sub(start))
		}
	}
	slices.Sort(took)
	t.Logf("median %v, longest %v", took[len(took)/2], took[len(took)-1])
	if median := took[len(took)/2]; median > 5*time.Second {
		t.Errorf("half of the reconnections took more than %v", median)
	}
}

func TestMosquittoTwoWithOneID(t *testing.T) {
	for _, c := range []struct {
		name, acl string
		seen      bool
	}{
		{"own topic is readable", "user g\ntopic readwrite up/presence\n", true},
		{"own topic is not readable", "user g\ntopic write up/presence\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := mosquittoUsers(t, c.acl)
			told := make(chan struct{}, 100)
			link := func(name string) *Link {
				return NewLink(presenceOf(LinkOptions{URL: url, ClientID: "g", Log: quiet, MaxBackoff: 2 * time.Second,
					Login: LoginAs("g", right), Own: Own{Contested: func(context.Context, int) { told <- struct{}{} }}}, name))
			}
			one, two := link("one"), link("two")
			defer run(t, one.Run)()
			defer run(t, two.Run)()
			select {
			case <-told:
			case <-time.After(2 * time.Minute):
				t.Fatalf("nobody noticed: %+v, %+v", one.Trouble(), two.Trouble())
			}
			if seen := one.duplicate.foreign || two.duplicate.foreign; seen != c.seen {
				t.Errorf("the other was seen: %v", seen)
			}
		})
	}
}

// Mosquitto acknowledges what a user may not write, and drops it: only the backend's
// silence tells.
func TestMosquittoDropsInSilence(t *testing.T) {
	url := mosquittoUsers(t, "user g\ntopic write up/event\nuser mute\ntopic read down/#\nuser reader\ntopic read up/event\n")
	var box mailbox
	reader := NewLink(LinkOptions{URL: url, ClientID: "reader", Login: LoginAs("reader", right), Log: quiet, Subscribe: []string{"up/event"}, Receive: box.receive})
	defer run(t, reader.Run)()
	if reader.await(t.Context()) == nil {
		t.Fatal("no link")
	}
	for _, c := range []struct {
		user string
		take bool
	}{{"mute", false}, {"g", true}} {
		var out rows
		l := NewLink(LinkOptions{URL: url, ClientID: c.user, Login: LoginAs(c.user, right), Log: quiet})
		up := NewUplink(l, &out, UplinkOptions{Log: quiet})
		stops := []func(){run(t, l.Run), run(t, up.Run)}
		out.add(1)
		up.Wake()
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && (up.Silent() < 300*time.Millisecond || c.take && len(box.payloads()) == 0); {
			time.Sleep(5 * time.Millisecond)
		}
		if got := len(box.payloads()) > 0; got != c.take || !l.Connected() || up.Silent() == 0 {
			t.Errorf("%s: taken %v, connected %v, silent %v", c.user, got, l.Connected(), up.Silent())
		}
		if up.Acked(1); c.take && up.Silent() != 0 {
			t.Errorf("%s: silent %v though it has acknowledged", c.user, up.Silent())
		}
		for _, stop := range stops {
			stop()
		}
	}
}
