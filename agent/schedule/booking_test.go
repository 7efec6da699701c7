package schedule

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

// refusal is what a method says, in short: "conflict start_time 09:00-10:00".
func refusal(err error) string {
	e := problem.As(err)
	if e == nil {
		return ""
	}
	text := strings.TrimSpace(string(e.Code) + " " + e.Field)
	if e.Busy != nil {
		text += " " + e.Busy.Start.Format("15:04") + "-" + e.Busy.End.Format("15:04")
	}
	return text
}

func TestCreateBooking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.until(on(8, 5))
		r.book("first", on(9, 0), on(10, 0))
		r.book("second", on(10, 0), on(11, 0)) // half-open: they touch
		if _, err := r.Hold(t.Context(), room, booking.Hold{Status: booking.Reserved, From: on(14, 0), Until: on(15, 0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Hold(t.Context(), room, booking.Hold{Status: booking.Disabled, From: on(20, 0)}); err != nil {
			t.Fatal(err)
		}
		with := func(f func(*booking.Booking)) booking.Booking {
			b := meeting("", on(12, 0), on(13, 0))
			f(&b)
			return b
		}
		for name, c := range map[string]struct {
			asked booking.Booking
			want  string
		}{
			"over one":          {meeting("", on(9, 30), on(10, 0)), "conflict start_time 09:00-10:00"},
			"over the next":     {meeting("", on(8, 30), on(9, 15)), "conflict start_time 09:00-10:00"},
			"around two":        {meeting("", on(8, 30), on(11, 30)), "conflict start_time 09:00-10:00"},
			"used id":           {meeting("first", on(12, 0), on(13, 0)), "conflict id"},
			"in a hold":         {meeting("", on(14, 30), on(15, 30)), "conflict start_time 14:00-15:00"},
			"in an open hold":   {meeting("", on(21, 0), on(22, 0)), "conflict start_time 20:00-00:00"},
			"no such space":     {with(func(b *booking.Booking) { b.SpaceID = "x" }), "not_found meeting_space_id"},
			"wrong id":          {with(func(b *booking.Booking) { b.ID = "a/b" }), "invalid id"},
			"end before start":  {meeting("", on(13, 0), on(12, 0)), "invalid end_time"},
			"zero length":       {meeting("", on(13, 0), on(13, 0)), "invalid end_time"},
			"off the grid":      {meeting("", on(12, 5), on(13, 0)), "invalid start_time"},
			"past":              {meeting("", on(7, 0), on(9, 0)), "invalid start_time"},
			"beyond horizon":    {meeting("", on(9, 0).AddDate(1, 0, 0), on(10, 0).AddDate(1, 0, 0)), "invalid start_time"},
			"too long":          {meeting("", on(12, 0), on(13, 0).AddDate(0, 0, 1)), "invalid end_time"},
			"from the cloud":    {with(func(b *booking.Booking) { b.Source = booking.Cloud }), "invalid source"},
			"from a calendar":   {with(func(b *booking.Booking) { b.Source = booking.Calendar }), "invalid source"},
			"walk-up for later": {with(func(b *booking.Booking) { b.Source = booking.WalkUp }), "invalid start_time"},
			"wrong address":     {with(func(b *booking.Booking) { b.Organizer.Email = "x" }), "invalid organizer.email"},
			"long title":        {with(func(b *booking.Booking) { b.Title = strings.Repeat("x", 501) }), "invalid title"},
		} {
			b, created, err := r.Create(t.Context(), c.asked, Caller{})
			if got := refusal(err); got != c.want || created || b.State != "" && c.want == "conflict id" {
				t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
			}
		}
		if all, _ := r.List("", time.Time{}, time.Time{}); len(all) != 2 {
			t.Errorf("%d bookings, want the two that were taken", len(all))
		}
		off := false
		if _, err := r.SetAvailability(t.Context(), room, Availability{Enabled: &off}); err != nil {
			t.Fatal(err)
		}
		_, _, err := r.Create(t.Context(), meeting("", on(12, 0), on(13, 0)), Caller{})
		wantCode(t, "a space out of use", err, problem.Conflict, "meeting_space_id")
	})
}

