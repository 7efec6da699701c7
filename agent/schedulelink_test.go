package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
)

func TestScheduleOverALink(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, publish := openHeaven(t)
		r := startRig(t, rigOptions{yaml: "cloud: {url: 'mqtt://cloud', acks: broker}\n" + planned, dial: h.dial})
		r.wait(5 * time.Second)
		publish("schedule", false, said("s1", "snapshot", 1, slot("nine", on(9, 0), on(10, 0))))
		r.wait(2 * time.Second)
		if got := h.receipts("s1"); !slices.Equal(got, []device.State{device.Done}) {
			t.Errorf("receipts %q", got)
		}
		h.cut(true)
		r.wait(time.Minute)
		r.book("offline", on(11, 0), on(12, 0))
		r.book("loser", on(13, 0), on(14, 0))
		if _, err := r.Bookings.Cancel(t.Context(), "nine", schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Hour)
		if n := len(h.taken("booking")); n != 0 {
			t.Fatalf("%d bookings came through a cut", n)
		}
		h.cut(false)
		r.wait(2 * time.Minute)
		up := func() (all []string) {
			for _, m := range h.taken("booking") {
				var b booking.Booking
				if err := json.Unmarshal(m.Data, &b); err != nil {
					t.Fatal(err)
				}
				if m.Type != "roomgate.booking" || b.SpaceID != room {
					t.Errorf("came up: %+v", m)
				}
				all = append(all, fmt.Sprintf("%s %s", b.ID, b.State))
			}
			return all
		}
		if got := up(); !slices.Equal(got, []string{"offline booked", "loser booked", "nine cancelled"}) {
			t.Errorf("after the cut came up %q", got)
		}
		publish("schedule", false, said("s3", "delta", 3, slot("x", on(15, 0), on(16, 0))))
		r.wait(2 * time.Second)
		if got := h.receipts("s3"); !slices.Equal(got, []device.State{device.Rejected}) {
			t.Errorf("a gap: %q", got)
		}
		publish("schedule", false, said("s4", "snapshot", 4, slot("board", on(13, 0), on(14, 0))+","+slot("offline", on(11, 0), on(12, 0), `"title":"offline"`)))
		r.wait(5 * time.Second)
		var states []string
		all, _ := r.Bookings.List(room, time.Time{}, time.Time{})
		for _, b := range all {
			states = append(states, fmt.Sprintf("%s %s", b.ID, b.State))
		}
		slices.Sort(states)
		if !slices.Equal(states, []string{"board booked", "loser displaced", "nine cancelled", "offline booked"}) {
			t.Errorf("after the merge: %q", states)
		}
		r.wantStored()
		if got := up()[3:]; !slices.Equal(got, []string{"loser displaced"}) {
			t.Errorf("after the merge came up %q", got)
		}
		var types []string
		for _, m := range h.taken(eventlog.LevelEvent) {
			types = append(types, strings.TrimPrefix(m.Type, "roomgate.event."))
		}
		for _, want := range []string{"booking.created", "booking.cancelled", "snapshotWanted", "booking.displaced"} {
			if !slices.Contains(types, want) {
				t.Errorf("events %q, want %s among them", types, want)
			}
		}
		var last spaceState
		for _, m := range h.taken("state") {
			if m.rest == room {
				if err := json.Unmarshal(m.Data, &last); err != nil {
					t.Fatal(err)
				}
			}
		}
		if last.ScheduleRevision != 4 || last.Next == nil || last.Next.ID != "offline" {
			t.Errorf("the state that the cloud has: %+v", last)
		}
		r.stop()
		synctest.Wait()
	})
}
