package o3_test

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"roomgate/drivers/o3"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

func TestFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		for name, h := range map[string]*peers.O3{
			"factory": {Address: "10.0.0.7:1883", Username: "user", Password: "admin", Period: time.Second},
			"changed": {Address: "10.0.0.8:1883", Username: "user", Password: "another", Period: time.Second},
			"bridged": {Address: "10.0.0.9:1883", Username: "user", Password: "admin", Prefix: "site/7", Period: time.Second},
		} {
			if err := w.Add(name, "o3-sensor", h); err != nil {
				t.Fatal(err)
			}
		}
		got := o3.Find(t.Context(), w, []string{"10.0.0.9:1883", "10.0.0.8:1883", "10.0.0.7:1883", "10.0.0.6:1883"})
		want := []o3.Found{{Address: "10.0.0.7:1883", Hub: true}, {Address: "10.0.0.8:1883", Refused: true}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestNeighbours(t *testing.T) {
	network := func(s string) net.Addr {
		ip, n, err := net.ParseCIDR(s)
		if err != nil {
			t.Fatal(err)
		}
		n.IP = ip
		return n
	}
	got := o3.Neighbours([]net.Addr{network("10.0.0.6/30"), network("127.0.0.1/8"), network("8.8.8.8/24"), network("fd00::1/64")})
	if diff := cmp.Diff([]string{"10.0.0.5:1883"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	large := o3.Neighbours([]net.Addr{network("10.1.2.3/16")})
	if len(large) != 253 || !slices.Contains(large, "10.1.2.254:1883") || slices.Contains(large, "10.1.2.3:1883") {
		t.Errorf("%d addresses of a large network: %v", len(large), large)
	}
}

// TestRefuses: only a hub that answers and wants another password refuses one.
func TestRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		if err := w.Add("hub", "o3-sensor", &peers.O3{Address: "10.0.0.8:1883", Username: "user", Password: "another", Period: time.Second}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			address, password string
			answers, want     bool
		}{{"10.0.0.8:1883", "another", true, false}, {"10.0.0.8:1883", "anothre", true, true}, {"10.0.0.8:1883", "", true, true}, {"10.0.0.9:1883", "another", false, false}} {
			if answers, got := o3.Refuses(t.Context(), w, c.address, o3.FactoryUser, c.password); answers != c.answers || got != c.want {
				t.Errorf("%s with %q: answers %v, refuses %v", c.address, c.password, answers, got)
			}
		}
	})
}
