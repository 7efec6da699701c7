package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
			if reason, _ := h.details["reason"].(string); h.event == Displaced && !strings.Contains(reason, "09:30") {
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
		if _, err := r.CheckIn(t.Context(), "here", Caller{}); err != nil {
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
			if e, err = cloud.DecodeLarge(payload); err != nil {
				t.Fatal(err)
			}
			if got := r.take(e); got != "done" {
				t.Fatal(got)
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
		if n := r.Room(room).bookings.Len(); n != maxEvents+3 {
			t.Errorf("%d bookings", n)
		}
		r.wantStored()
	})
}
