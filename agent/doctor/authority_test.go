package doctor

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/machineuser"
	"roomgate/agent/tlsauthority"
)

func TestAuthority(t *testing.T) {
	c := config.Default()
	c.HTTP.TLS.Authority, c.Data = true, t.TempDir()
	x := &examination{Options: Options{Config: &c}, user: user{User: machineuser.User{Name: "root", ID: os.Getuid(), Groups: []int{os.Getgid()}}}}
	found := func() []Finding { return certificates(t.Context(), x) }
	found()[0].is(t, "none", Fail, "roomgate tls init")
	here := tlsauthority.LimitsOf(tlsauthority.Found())
	here.Names = append(here.Names, "gate.example.com")
	replace := func(l tlsauthority.Limits, at time.Time) {
		t.Helper()
		if _, err := tlsauthority.Make(c.Data, "x", l, at, true, nil); err != nil {
			t.Fatal(err)
		}
	}
	replace(here, time.Now())
	found()[0].is(t, "good", OK, "gate.example.com")
	found()[1].is(t, "its certificate", OK, "gate.example.com")
	replace(tlsauthority.Limits{Addresses: []netip.Prefix{netip.MustParsePrefix("10.99.99.99/32")}}, time.Now())
	found()[0].is(t, "not this machine's", Warn, "it may not certify")
	replace(here, time.Now())
	key := filepath.Join(c.Data, tlsauthority.Dir, tlsauthority.AuthorityFile)
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	found()[0].is(t, "readable to all", Fail, "chmod 600")
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	x.user = user{User: machineuser.User{Name: "roomgate", ID: 4711}}
	found()[0].is(t, "not the service's", Fail, "may not be read by roomgate")
	x.user.ID = os.Getuid()
	if err := os.Remove(filepath.Join(c.Data, tlsauthority.Dir, tlsauthority.GatewayFile)); err != nil {
		t.Fatal(err)
	}
	found()[1].is(t, "no certificate", Fail, "start the gateway")
}

func TestOwnAuthority(t *testing.T) {
	now := time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC)
	for until, want := range map[time.Duration]State{tlsauthority.Lifetime: OK, rootSoon - time.Hour: Warn, -time.Hour: Fail} {
		ownAuthority(tlsauthority.Status{Root: "root.crt", Names: []string{"gate.local"}, Until: now.Add(until)}, now).is(t, until.String(), want, "root.crt")
	}
}

func TestOwnCertificate(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for words, c := range map[string]struct {
		from, until time.Duration
		want        State
	}{
		"until 2027-03-02":    {-day, 60 * day, OK},
		"it is not renewed":   {-day, 28 * day, Warn},
		"which is over":       {-90 * day, -day, Fail},
		"not valid before":    {day, 90 * day, Fail},
		"gate.local 10.0.0.1": {-day, 60 * day, OK},
	} {
		ownCertificate(tlsauthority.Certificate{Names: []string{"gate.local"}, Addresses: []string{"10.0.0.1"}, From: now.Add(c.from), Until: now.Add(c.until)}, now).is(t, words, c.want, words)
	}
}
