//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cloud/backend/fleet"
)

// TestFleetPage: on the page of the reference backend somebody sees a gateway, claims it and sees
// what comes; a rollout and a schedule go by its forms, and the schedule is booked in the building.
func TestFleetPage(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	serve := exec.Command("roomgate", "cloud", "serve", "--fleet", filepath.Join(d.dir, "fleet"), "--at", "mqtt://127.0.0.1:"+d.ports["1884"], "--fleet-listen", "127.0.0.1:0")
	serve.Env = d.env
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Signal(os.Interrupt); _ = serve.Wait() })
	var door fleet.Door
	for end := time.Now().Add(20 * time.Second); door.URL == ""; time.Sleep(20 * time.Millisecond) {
		door, _ = fleet.ReadDoor(filepath.Join(d.dir, "fleet"))
		if time.Now().After(end) {
			t.Fatal("the fleet is not ready")
		}
	}
	code, err := d.typed(t, []string{"roomgate claim | awk '/^claim code/ {printf \"%s\", $3}'"}, "")
	if err != nil {
		t.Fatal(err, code)
	}
	sent, err := filepath.Abs("../../cloud/backend/fleet/testdata")
	if err != nil {
		t.Fatal(err)
	}
	live(t, d, "fleet.js", "FLEET="+door.URL, "FLEET_KEY="+door.Key, "CODE="+code, "SENT="+sent)
	if out, err := d.typed(t, []string{"roomgate claim"}, ""); err != nil || !strings.Contains(out, "belongs to Landlord") {
		t.Errorf("%v: %s", err, out)
	}
	const list = "roomgate booking list aurora --day 2099-07-01"
	var out string
	for end := time.Now().Add(30 * time.Second); !strings.Contains(out, "Board") || strings.Contains(out, "Lunch"); time.Sleep(200 * time.Millisecond) {
		if out, err = d.typed(t, []string{list + " 2>&1 || true"}, ""); time.Now().After(end) {
			t.Fatalf("%v: %s", err, out)
		}
	}
}