// What a caller has no say in is not taken from him.
func TestCreateBookingTakesWhatMayBeAskedFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		asked := meeting("mine", on(9, 0), on(10, 0))
		asked.State, asked.Revision, asked.CloudRevision, asked.Reason = booking.Ended, 7, 9, "because"
		asked.CheckedInAt, asked.PlannedEnd = on(8, 0), on(8, 0)
		b, _, err := r.Create(t.Context(), asked, Caller{By: "lobby"})
		want := booking.Booking{ID: "mine", SpaceID: room, OrganizationID: owner, Title: "mine", Start: on(9, 0), End: on(10, 0), State: booking.Booked,
			Revision: 1, Source: booking.Local, CreatedAt: on(0, 0), UpdatedAt: on(0, 0)}
		if err != nil || b != want {
			t.Errorf("made %+v, %v\nwant %+v", b, err, want)
		}
		told := r.happenings()
		if len(told) != 1 {
			t.Fatalf("told %+v", told)
		}
		goldentest.Values(t, "told", goldentest.Pairs{"event": {told[0].event, Created}, "by": {told[0].details["by"], "lobby"},
			"device":           {told[0].details["device"], eventlog.SpaceDevice},
			"start_time":       {told[0].details["start_time"], "2000-01-01T09:00:00.000Z"},
			"meeting_space_id": {told[0].details["meeting_space_id"], room}})
	})
}

func TestKeyMakesARequestTheSameOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		asked := booking.Booking{SpaceID: room, Title: "t", Start: on(9, 0), End: on(10, 0)}
		o := Caller{Key: "caller/1"}
		first, created, err := r.Create(t.Context(), asked, o)
		if err != nil || !created {
			t.Fatal(created, err)
		}
		if again, created, err := r.Create(t.Context(), asked, o); err != nil || created || again != first {
			t.Errorf("again: %+v, %v, %v", again, created, err)
		}
		for name, f := range map[string]func(*booking.Booking){
			"title": func(b *booking.Booking) { b.Title = "u" }, "time": func(b *booking.Booking) { b.End = on(11, 0) },
			"space": func(b *booking.Booking) { b.SpaceID = otherRoom }, "private": func(b *booking.Booking) { b.Private = true },
			"source": func(b *booking.Booking) { b.Source = booking.WalkUp }, "external": func(b *booking.Booking) { b.ExternalID = "e" },
		} {
			other := asked
			f(&other)
			_, created, err := r.Create(t.Context(), other, o)
			if wantCode(t, name, err, problem.Conflict, "id"); created {
				t.Errorf("%s: created", name)
			}
		}
		if _, err := r.Cancel(t.Context(), first.ID, Caller{}); err != nil {
			t.Fatal(err)
		}
		if again, created, err := r.Create(t.Context(), asked, o); err != nil || created || again.State != booking.Cancelled {
			t.Errorf("after it was cancelled: %+v, %v, %v, want it as it is", again, created, err)
		}
		// A walk-up that names no times is what it was, whatever the time.
		r.until(on(9, 0))
		walk := booking.Booking{SpaceID: room, Source: booking.WalkUp}
		was, _, err := r.Create(t.Context(), walk, Caller{Key: "caller/2"})
		if err != nil {
			t.Fatal(err)
		}
		r.until(on(9, 10))
		if is, created, err := r.Create(t.Context(), walk, Caller{Key: "caller/2"}); err != nil || created || is != was {
			t.Errorf("walk-up again: %+v, %v, %v", is, created, err)
		}
		// An id that the caller has chosen is kept, and the key does no harm.
		asked.ID, asked.Start, asked.End = "chosen", on(12, 0), on(13, 0)
		for i := range 2 {
			if b, created, err := r.Create(t.Context(), asked, Caller{Key: "caller/3"}); err != nil || b.ID != "chosen" || created != (i == 0) {
				t.Errorf("with an id: %+v, %v, %v", b, created, err)
			}
		}
		r.wantStored()
	})
}

func TestWalkUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("ten", on(10, 0), on(10, 30))
		if _, err := r.Hold(t.Context(), room, booking.Hold{Status: booking.Disabled, From: on(12, 0), Until: on(13, 0)}); err != nil {
			t.Fatal(err)
		}
		everyDay := "08:00-18:00"
		if _, err := r.SetAvailability(t.Context(), otherRoom, Availability{Hours: &config.Hours{Saturday: everyDay}}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what   string
			at     time.Time
			length time.Duration // asked for; 0: nothing said
			space  string
			want   string // the times, or the refusal
		}{
			{"before opening", on(7, 0), 0, otherRoom, "invalid start_time"},
			{"half an hour", on(9, 0).Add(20 * time.Second), 0, room, "09:00:20-09:30:20"},
			{"cut by the next", on(9, 45), 0, room, "09:45:00-10:00:00"},
			{"longer than that", on(9, 46), 30 * time.Minute, otherRoom, "09:46:00-10:16:00"},
			{"while another has it", on(9, 50), 0, room, "conflict start_time 09:45-10:00"},
			{"cut by a hold", on(11, 40), 0, room, "11:40:00-12:00:00"},
			{"in a hold", on(12, 30), 0, room, "conflict start_time 12:00-13:00"},
			{"longer than walk-ups are", on(14, 0), 3 * time.Hour, room, "invalid end_time"},
			{"two hours", on(15, 0), 2 * time.Hour, room, "15:00:00-17:00:00"},
			{"cut by closing", on(17, 45), 0, otherRoom, "17:45:00-18:00:00"},
			{"nearly closed", on(17, 58), 0, otherRoom, "invalid end_time"},
		} {
			r.until(c.at)
			b := booking.Booking{SpaceID: c.space, Source: booking.WalkUp}
			if c.length > 0 {
				b.End = time.Now().Truncate(time.Second).Add(c.length)
			}
			b, _, err := r.Create(t.Context(), b, Caller{})
			got := refusal(err)
			if err == nil {
				got = b.Start.Format("15:04:05") + "-" + b.End.Format("15:04:05")
				if b.State != booking.CheckedIn || !b.CheckedInAt.Equal(time.Now().Truncate(time.Millisecond)) {
					t.Errorf("%s: %+v, want it checked in now", c.what, b)
				}
			}
			if got != c.want {
				t.Errorf("%s: %s (%v), want %s", c.what, got, err, c.want)
			}
		}
		// Too little is left until the next meeting: the refusal names it.
		r.book("late", on(19, 0), on(20, 0))
		r.until(on(18, 57))
		_, _, err := r.Create(t.Context(), booking.Booking{SpaceID: room, Source: booking.WalkUp}, Caller{})
		if got := refusal(err); got != "conflict start_time 19:00-20:00" {
			t.Errorf("three minutes before the next: %s", got)
		}
		r.wantStored()
	})
}

func TestChangeBooking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("a", on(9, 0), on(10, 0))
		r.book("b", on(11, 0), on(12, 0))
		times := func(from, to time.Time) booking.Edit { return booking.Edit{Start: &from, End: &to} }
		title := "new"
		for _, c := range []struct {
			what     string
			id       string
			edit     booking.Edit
			seen     uint64
			want     string
			revision uint64 // afterwards
		}{
			{"unknown", "x", booking.Edit{Title: &title}, 0, "not_found booking_id", 1},
			{"stale", "a", booking.Edit{Title: &title}, 2, "revision_mismatch If-Match", 1},
			{"as seen", "a", booking.Edit{Title: &title}, 1, "", 2},
			{"the same", "a", booking.Edit{Title: &title}, 0, "", 2},
			{"into another", "a", times(on(10, 0), on(11, 15)), 0, "conflict start_time 11:00-12:00", 2},
			{"end into another", "a", times(on(9, 0), on(11, 15)), 0, "conflict end_time 11:00-12:00", 2},
			{"over itself", "a", times(on(9, 30), on(10, 30)), 0, "", 3},
			{"off the grid", "a", times(on(9, 31), on(10, 30)), 0, "invalid start_time", 3},
		} {
			_, err := r.Change(t.Context(), c.id, c.edit, Caller{Revision: c.seen})
			if got := refusal(err); got != c.want {
				t.Errorf("%s: %s (%v), want %s", c.what, got, err, c.want)
			}
			if got := r.booking("a").Revision; got != c.revision {
				t.Errorf("%s: revision %d, want %d", c.what, got, c.revision)
			}
		}
		// What stands where a hold was laid since may shrink, and not grow.
		if _, err := r.Hold(t.Context(), room, booking.Hold{Status: booking.Disabled, From: on(9, 0), Until: on(13, 0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Change(t.Context(), "b", times(on(11, 0), on(11, 30)), Caller{}); err != nil {
			t.Errorf("shrink in a hold: %v", err)
		}
		_, err := r.Change(t.Context(), "b", times(on(11, 0), on(12, 0)), Caller{})
		if got := refusal(err); got != "conflict end_time 09:00-13:00" {
			t.Errorf("grow in a hold: %s", got)
		}
		r.wantStored()
	})
}

