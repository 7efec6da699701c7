package access

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/store"
)

// nth is the network of a guest.
func nth(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
}

// signsIn signs a user in from the network of the tests.
func (r *rig) signsIn(t *testing.T, email string) {
	t.Helper()
	if err := r.RequestOTP(t.Context(), email, network); err != nil {
		t.Fatalf("%s asks: %v", email, err)
	}
	if _, _, err := r.VerifyOTP(t.Context(), email, r.code(email), network, ""); err != nil {
		t.Fatalf("%s signs in: %v", email, err)
	}
}

// TestOneGuestCannotTakeAllOfTheSignIn: what a guest does in his own network, or in
// that of the user, keeps no user out.
func TestOneGuestCannotTakeAllOfTheSignIn(t *testing.T) {
	made := func(i int) string { return fmt.Sprintf("made%d@example.com", i) }
	for name, c := range map[string]struct {
		known bool // the user has signed in from his network before
		guest func(r *rig)
	}{
		"1,040 made-up addresses of 52 networks": {false, func(r *rig) {
			for i := range 1040 {
				_ = r.RequestOTP(r.t.Context(), made(i), nth(i/20))
			}
		}},
		"1,100 made-up addresses of as many networks": {false, func(r *rig) {
			for i := range 1100 {
				_ = r.RequestOTP(r.t.Context(), made(i), nth(i))
			}
		}},
		"the user's address, five times": {false, func(r *rig) {
			for range 5 {
				_ = r.RequestOTP(r.t.Context(), "ada@example.com", nth(1))
			}
		}},
		"the user's address, without end": {false, func(r *rig) {
			for range 100 {
				_ = r.RequestOTP(r.t.Context(), "ada@example.com", nth(1))
				_, _, _ = r.VerifyOTP(r.t.Context(), "ada@example.com", "000000", nth(1), "")
			}
		}},
		"the user's address, from a hundred networks": {true, func(r *rig) {
			for i := range 100 {
				_ = r.RequestOTP(r.t.Context(), "ada@example.com", nth(i))
			}
		}},
		"made-up addresses of the user's network": {true, func(r *rig) {
			for i := range 100 {
				_ = r.RequestOTP(r.t.Context(), made(i), network)
			}
		}},
		"wrong codes of the user's network": {false, func(r *rig) {
			for i := range 100 {
				_, _, _ = r.VerifyOTP(r.t.Context(), made(i), "000000", network, "")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := openRig(t, rigOptions{})
				defer r.Close()
				if c.known {
					r.signsIn(t, "ada@example.com")
				}
				r.t = t
				c.guest(r)
				r.signsIn(t, "ada@example.com")
			})
		})
	}
}

// TestAGuestVoidsNoCode: while a user waits for his letter a guest asks for codes
// and tries them.
func TestAGuestVoidsNoCode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		r.request(t, "ada@example.com")
		code := r.code("ada@example.com")
		for i := range 20 {
			_ = r.RequestOTP(t.Context(), "ada@example.com", nth(i))
			for range auth.CodeTries {
				if _, _, err := r.VerifyOTP(t.Context(), "ada@example.com", code, nth(i), ""); err == nil {
					t.Fatal("a guest came in by the code of another network")
				}
			}
		}
		if _, _, err := r.VerifyOTP(t.Context(), "ada@example.com", code, network, ""); err != nil {
			t.Errorf("the user's code is void: %v", err)
		}
	})
}

// TestStrangersAreBounded: more addresses are asked for than are remembered. A
// stranger and a user are answered alike all the time, and of a network with few
// nothing is forgotten.
func TestStrangersAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		exhaust := func(email string) {
			for range auth.CodeRate.Burst {
				if err := r.RequestOTP(t.Context(), email, network); err != nil {
					t.Fatal(err)
				}
			}
		}
		exhaust("ada@example.com")
		exhaust("eve@example.com")
		for i := range 700 {
			if err := r.RequestOTP(t.Context(), fmt.Sprintf("u%d@example.com", i), nth(i/10)); err != nil {
				t.Fatalf("stranger %d: %v", i, err)
			}
		}
		for _, email := range []string{"ada@example.com", "eve@example.com"} {
			if err := r.RequestOTP(t.Context(), email, network); problem.As(err).Code != problem.TooMany {
				t.Errorf("%s once more: %v", email, err)
			}
		}
		_ = r.db.View(func(tx *store.Tx) error {
			if n := accounts.Len(tx); n > maxAccounts+10 {
				t.Errorf("%d rows", n)
			}
			return nil
		})
	})
}

// TestRowsWhoseAgeIsUnknown: after a restart without a clock the rows of before do
// not stay for ever.
func TestRowsWhoseAgeIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		before := r.moment()
		before.Boot, before.Trusted = "before", false
		err := r.db.Update(t.Context(), func(tx *store.Tx) (err error) {
			for i := range maxAccounts {
				c := auth.Account{}
				c.Issue([]byte("x"), before)
				err = errors.Join(err, accounts.Put(tx, fmt.Sprint(i), c))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r.request(t, "bob@example.com")
		r.wait(auth.CodeRate.Every)
		for i := range maxAccounts {
			_ = r.RequestOTP(t.Context(), fmt.Sprintf("u%d@example.com", i), nth(i))
		}
		_ = r.db.View(func(tx *store.Tx) error {
			if _, err := accounts.Get(tx, "999"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a row of before is there still: %v", err)
			}
			return nil
		})
	})
}

// TestOneHostOfANetworkKeepsNobodyFromSigningIn: a host of a /64 asks without end. Its neighbour, who has never signed in
// there, gets his code; and all hosts of a /64 together have a bound.
func TestOneHostOfANetworkKeepsNobodyFromSigningIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		host := func(i int) netip.Prefix {
			return netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 14: byte(i >> 8), 15: byte(i)}), 128)
		}
		sent := 0
		ask := func(email string, from netip.Prefix) error {
			err := r.RequestOTP(t.Context(), email, from)
			if err == nil {
				sent++
			}
			return err
		}
		for i := range 100 {
			_ = ask(fmt.Sprintf("made%d@example.com", i), host(1))
		}
		if sent != perNetwork.Burst {
			t.Errorf("a host asked for %d codes, want %d", sent, perNetwork.Burst)
		}
		if err := ask("ada@example.com", host(2)); err != nil {
			t.Errorf("a neighbour: %v", err)
		}
		for i := range 1000 {
			_ = ask(fmt.Sprintf("more%d@example.com", i), host(3+i))
		}
		if most := hostsOfNetwork * perNetwork.Burst; sent != most {
			t.Errorf("a network asked for %d codes, want %d", sent, most)
		}
		for range 2 * perNetwork.Burst {
			_ = ask("ada@example.com", host(5000))
		}
		if !r.asked.Left(host(5000), time.Now()) {
			t.Error("a host has spent what its network was refused")
		}
	})
}
