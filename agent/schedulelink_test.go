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
	"roomgate/agent/eventlog"
	"roomgate/cloud"
)

func TestLosersAreTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("mine", on(9, 0), on(10, 0))
		two := slot("first", on(9, 30), on(10, 30), `"cloud_revision":1`) + "," + slot("second", on(10, 0), on(11, 0), `"cloud_revision":2`)
		if got := r.take(said("1", kindSnapshot, 3, two)); got != "done" {
			t.Errorf("receipt %q", got)
		}
		r.wantStates("one message with two that overlap", "first booked", "mine displaced", "second displaced")
		if told := r.toldUp(); !slices.Equal(told, []string{"mine booked", "mine displaced", "second displaced"}) {
			t.Errorf("told %q", told)
		}
		r.wantHappenings("00:00:00 mine displaced", "00:00:00 second displaced")
		for _, h := range r.happenings() {
			if reason, _ := h.details["reason"].(string); h.event == bookingDisplaced && !strings.Contains(reason, "09:30") {
				t.Errorf("%s because %q", h, reason)
			}
		}
		if b := r.booking("mine"); b.Revision != 2 || b.Reason == "" {
			t.Errorf("displaced: %+v", b)
		}
	})
}

func TestPeopleInTheRoomKeepIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("here", on(9, 0), on(10, 0))
		r.until(on(9, 0))
		if _, err := r.CheckIn(t.Context(), "here", BookingOptions{}); err != nil {
			t.Fatal(err)
		}
		r.take(said("1", kindSnapshot, 1, slot("board", on(9, 30), on(10, 30))))
		r.wantStates("the cloud's over it", "board displaced", "here checked_in")
		if told := r.toldUp(); !slices.Equal(told[2:], []string{"board displaced", "here checked_in"}) && !slices.Equal(told[2:], []string{"board displaced"}) {
			t.Errorf("told %q", told)
		}
		r.take(said("2", kindDelta, 2, slot("here", on(9, 0), on(10, 0), `"state":"cancelled"`, `"revision":9`)))
		r.take(said("3", kindDelta, 3, "", "here"))
		r.wantStates("cancelled elsewhere", "board displaced", "here checked_in")
		told := r.toldUp()
		if told[len(told)-1] != "here checked_in" {
			t.Errorf("the cloud was not told that they are there: %q", told)
		}
	})
}

func TestLargeSchedule(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		many := func(n int, more string) string {
			var all []string
			for i := range n {
				from := on(0, 0).AddDate(0, 0, 1).Add(time.Duration(i) * 15 * time.Minute)
				all = append(all, slot(fmt.Sprintf("m%05d", i), from, from.Add(15*time.Minute), more))
			}
			return strings.Join(all, ",")
		}
		send := func(e cloud.Envelope) {
			t.Helper()
			payload, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.receive(t.Context(), cloud.Message{Topic: r.topics.Down("schedule"), Payload: payload}); err != nil {
				t.Fatal(err)
			}
		}
		send(said("1", kindSnapshot, 1, many(maxEvents, `"title":"a"`)))
		if n := len(r.happenings()); n != maxEvents {
			t.Errorf("%d bookings: %d events", maxEvents, n)
		}
		r.book("mine", on(9, 0), on(10, 0))
		own := slot("board", on(9, 0), on(10, 0), `"cloud_revision":1`)
		send(said("2", kindSnapshot, 2, many(maxEvents+1, `"title":"b"`)+","+own))
		if got := r.happenings()[maxEvents:]; len(got) != 2 || got[1].String() != "00:00:00 mine displaced" {
			t.Errorf("%d changes are told as %v, want who lost alone", maxEvents+2, got)
		}
		if n := r.find(room).plan.bookings.Len(); n != maxEvents+3 {
			t.Errorf("%d bookings", n)
		}
		r.wantStored()
	})
}

func TestScheduleOverALink(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, publish := openHeaven(t)
		r := startRig(t, rigOptions{yaml: "cloud: {url: 'mqtt://cloud', acks: broker}\n" + planned, dial: h.dial})
		r.wait(5 * time.Second)
		publish("schedule", false, said("s1", kindSnapshot, 1, slot("nine", on(9, 0), on(10, 0))))
		r.wait(2 * time.Second)
		if got := h.receipts("s1"); !slices.Equal(got, []State{Done}) {
			t.Errorf("receipts %q", got)
		}
		h.cut(true)
		r.wait(time.Minute)
		r.book("offline", on(11, 0), on(12, 0))
		r.book("loser", on(13, 0), on(14, 0))
		if _, err := r.CancelBooking(t.Context(), "nine", BookingOptions{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Hour)
		if n := len(h.taken(levelBooking)); n != 0 {
			t.Fatalf("%d bookings came through a cut", n)
		}
		h.cut(false)
		r.wait(2 * time.Minute)
		up := func() (all []string) {
			for _, m := range h.taken(levelBooking) {
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
		publish("schedule", false, said("s3", kindDelta, 3, slot("x", on(15, 0), on(16, 0))))
		r.wait(2 * time.Second)
		if got := h.receipts("s3"); !slices.Equal(got, []State{Rejected}) {
			t.Errorf("a gap: %q", got)
		}
		publish("schedule", false, said("s4", kindSnapshot, 4, slot("board", on(13, 0), on(14, 0))+","+slot("offline", on(11, 0), on(12, 0), `"title":"offline"`)))
		r.wait(5 * time.Second)
		r.wantStates("after the merge", "board booked", "loser displaced", "nine cancelled", "offline booked")
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
