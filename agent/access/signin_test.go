package access

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/problem"
	"roomgate/store"
)

// TestGuessingIsHopeless counts the guesses that somebody gets who knows the
// address, may restart the building, and has many networks.
func TestGuessingIsHopeless(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		guesses, codes := 0, 0
		for restart := range 4 {
			r := openRig(t, rigOptions{dir: dir, trust: []string{"always", "never"}[restart%2]})
			for i := range 20 {
				from := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(restart), byte(i)}), 32)
				if r.RequestOTP(t.Context(), "ada@example.com", from) == nil {
					codes++
				}
				for range 10 {
					before := r.tries("ada@example.com", from)
					_, _, err := r.VerifyOTP(t.Context(), "ada@example.com", "000000", from, "")
					if err == nil {
						t.Fatal("one in a million")
					}
					if r.tries("ada@example.com", from) != before {
						guesses++
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if codes != auth.StrangeRate.Burst || guesses > codes*auth.CodeTries {
			t.Errorf("%d codes, %d guesses", codes, guesses)
		}
	})
}

func TestNetworksAreLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		for i := range 2 * perNetwork.Burst {
			asked := r.RequestOTP(t.Context(), fmt.Sprintf("u%d@example.com", i), network)
			_, _, tried := r.VerifyOTP(t.Context(), fmt.Sprintf("u%d@example.com", i), "123456", network, "")
			for what, err := range map[string]error{"asked": asked, "tried": tried} {
				if limited := err != nil && problem.As(err).Code == problem.TooMany; limited != (i >= perNetwork.Burst) {
					t.Errorf("%s %d times: %v", what, i+1, err)
				}
			}
			var slow *problem.SlowDown
			if i >= perNetwork.Burst && (!errors.As(asked, &slow) || slow.After <= 0 || slow.After > perNetwork.Every+time.Second) {
				t.Errorf("after %v", slow)
			}
		}
		if err := r.RequestOTP(t.Context(), "ada@example.com", netip.MustParsePrefix("192.0.2.8/32")); err != nil {
			t.Errorf("another network: %v", err)
		}
		r.wait(perNetwork.Every)
		if err := r.RequestOTP(t.Context(), "ada@example.com", network); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

func TestCodesAfterARestartWithoutAClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir, trust: clock.Never})
		r.run()
		r.request(t, "ada@example.com")
		token, _, err := r.VerifyOTP(t.Context(), "ada@example.com", r.code("ada@example.com"), network, "")
		if err != nil {
			t.Fatalf("a building without a clock: %v", err)
		}
		r.wait(11 * time.Hour)
		if _, err := r.AuthenticateToken(token); err != nil {
			t.Errorf("within its life: %v", err)
		}
		r.request(t, "ada@example.com")
		code := r.code("ada@example.com")
		r.stop()
		r = openRig(t, rigOptions{dir: dir, trust: clock.Never})
		r.run()
		r.wantRefused(t, "a code of which nobody knows the age", "ada@example.com", code)
		if _, err := r.AuthenticateToken(token); problem.As(err).Code != problem.Unauthorized || !strings.Contains(err.Error(), "cannot tell its age") {
			t.Errorf("a token of which nobody knows the age: %v", err)
		}
		r.request(t, "ada@example.com")
		if _, _, err := r.VerifyOTP(t.Context(), "ada@example.com", r.code("ada@example.com"), network, ""); err != nil {
			t.Errorf("signing in again: %v", err)
		}
	})
}

// TestOneOfManyGetsIn tries the right code many times at the same instant.
func TestOneOfManyGetsIn(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	code := auth.NewCode()
	err := r.db.Update(t.Context(), func(tx *store.Tx) error {
		var c auth.Account
		account := r.keys.Account("ada@example.com") // as an earlier version did
		c.Issue(r.keys.Hash(account, code), r.moment())
		return accounts.Put(tx, account, c)
	})
	if err != nil {
		t.Fatal(err)
	}
	var in atomic.Int32
	var all sync.WaitGroup
	for i := range 40 {
		from := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32)
		all.Go(func() {
			if _, _, err := r.VerifyOTP(t.Context(), "ada@example.com", code, from, ""); err == nil {
				in.Add(1)
			} else if problem.As(err).Code != problem.Unauthorized {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if n := in.Load(); n != 1 {
		t.Errorf("%d got in by one code", n)
	}
}
