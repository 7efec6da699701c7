//go:build integration

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk is a disk of 8 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk takes all the room that there is.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// squeeze repeats a request until the disk refuses it. Small writes go on for a
// while in the room that the database has itself, and are acknowledged.
func (b *buildingUnderTest) squeeze(most int, method, path string, body func(i int) any) {
	t := b.desk.t
	t.Helper()
	for i := range most {
		var problem struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
		}
		status, err := b.call(method, path, body(i), &problem)
		switch {
		case err != nil, status >= 300 && status != http.StatusInsufficientStorage:
			t.Errorf("%s %s on a full disk: %d %+v, %v", method, path, status, problem, err)
			return
		case status < 300:
		case problem.Code != "storage_full" || problem.Detail == "":
			t.Errorf("%s %s on a full disk is refused with %+v", method, path, problem)
			return
		default:
			return
		}
	}
	t.Errorf("%s %s was never refused in %d times", method, path, most)
}

// TestFullDiskTellsEverything fills the disk of a gateway that sends
// notifications: what cannot be stored is refused and says so, reading goes
// on, a kill and a start in between change nothing, and with room again all
// that was acknowledged is told, once, and nothing else.
func TestFullDiskTellsEverything(t *testing.T) {
	dir := smallDisk(t)
	b := openHooked(t, filepath.Join(dir, "data"))
	b.hook("/in", "booking.created")
	gone := b.hook("/gone", "booking.created")
	for range 20 {
		b.book()
	}
	awaitThat(t, "the first are told", func() bool { return len(b.in.bookings()) >= len(b.acked) })
	fillDisk(t, filepath.Join(dir, "filler"))
	full, n := 0, 0
	for ; full < 3 && n < 5000; n++ { // until the room that the database has itself is used up
		if status := b.try(fmt.Sprintf("full-%d", n), n); status == http.StatusInsufficientStorage {
			full++
		}
	}
	if full < 3 {
		t.Fatalf("%d bookings and the disk is not full", n)
	}
	b.squeeze(400, http.MethodPost, "/api/v1/organizations", func(i int) any { return map[string]any{"name": fmt.Sprint(strings.Repeat("n", 90), i)} })
	b.squeeze(15, http.MethodPost, "/api/v1/webhooks", func(i int) any {
		return map[string]any{"organization_id": crashOrg, "url": b.in.base + "/?" + strings.Repeat("x", 1900), "events": []string{"booking.end"}}
	})
	b.squeeze(15, http.MethodPost, "/api/v1/auth/otp/request", func(i int) any { return map[string]any{"email": fmt.Sprintf("u%d@example.com", i+2)} })
	b.squeeze(400, http.MethodPost, "/rules", func(i int) any {
		return map[string]any{"name": strings.Repeat("r", 90), "trigger": map[string]any{"event": "temperatureAlert"},
			"actions": []any{map[string]any{"event": "x"}}}
	})
	if !b.live() {
		t.Error("a gateway with a full disk is not live")
	}
	b.checkRefused(n)
	b.kill()
	b.start()
	awaitThat(t, "the gateway answers on a full disk", b.live)
	b.checkRefused(n)

	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	awaitThat(t, "there is room again", func() bool { return b.try(fmt.Sprintf("room-%d", n), n+1) == http.StatusCreated })
	asked := map[string]bool{"u1@example.com": true}
	b.want(http.StatusOK, http.MethodPost, "/api/v1/auth/otp/request", map[string]any{"email": "u1@example.com"}, nil)
	b.checkTold()
	b.checkLetters(asked)
	var hook struct {
		Data struct {
			State string `json:"state"`
		} `json:"data"`
	}
	b.want(http.StatusOK, http.MethodGet, "/api/v1/webhooks/"+gone, nil, &hook)
	if hook.Data.State != "disabled" {
		t.Errorf("the webhook that answered 410 is %s", hook.Data.State)
	}
}

// try books a slot of its own and keeps what was acknowledged.
func (b *buildingUnderTest) try(id string, slot int) int {
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + time.Duration(1000+slot)*15*time.Minute)
	var made bookingAnswer
	status, err := b.call(http.MethodPost, "/bookings", map[string]any{"id": id, "meeting_space_id": witnessRoom, "title": strings.Repeat("t", 100),
		"start_time": start, "end_time": start.Add(15 * time.Minute)}, &made)
	if err != nil {
		return 0
	}
	if status == http.StatusCreated {
		b.acked[id] = made
	}
	return status
}

// checkRefused wants exactly what was acknowledged to be there.
func (b *buildingUnderTest) checkRefused(n int) {
	t := b.desk.t
	t.Helper()
	b.check()
	if kept := b.plan(witnessRoom); len(kept) != len(b.acked) {
		t.Errorf("%d bookings are there, %d were acknowledged", len(kept), len(b.acked))
	}
}
