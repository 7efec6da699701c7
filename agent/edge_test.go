package agent

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

var here = netip.MustParsePrefix("192.0.2.7/32")

func (r *rig) claimed(d EdgeDevice) (_ EdgeDevice, secret string, _ error) {
	r.t.Helper()
	code, _, err := r.NewClaim(room)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.RegisterEdge(r.t.Context(), code, d, here)
}

func TestEdgeDevicesSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		r.wait(time.Second)
		d, secret, err := r.claimed(EdgeDevice{Kind: EdgeDisplay, Serial: "A1"})
		if err != nil || d.Name != "A1" || d.SpaceID != room {
			t.Fatalf("registered %+v, %v", d, err)
		}
		code, _, err := r.NewClaim(room)
		if err != nil {
			t.Fatal(err)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		if got, err := r.EdgeDevice(d.ID); err != nil || got.Serial != "A1" || !got.Registered.Equal(d.Registered) {
			t.Errorf("after a restart it is %+v, %v", got, err)
		}
		if who, ok := r.AuthenticateKey(secret); !ok || who.ID != d.ID || who.SpaceID != room || !r.Valid(who) {
			t.Errorf("after a restart its key is of %+v", who)
		}
		if _, _, err := r.RegisterEdge(t.Context(), code, EdgeDevice{}, here); AsError(err).Code != Forbidden {
			t.Errorf("a claim code of before the restart: %v", err)
		}
		if err := r.DeleteEdge(t.Context(), d.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.AuthenticateKey(secret); ok {
			t.Error("the key of a deleted one is good")
		}
		if told := r.told(); !slices.Contains(told, "edgeRegistered") || told[len(told)-1] != "edgeDeleted" {
			t.Errorf("told %q", told)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		if all := r.EdgeDevices(); len(all) != 0 {
			t.Errorf("a deleted one is back: %+v", all)
		}
	})
}

func TestEdgeDevicesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		for i := range maxEdges {
			if _, _, err := r.claimed(EdgeDevice{Serial: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		code, _, err := r.NewClaim(room)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.RegisterEdge(t.Context(), code, EdgeDevice{}, here); AsError(err).Code != Full {
			t.Errorf("one too many: %v", err)
		}
		if _, _, err := r.RegisterEdge(t.Context(), code, EdgeDevice{Serial: "7"}, here); err != nil {
			t.Errorf("one that is known, with the code that was not used up: %v", err)
		}
		if n := len(r.EdgeDevices()); n != maxEdges {
			t.Errorf("there are %d", n)
		}
		for range 2 * maxClaims {
			if _, _, err := r.NewClaim(otherRoom); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(r.edges.claims); n > 2 {
			t.Errorf("%d claims of two spaces are open", n)
		}
	})
}

// FuzzClaimText: what somebody types reads as itself, and never as more.
func FuzzClaimText(f *testing.F) {
	for _, s := range []string{"7K3M-QX9D", "7k3m qx9d", "OIL0-1111", "", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := claimText(s)
		if len(s) <= 4*claimSize && claimText(once) != once && len(once) <= 4*claimSize {
			t.Errorf("%q reads as %q, and that as %q", s, once, claimText(once))
		}
	})
}
