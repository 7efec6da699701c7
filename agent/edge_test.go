package agent

import (
	"net/netip"
	"testing"
	"time"

	"roomgate/agent/edge"
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
		if !ok || who.ID != d.ID || who.Kind != KindEdge || who.SpaceID != room || who.Permissions != edge.Permissions || who.Admin || !r.Valid(who) {
			t.Errorf("after a restart its key is of %+v", who)
		}
		if err := r.Edges.Delete(t.Context(), d.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.AuthenticateKey(secret); ok || r.Valid(who) {
			t.Error("the key of a deleted one is good")
		}
	})
}
