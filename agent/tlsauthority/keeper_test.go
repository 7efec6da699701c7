package tlsauthority

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// keeperRig is a Keeper with a clock and hosts that a test sets.
type keeperRig struct {
	*Keeper
	data string
	log  lockedBuffer

	mu      sync.Mutex
	now     time.Time
	trusted bool
	hosts   Hosts
}

func (r *keeperRig) set(now time.Time, trusted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.trusted = now, trusted
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write writes alone.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

func (r *keeperRig) open(t *testing.T) {
	t.Helper()
	k, err := Open(t.Context(), Options{Data: r.data, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Clock: func() (time.Time, bool) { r.mu.Lock(); defer r.mu.Unlock(); return r.now, r.trusted },
		Hosts: func() Hosts { r.mu.Lock(); defer r.mu.Unlock(); return r.hosts }})
	if err != nil {
		t.Fatal(err)
	}
	r.Keeper = k
}

func openKeeper(t *testing.T) *keeperRig {
	t.Helper()
	data, _ := makeAuthority(t, Limits{Names: gateway.Names, Addresses: []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24")}})
	r := &keeperRig{data: data, now: today, trusted: true, hosts: hostsOf("gate.local", "192.168.1.20")}
	r.open(t)
	return r
}

func (r *keeperRig) serial(t *testing.T) string {
	t.Helper()
	c, err := r.Serve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf.SerialNumber.String()
}

// again looks once and says whether there is another certificate.
func (r *keeperRig) again(t *testing.T) bool {
	t.Helper()
	before := r.serial(t)
	if err := r.look(); err != nil {
		t.Fatal(err)
	}
	return r.serial(t) != before
}

// The certificate is renewed 30 days before its end, by a clock that is trusted.
func TestRenewal(t *testing.T) {
	r := openKeeper(t)
	end := today.Add(CertificateLifetime)
	for _, c := range []struct {
		name    string
		at      time.Time
		trusted bool
		renewed bool
	}{
		{"early", end.Add(-RenewBefore - time.Hour), true, false},
		{"due, by a clock that nobody trusts", end.Add(-RenewBefore + time.Hour), false, false},
		{"in 1970", time.Unix(0, 0), false, false},
		{"in 2099, by a clock that nobody trusts", time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), false, false},
		{"due", end.Add(-RenewBefore + time.Hour), true, true},
		{"just renewed", end.Add(-RenewBefore + 2*time.Hour), true, false},
		{"long over, after years in a drawer", today.Add(3 * 365 * 24 * time.Hour), true, true},
		{"back to the right time", today, true, true},
		{"again", today, true, false},
	} {
		r.set(c.at, c.trusted)
		if got := r.again(t); got != c.renewed {
			t.Errorf("%s: renewed %v", c.name, got)
		}
	}
	leaf := r.Keeper.now.Load().Leaf
	if err := r.authority.Load().verified(leaf, "192.168.1.20"); err != nil {
		t.Errorf("the last one: %v", err)
	}
}

// Near the end of the authority its last certificate is not made again and again.
func TestRenewalEndsWithTheAuthority(t *testing.T) {
	r := openKeeper(t)
	r.set(today.Add(Lifetime-10*24*time.Hour), true)
	if !r.again(t) || r.again(t) {
		t.Error("not once")
	}
	if end := r.Keeper.now.Load().Leaf.NotAfter; !end.Equal(today.Add(Lifetime)) {
		t.Errorf("it ends on %s, after its authority", end)
	}
	r.set(today.Add(Lifetime+time.Hour), true)
	if r.again(t) {
		t.Error("made by an authority that is over")
	}
}

// Another address of the gateway comes in if the limits have it, and stays in while
// a cable is unplugged.
func TestAddressChanges(t *testing.T) {
	r := openKeeper(t)
	if !slices.Contains(r.Keeper.now.Load().Leaf.DNSNames, "gate.local") {
		t.Fatal("its name is not in it")
	}
	for _, c := range []struct {
		hosts Hosts
		again bool
	}{
		{hostsOf("gate.local", "192.168.1.77"), true},
		{hostsOf("gate.local"), false},
		{hostsOf("gate.local", "192.168.1.77", "10.0.0.1", "other.local"), false},
		{hostsOf("front.gate.local", "192.168.1.77"), true},
	} {
		r.hosts = c.hosts
		if got := r.again(t); got != c.again {
			t.Errorf("%v: %v", c.hosts, got)
		}
	}
	if a := r.authority.Load(); a.verified(r.Keeper.now.Load().Leaf, "front.gate.local") != nil {
		t.Error("what it serves is not good")
	}
}

// Whatever lies in the file, the gateway starts with a good certificate; only
// without an authority it does not.
func TestStartWithASpoiledCertificate(t *testing.T) {
	for what, spoil := range map[string]func(file string) error{
		"gone":            os.Remove,
		"empty":           func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"readable to all": func(file string) error { return os.Chmod(file, 0o644) },
		"of another authority": func(file string) error {
			other, _ := makeAuthority(t, LimitsOf(gateway))
			raw, err := os.ReadFile(filepath.Join(other, Dir, GatewayFile))
			if err != nil {
				return err
			}
			return os.WriteFile(file, raw, 0o600)
		},
	} {
		r := openKeeper(t)
		before, file := r.serial(t), filepath.Join(r.data, Dir, GatewayFile)
		if err := spoil(file); err != nil {
			t.Fatal(err)
		}
		r.set(today, false)
		r.open(t)
		if r.serial(t) == before || r.authority.Load().verified(r.Keeper.now.Load().Leaf, "gate.local") != nil {
			t.Errorf("%s: it is served, or nothing good is", what)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", what, info, err)
		}
		if !strings.Contains(r.log.text(), "another certificate of its own authority") {
			t.Errorf("%s: nothing is said", what)
		}
	}
	if _, err := Open(t.Context(), Options{Data: t.TempDir(), Log: slog.New(slog.DiscardHandler), Clock: func() (time.Time, bool) { return today, true }}); err == nil || !strings.Contains(err.Error(), "roomgate tls init") {
		t.Errorf("without an authority: %v", err)
	}
}

// A clock in 1970 or in 2099 keeps no gateway from starting: it serves what it has,
// and says what clients say to that.
func TestStartWithAWrongClock(t *testing.T) {
	for at, want := range map[time.Time]string{
		time.Unix(3600, 0):                          "it is not valid before 2026-11-18: check the clock; the clock is not trusted and shows 1970-01-01",
		time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC): "it ended on 2027-02-18: renew it; the clock is not trusted and shows 2099-01-01",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := openKeeper(t)
			before := r.serial(t)
			r.set(at, false)
			r.open(t)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- r.Run(ctx) }()
			synctest.Wait()
			if r.serial(t) != before || strings.Count(r.log.text(), want) != 1 {
				t.Errorf("at %s it says %s", at, r.log.text())
			}
			r.set(today.Add(CertificateLifetime), true) // a time service has come
			time.Sleep(LookEvery)
			synctest.Wait()
			if r.serial(t) == before {
				t.Errorf("at %s, then trusted: not renewed", at)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// roomgate tls init --replace needs no restart, and a folder that is away for a
// moment takes nothing away.
func TestAnotherAuthority(t *testing.T) {
	r := openKeeper(t)
	root, before := r.Root(), r.serial(t)
	folder := filepath.Join(r.data, Dir)
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if err := r.look(); err == nil || r.serial(t) != before || !bytes.Equal(r.Root(), root) {
		t.Errorf("without its folder: %v", err)
	}
	if _, err := Make(r.data, "x", LimitsOf(gateway), today, false, nil); err != nil {
		t.Fatal(err)
	}
	if !r.again(t) || bytes.Equal(r.Root(), root) {
		t.Error("the other authority is not used")
	}
	if err := r.authority.Load().verified(r.Keeper.now.Load().Leaf, "gate.local"); err != nil {
		t.Error(err)
	}
}

// A disk that takes nothing more takes no HTTPS away: what is renewed is served from memory.
func TestRenewalWithoutADisk(t *testing.T) {
	r := openKeeper(t)
	before, folder := r.serial(t), filepath.Join(r.data, Dir)
	if err := os.Mkdir(filepath.Join(folder, "."+GatewayFile+".new"), 0o700); err != nil { // in the way of the new file
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "."+GatewayFile+".new", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.set(today.Add(CertificateLifetime), true)
	if err := r.look(); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("nothing is said of the disk: %v", err)
	}
	if r.serial(t) == before {
		t.Error("the old certificate is served")
	}
}
