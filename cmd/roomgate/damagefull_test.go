//go:build integration

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDamageOnAFullDiskOfAGateway: a page of the bookings becomes zeros, and the disk has no room for a repair. The gateway opens the
// door all the same, running and after a start, and says why it books nothing. With room it is repaired.
func TestDamageOnAFullDiskOfAGateway(t *testing.T) {
	dir := smallDisk(t)
	d := openBadDisk(t, dir, special{})
	d.book(60)
	filler := filepath.Join(dir, "filler")
	fillDisk(t, filler)
	var on []string
	titles := 0
	awaitThat(t, "the gateway has met the damage", func() bool {
		on = append(on, d.damage()...)
		for _, id := range on { // the disk is asked for a row when that is to change
			titles++
			_, _ = d.call(http.MethodPatch, "/bookings/"+id, map[string]any{"title": fmt.Sprint("title ", titles)}, nil)
		}
		return d.reason("a repair needs") || !d.alive()
	})
	d.staysUp(3 * time.Second)
	d.door("damaged, on a full disk", false)
	d.says("full", "the disk is full since")
	d.kill()
	d.start()
	d.staysUp(3 * time.Second)
	if got := d.degraded(); got != "full" || !d.reason("damaged") {
		t.Errorf("readyz says %q, and not why", got)
	}
	d.diagnosed("nothing of it is repaired yet")
	d.door("after a start on a full disk", false)
	if code := d.refused(); code != "storage_failed" {
		t.Errorf("bookings are refused with %s", code)
	}
	d.kill()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	d.start()
	d.diagnosed("it was damaged and repaired")
	lost, doubled := d.lost()
	if lost > len(on) || d.degraded() != "" {
		t.Errorf("%d of %d bookings are lost, and %d were on the page; readyz says %q", lost, len(d.acked), len(on), d.degraded())
	}
	d.door("after the repair", true)
	d.book(1)
	for key, n := range map[string]int{"injected": 2, "survived": 2, "lost": lost, "doubled": doubled} {
		t.Attr(key, fmt.Sprint(n))
	}
	t.Attr("recovery", d.longest.String())
}

// reason says whether readyz gives this as the reason why the building is degraded.
func (d *badDisk) reason(words string) bool {
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.base+"/readyz", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return err == nil && strings.Contains(string(text), words)
}
