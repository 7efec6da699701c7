//go:build integration

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cloud/backend/fleet"
)

// TestFleetPage: on the page of the reference backend somebody sees a gateway, claims it and sees
// what comes; a schedule that the backend was given is booked in the building.
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
	live(t, d, "fleet.js", "FLEET="+door.URL, "FLEET_KEY="+door.Key, "CODE="+code)
	if out, err := d.typed(t, []string{"roomgate claim"}, ""); err != nil || !strings.Contains(out, "belongs to Landlord") {
		t.Errorf("%v: %s", err, out)
	}
	start := time.Now().UTC().Truncate(time.Hour).Add(26 * time.Hour)
	booking := map[string]any{"id": "board", "meeting_space_id": demoAurora, "title": "Board meeting", "organizer": map[string]string{"name": "Ada", "email": "ada@example.org"},
		"start_time": start, "end_time": start.Add(time.Hour), "state": "booked", "revision": 1, "source": "cloud", "created_at": start, "updated_at": start}
	schedule, _ := json.Marshal(map[string]any{"bookings": []any{booking}})
	r, _ := http.NewRequest(http.MethodPut, door.URL+"/gateways/demo/schedules/"+demoAurora, bytes.NewReader(schedule))
	r.Header.Set("X-API-Key", door.Key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(err, answer)
	}
	_ = answer.Body.Close()
	list := fmt.Sprintf("roomgate booking list aurora --day %s", start.Format(time.DateOnly))
	var out string
	for end := time.Now().Add(30 * time.Second); !strings.Contains(out, "Board meeting"); time.Sleep(200 * time.Millisecond) {
		if out, err = d.typed(t, []string{list + " 2>&1 || true"}, ""); time.Now().After(end) {
			t.Fatalf("%v: %s", err, out)
		}
	}
}
