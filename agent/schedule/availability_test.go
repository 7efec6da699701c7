package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/goldentest"
)

func TestSetAvailability(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		yes, no, ten, half, two := true, false, 10, 30, 2
		weekend := config.Hours{Saturday: "08:00-18:00", Sunday: "closed"}
		for _, c := range []struct {
			what string
			set  Availability
			want string
		}{
			{"nothing", Availability{}, ""},
			{"slots of half an hour", Availability{SlotSize: &half}, ""},
			{"slots of two minutes", Availability{SlotSize: &two}, "invalid slot_size"},
			{"closed, and no hours", Availability{AroundTheClock: &no}, "invalid hours"},
			{"wrong hours", Availability{Hours: &config.Hours{Monday: "8 to 5"}}, "invalid hours"},
			{"no hours", Availability{Hours: &config.Hours{}}, "invalid hours"},
			{"both", Availability{Hours: &weekend, AroundTheClock: &yes}, "invalid hours"},
			{"hours", Availability{Hours: &weekend}, ""},
			{"no current bookings", Availability{AllowCurrentTimeBooking: &no}, ""},
			{"slots", Availability{SlotSize: &ten}, ""},
		} {
			before := *r.Room(room).terms.Load()
			_, err := r.SetAvailability(t.Context(), room, c.set)
			if got := refusal(err); got != c.want {
				t.Errorf("%s: %q (%v), want %q", c.what, got, err, c.want)
			}
			if after := *r.Room(room).terms.Load(); err != nil && !after.UpdatedAt.Equal(before.UpdatedAt) {
				t.Errorf("%s: changed", c.what)
			}
			r.wait(time.Minute)
		}
		now := r.Room(room).availability()
		goldentest.Values(t, "in force", goldentest.Pairs{"SlotSize": {*now.SlotSize, 10},
			"AroundTheClock": {*now.AroundTheClock, false}, "AllowCurrentTimeBooking": {*now.AllowCurrentTimeBooking, false},
			"Hours": {*now.Hours, weekend}, "Enabled": {*now.Enabled, true}})
		m, at := r.Room(room).Config(), r.Room(room).At(r.clock.Now())
		_, updated := r.Room(room).Noted()
		goldentest.Values(t, "the room says", goldentest.Pairs{"SlotSize": {m.SlotSize, 10},
			"AroundTheClock": {m.AroundTheClock, false}, "AllowCurrentTimeBooking": {m.AllowCurrentTimeBooking, false},
			"updated": {updated.Equal(on(0, 9)), true}, "Status": {at.Status, booking.Disabled},
			"NextAvailable": {at.NextAvailable.Equal(on(8, 0)), true}})
		for what, c := range map[string]struct {
			from, to time.Time
			want     string
		}{
			"before opening": {on(7, 0), on(9, 0), "invalid start_time"},
			"after closing":  {on(17, 0), on(19, 0), "invalid end_time"},
			"on Sunday":      {on(9, 0).AddDate(0, 0, 1), on(10, 0).AddDate(0, 0, 1), "invalid start_time"},
			"on Monday":      {on(9, 0).AddDate(0, 0, 2), on(10, 0).AddDate(0, 0, 2), "invalid start_time"},
			"open":           {on(9, 0), on(9, 50), ""},
		} {
			_, _, err := r.Create(t.Context(), meeting("", c.from, c.to), Caller{})
			if got := refusal(err); got != c.want {
				t.Errorf("%s: %q (%v), want %q", what, got, err, c.want)
			}
		}
		if _, err := r.SetAvailability(t.Context(), "x", Availability{}); refusal(err) != "not_found meeting_space_id" {
			t.Error(err)
		}
	})
}

func TestHoldSpaceRefuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.until(on(9, 0))
		far := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
		for what, c := range map[string]struct {
			hold booking.Hold
			want string
		}{
			"nothing":      {booking.Hold{}, "invalid status"},
			"unknown":      {booking.Hold{Status: "open"}, "invalid status"},
			"backwards":    {booking.Hold{Status: booking.Disabled, From: on(10, 0), Until: on(9, 30)}, "invalid until"},
			"over":         {booking.Hold{Status: booking.Disabled, From: on(7, 0), Until: on(8, 0)}, "invalid until"},
			"long note":    {booking.Hold{Status: booking.Disabled, Note: string(make([]byte, 501))}, "invalid note"},
			"year 10 000":  {booking.Hold{Status: booking.Disabled, Until: far}, "invalid until"},
			"from 10 000":  {booking.Hold{Status: booking.Disabled, From: far}, "invalid from"},
			"from 1 BC":    {booking.Hold{Status: booking.Disabled, From: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}, "invalid from"},
			"lifting what": {booking.Hold{Status: booking.Available}, ""},
		} {
			_, err := r.Hold(t.Context(), room, c.hold)
			if got := refusal(err); got != c.want {
				t.Errorf("%s: %q (%v), want %q", what, got, err, c.want)
			}
		}
		var err error
		for i := 0; err == nil; i++ {
			from := on(10, 0).Add(time.Duration(i) * time.Hour)
			_, err = r.Hold(t.Context(), room, booking.Hold{Status: booking.Reserved, From: from, Until: from.Add(time.Minute)})
		}
		if n := len(r.Room(room).terms.Load().Holds); n != maxHolds || refusal(err) != "conflict" {
			t.Errorf("%d states are scheduled, then %v", n, err)
		}
	})
}

// At each minute the last state that was set for it is in force, and there is
// one at most.
func TestLaterHoldsLieOverEarlierOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var holds []booking.Hold
		want := make([]booking.Status, 60)
		for range rapid.IntRange(1, 12).Draw(t, "holds") {
			from := rapid.IntRange(0, 58).Draw(t, "from")
			until := rapid.IntRange(from+1, 61).Draw(t, "until")
			h := booking.Hold{Status: rapid.SampledFrom([]booking.Status{booking.Available, booking.Reserved, booking.Occupied, booking.Disabled}).Draw(t, "status"),
				From: on(0, 0).Add(time.Duration(from) * time.Minute)}
			if until <= 60 {
				h.Until = on(0, 0).Add(time.Duration(until) * time.Minute)
			}
			h.ID = fmt.Sprint(h)
			var err error
			if holds, err = laid(holds, h, on(0, 0)); err != nil {
				t.Fatal(err)
			}
			for m := from; m < min(until, 60); m++ {
				want[m] = h.Status
				if h.Status == booking.Available {
					want[m] = ""
				}
			}
		}
		for m := range want {
			at := on(0, 0).Add(time.Duration(m) * time.Minute)
			got := slices.DeleteFunc(slices.Clone(holds), func(h booking.Hold) bool { return !h.Overlaps(at, at.Add(time.Second)) })
			if len(got) > 1 || len(got) == 0 && want[m] != "" || len(got) == 1 && got[0].Status != want[m] {
				t.Fatalf("minute %d: %v, want %q", m, got, want[m])
			}
		}
	})
}

// A state that is over stays for as long as a trusted clock can be set back,
// unless there are too many.
func TestHoldsThatAreOverCanComeBack(t *testing.T) {
	hold := func(day, hour int) booking.Hold {
		from := on(hour, 0).AddDate(0, 0, day)
		return booking.Hold{ID: fmt.Sprint(day, hour), Status: booking.Reserved, From: from, Until: from.Add(time.Minute)}
	}
	holds := []booking.Hold{hold(0, 9)}
	for hours, want := range map[time.Duration]int{time.Hour: 2, 23 * time.Hour: 2, 25 * time.Hour: 1} {
		if got, err := laid(holds, hold(9, 9), on(9, 0).Add(hours)); err != nil || len(got) != want {
			t.Errorf("%v later: %v, %v, want %d", hours, got, err, want)
		}
	}
	for i := range maxHolds - 1 {
		holds = append(holds, hold(10+i, 9))
	}
	if got, err := laid(holds, hold(9, 9), on(9, 5)); err != nil || len(got) != maxHolds {
		t.Errorf("too many: %d, %v, want %d without the one that is over", len(got), err, maxHolds)
	}
}
