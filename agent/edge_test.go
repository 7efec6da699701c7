package agent

import (
	"net/netip"
	"testing"
	"time"

	"roomgate/agent/edge"
	"roomgate/agent/goldentest"
)

// TestKeyOfAnEdgeDevice is good in its meeting space, over a restart, until the
// device is deleted.
func TestKeyOfAnEdgeDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		r.wait(time.Second)
		code, _, err := r.Edges.NewCode(room)
		if err != nil {
			t.Fatal(err)
		}
		d, secret, err := r.Edges.Register(t.Context(), code, edge.Device{Kind: edge.Display, Serial: "A1"}, netip.MustParsePrefix("192.0.2.7/32"))
		if err != nil {
			t.Fatal(err)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		who, ok := r.AuthenticateKey(secret)
		if !ok {
			t.Fatalf("after a restart its key is of %+v", who)
		}
		goldentest.Values(t, "after a restart its key is of", goldentest.Pairs{"ID": {who.ID, d.ID}, "Kind": {who.Kind, KindEdge},
			"SpaceID": {who.SpaceID, room}, "Permissions": {who.Permissions, edge.Permissions(d.Kind)}, "Admin": {who.Admin, false},
			"Valid(who)": {r.Valid(who), true}})
		if err := r.Edges.Delete(t.Context(), d.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.AuthenticateKey(secret); ok || r.Valid(who) {
			t.Error("the key of a deleted one is good")
		}
	})
}
