package agent

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/schedule"
	"roomgate/drivers"
)

func TestUpdateBusy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: strings.Replace(watched, "empty: 15m, ", "", 1)})
		r.until(on(8, 0))
		check := func(what, want string) {
			t.Helper()
			if got := r.Health.Busy(); got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		check("nothing booked", "")
		r.book("a", on(9, 0), on(10, 0))
		r.until(on(8, 44))
		check("in 16 minutes", "")
		r.until(on(8, 45))
		check("in 15 minutes", "Aurora has a meeting at 09:00")
		r.until(on(9, 1))
		check("nobody is there yet", "Aurora has a meeting until 10:00")
		if _, err := r.Bookings.CheckIn(t.Context(), "a", schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.until(on(9, 59))
		check("under way", "Aurora has a meeting until 10:00")
		r.until(on(10, 1))
		check("over", "")
		hub := r.bench["hub-1"]
		hub.show(drivers.SubOccupancy, schedule.Occupied)
		r.wait(time.Minute)
		check("somebody stays", "there are people in Aurora")
		hub.set("vanish")
		r.wait(10 * time.Minute)
		check("a reading of long ago", "")
	})
}

// What the cloud wants is still wanted after a restart.
func TestUpdateOfTheCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir(), yaml: planned}
		r := startRig(t, o)
		if got := r.CloudConfig.UpdateURL(); got != "" {
			t.Errorf("wanted %q before anything was said", got)
		}
		for i, c := range []struct{ parts, receipt, want string }{
			{`"update":{"url":"https://example.org/a"}`, "done", "https://example.org/a"},
			{`"update":{"url":"http://example.org/b"}`, "rejected update.url is not https: want https://HOST[:PORT]/PATH", "https://example.org/a"},
			{`"rules":[]`, "done", "https://example.org/a"},
		} {
			if got := r.configure(c.parts, i+1, c.parts); got != c.receipt {
				t.Errorf("%s: receipt %q", c.parts, got)
			}
			if got := r.CloudConfig.UpdateURL(); got != c.want {
				t.Errorf("%s: wanted %q", c.parts, got)
			}
		}
		r.stop()
		r = startRig(t, o)
		if got := r.CloudConfig.UpdateURL(); got != "https://example.org/a" {
			t.Errorf("wanted %q after a restart", got)
		}
		if got := r.configure("m9", 9, `"update":{"url":""}`); got != "done" || r.CloudConfig.UpdateURL() != "" {
			t.Errorf("receipt %q, wanted %q", got, r.CloudConfig.UpdateURL())
		}
	})
}