func TestLifeOfABooking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("a", on(9, 0), on(10, 0))
		r.book("b", on(10, 30), on(11, 0))
		type step struct {
			what string
			at   time.Time
			do   func() (booking.Booking, error)
			want string
		}
		o := Caller{}
		var seen booking.Booking
		for _, c := range []step{
			{"too early", on(8, 49), func() (booking.Booking, error) { return r.CheckIn(t.Context(), "a", o) }, "not_now"},
			{"end before it begins", on(8, 49), func() (booking.Booking, error) { return r.End(t.Context(), "a", o) }, "not_now"},
			{"check in early", on(8, 50), func() (booking.Booking, error) { return r.CheckIn(t.Context(), "a", o) }, ""},
			{"check in twice", on(8, 51), func() (booking.Booking, error) { return r.CheckIn(t.Context(), "a", o) }, ""},
			{"extend stale", on(9, 30), func() (booking.Booking, error) {
				return r.Extend(t.Context(), "a", time.Time{}, 15*time.Minute, Caller{Revision: 1})
			}, "revision_mismatch If-Match"},
			{"extend by", on(9, 30), func() (booking.Booking, error) {
				return r.Extend(t.Context(), "a", time.Time{}, 15*time.Minute, o)
			}, ""},
			{"extend into the next", on(9, 31), func() (booking.Booking, error) { return r.Extend(t.Context(), "a", on(10, 45), 0, o) }, "conflict end_time 10:30-11:00"},
			{"extend backwards", on(9, 31), func() (booking.Booking, error) { return r.Extend(t.Context(), "a", on(9, 45), 0, o) }, "invalid end_time"},
			{"extend by nothing", on(9, 31), func() (booking.Booking, error) { return r.Extend(t.Context(), "a", time.Time{}, 0, o) }, "invalid end_time"},
			{"extend up to the next", on(9, 32), func() (booking.Booking, error) { return r.Extend(t.Context(), "a", on(10, 30), 0, o) }, ""},
			{"end early", on(9, 40), func() (booking.Booking, error) { return r.End(t.Context(), "a", o) }, ""},
			{"end twice", on(9, 41), func() (booking.Booking, error) { return r.End(t.Context(), "a", o) }, ""},
			{"extend what is over", on(9, 42), func() (booking.Booking, error) { return r.Extend(t.Context(), "a", on(11, 0), 0, o) }, "not_now"},
			{"cancel", on(9, 43), func() (booking.Booking, error) { return r.Cancel(t.Context(), "b", o) }, ""},
			{"cancel twice", on(9, 43), func() (booking.Booking, error) { return r.Cancel(t.Context(), "b", o) }, ""},
			{"check in to what was cancelled", on(10, 30), func() (booking.Booking, error) { return r.CheckIn(t.Context(), "b", o) }, "not_now"},
		} {
			r.until(c.at)
			b, err := c.do()
			if got := refusal(err); got != c.want {
				t.Errorf("%s: %s (%v), want %s", c.what, got, err, c.want)
			}
			if b.ID == "a" {
				seen = b
			}
		}
		if seen.State != booking.Ended || !seen.End.Equal(on(9, 40)) || !seen.PlannedEnd.Equal(on(10, 0)) || seen.Revision != 5 {
			t.Errorf("the meeting was %+v", seen)
		}
		r.wantHappenings("08:50:00 a checked_in", "09:00:00 a start", "09:30:00 a updated", "09:32:00 a updated",
			"09:40:00 a end", "09:43:00 b cancelled")
		r.wantStored()
	})
}

// One of a thousand who ask for a slot in the same instant gets it.
func TestThousandWantOneSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{yaml: planned, dir: dir})
		var all sync.WaitGroup
		winners := make(chan booking.Booking, 1000)
		for i := range 1000 {
			all.Go(func() {
				b, created, err := r.Create(t.Context(), meeting(fmt.Sprint("m", i), on(9, 0), on(10, 0)), Caller{})
				if got := refusal(err); got != "" && got != "conflict start_time 09:00-10:00" || created != (err == nil) {
					t.Errorf("refused with %s", got)
				}
				if err == nil {
					winners <- b
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if len(winners) != 1 {
			t.Fatalf("%d of them got the slot", len(winners))
		}
		if told := r.happenings(); len(told) != 1 {
			t.Errorf("told %v", told)
		}
		r.wantStored()
		r.stop()
		r = startRig(t, rigOptions{yaml: planned, dir: dir})
		stored, _ := r.List(room, time.Time{}, time.Time{})
		if winner := <-winners; len(stored) != 1 || stored[0] != winner {
			t.Errorf("stored %+v, won %+v", stored, winner)
		}
	})
}

// One of two who give an id in the same instant, each in another room, has it.
func TestOneIDIsInOneRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		for i := range 20 {
			var both sync.WaitGroup
			refusals := make(chan string, 2)
			for _, space := range []string{room, otherRoom} {
				both.Go(func() {
					b := meeting(fmt.Sprint("m", i), on(9+i/2, i%2*30), on(9+i/2, i%2*30+30))
					b.SpaceID = space
					_, _, err := r.Create(t.Context(), b, Caller{})
					refusals <- refusal(err)
				})
			}
			both.Wait()
			if first, second := <-refusals, <-refusals; first+second != "conflict id" {
				t.Errorf("%q and %q", first, second)
			}
		}
		r.wantStored()
	})
}
