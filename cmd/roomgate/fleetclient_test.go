package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/atomicfile"
	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/cloud/backend/fleet"
)

// Two fleets at one broker have two sessions, each the same after a restart, and no gateway
// can have one of them.
func TestEachFleetHasItsOwnSession(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		dir := t.TempDir()
		door, err := fleet.OpenDoor(dir)
		if err == nil {
			err = atomicfile.Write(filepath.Join(dir, fleet.DoorFile), door.Encode(), nil)
		}
		again, err2 := fleet.OpenDoor(dir)
		if err != nil || err2 != nil || again.Client != door.Client || again.Key != door.Key {
			t.Fatalf("after a restart %+v is %+v, %v, %v", door, again, err, err2)
		}
		seen[door.Client] = true
		if strings.HasPrefix(door.Client, strings.TrimSuffix(cloud.ClientID("g"), "g")) || strings.Contains(door.Client, ".") {
			t.Errorf("a gateway can have the session %q, or NATS refuses it", door.Client)
		}
	}
	if len(seen) != 2 {
		t.Errorf("two fleets have the sessions %v", seen)
	}
}

// A gateway whose id a second one has is not listed as any other.
func TestContestedGatewayIsListedAsSuch(t *testing.T) {
	g := fleet.Gateway{Gateway: backend.Gateway{Online: true, Contested: time.Unix(0, 0).UTC()}}
	if got := presence(g); got != "online, contested at 1970-01-01T00:00:00Z" {
		t.Errorf("it is listed as %q", got)
	}
}
