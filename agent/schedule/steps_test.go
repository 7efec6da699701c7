package schedule

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
)

func TestWheelTakesEachStepOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: strings.Replace(planned, "name: Aurora", "name: Aurora, slot_size: 5", 1)})
		r.book("nobody", on(9, 0), on(9, 30))
		r.book("short", on(9, 30), on(9, 40)) // is over when it would be released
		r.book("next", on(10, 0), on(11, 0))
		r.book("cancelled", on(12, 0), on(13, 0))
		r.until(on(9, 5))
		if _, err := r.Cancel(t.Context(), "cancelled", Caller{}); err != nil {
			t.Fatal(err)
		}
		r.until(on(9, 9))
		r.turn(func() {
			if marks := r.Room(room).marks["nobody"]; !marks.Started || !marks.Warned {
				t.Errorf("marks at +9 min: %+v, want started and warned", marks)
			}
		})
		r.until(on(9, 55))
		if _, err := r.CheckIn(t.Context(), "next", Caller{}); err != nil {
			t.Fatal(err)
		}
		r.until(on(23, 0))
		r.wantHappenings("09:00:00 nobody start", "09:05:00 cancelled cancelled", "09:10:00 nobody released",
			"09:30:00 short start", "09:40:00 short end", "09:55:00 next checked_in", "10:00:00 next start", "11:00:00 next end")
		if b := r.booking("next"); b.State != booking.Ended || !b.EndedAt.Equal(on(11, 0)) || !b.PlannedEnd.IsZero() {
			t.Errorf("ended in its time: %+v", b)
		}
		r.wantStored()
	})
}

// Who books a meeting that has begun has as long to check in as others.
func TestLateBookingHasItsFullGrace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.until(on(9, 7))
		r.book("late", on(9, 0), on(10, 0))
		s, err := r.State(room)
		if err != nil || s.Current == nil || *s.Current.CheckInUntil != "2000-01-01T09:17:00.000Z" {
			t.Errorf("the sign says %+v, %v", s.Current, err)
		}
		r.until(on(10, 0))
		r.wantHappenings("09:07:00 late start", "09:17:00 late released")
	})
}

func TestWheelAfterAPowerOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		yaml := strings.Replace(planned, "name: Aurora", "name: Aurora, slot_size: 5", 1)
		r := startRig(t, rigOptions{yaml: yaml, dir: dir})
		r.book("missed", on(9, 0), on(10, 0))
		r.book("held", on(10, 0), on(11, 0))
		r.book("short", on(11, 0), on(11, 10))
		r.book("running", on(11, 45), on(12, 45))
		r.until(on(9, 52))
		r.wantHappenings("09:00:00 missed start", "09:10:00 missed released")
		if _, err := r.CheckIn(t.Context(), "held", Caller{}); err != nil {
			t.Fatal(err)
		}
		r.stop()
		r.until(on(11, 50))
		r = startRig(t, rigOptions{yaml: yaml, dir: dir})
		r.wait(time.Second)
		r.wantHappenings("09:00:00 missed start", "09:10:00 missed released", "09:52:00 held checked_in",
			"11:50:00 held start", "11:50:00 held end", "11:50:00 short start", "11:50:00 short end", "11:50:00 running start")
		if b := r.booking("held"); !b.EndedAt.Equal(on(11, 0)) || !b.End.Equal(on(11, 0)) {
			t.Errorf("ended while the power was off: %+v", b)
		}
		r.wantStored()
	})
}

func TestUntrustedClockReleasesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: strings.Replace(planned, "trust: always", "trust: auto", 1)})
		r.book("a", on(9, 0), on(10, 0))
		r.book("b", on(10, 0), on(11, 0))
		r.until(on(10, 5))
		r.wantHappenings()
		s, err := r.State(room)
		if err != nil || s.TimeTrust != clock.Untrusted || s.Status != booking.Reserved || s.Current.ID != "b" {
			t.Errorf("the sign says %+v, %v", s, err)
		}
		r.clock.Confirm()
		r.ClockMoved()
		synctest.Wait()
		r.wantHappenings("10:05:00 a start", "10:05:00 a released", "10:05:00 b start")
		r.wantStored()
	})
}

// A clock that is set back an hour takes no step a second time.
func TestClockSetBackDuringAMeeting(t *testing.T) {
	dir := t.TempDir()
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned, dir: dir})
		r.book("held", on(9, 0), on(10, 0))
		r.book("free", on(8, 30), on(9, 0))
		r.until(on(8, 55))
		if _, err := r.CheckIn(t.Context(), "held", Caller{}); err != nil {
			t.Fatal(err)
		}
		r.until(on(9, 30))
		r.wantHappenings("08:30:00 free start", "08:40:00 free released", "08:55:00 held checked_in", "09:00:00 held start")
	})
	bubble(t, func(t *testing.T) { // a bubble begins at midnight
		time.Sleep(time.Until(on(8, 35)))
		r := startRig(t, rigOptions{yaml: planned, dir: dir})
		r.wait(time.Second)
		if s, err := r.State(room); err != nil || s.Status == booking.Occupied || s.Next == nil || s.Next.ID != "held" {
			t.Errorf("the sign says %+v, %v", s, err)
		}
		r.until(on(8, 55))
		if s, _ := r.State(room); s.Status != booking.Occupied {
			t.Errorf("the sign says %s, want occupied: they are there", s.Status)
		}
		r.until(on(10, 30))
		r.wantHappenings("08:30:00 free start", "08:40:00 free released", "08:55:00 held checked_in", "09:00:00 held start", "10:00:00 held end")
		r.wantStored()
	})
}

func TestOccupiedRoomIsNotReleased(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: watched})
		hub := r.sensor
		r.book("spared", on(9, 0), on(10, 0))
		r.book("whole", on(10, 0), on(11, 0))
		r.book("unseen", on(11, 0), on(12, 0))
		r.until(on(8, 50))
		hub.show(Occupied)
		r.until(on(9, 25).Add(20 * time.Second))
		r.wantHappenings("09:00:00 spared start")
		hub.show(Vacant)
		r.wait(time.Minute)
		r.wantHappenings("09:00:00 spared start", "09:26:00 spared released")
		hub.show(Occupied)
		r.until(on(11, 5)) // all through the second
		r.wantHappenings("09:00:00 spared start", "09:26:00 spared released", "10:00:00 whole start", "11:00:00 whole end", "11:00:00 unseen start")
		hub.show(Unknown) // what was seen before is no evidence
		r.until(on(12, 30))
		all := r.happenings()
		last := all[len(all)-1]
		evidence, _ := last.details["evidence"].(map[string]any)
		if last.String() != "11:10:00 unseen released" || evidence["value"] != Unknown || last.details["reason"] != "nobody checked in and the room is not watched" {
			t.Errorf("last %v %v", last, last.details)
		}
		for _, h := range all {
			if evidence, _ := h.details["evidence"].(map[string]any); h.id == "spared" && h.event == Released &&
				(evidence["value"] != Vacant || evidence["observed_at"] == nil || evidence["source"] != "script") {
				t.Errorf("released by %v", h.details)
			}
		}
	})
}

// A gateway that starts while a release is due looks at the room first.
func TestReleaseWaitsForTheSensorAtTheStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		seen := &sensor{}
		r := startRig(t, rigOptions{yaml: watched, dir: dir, sensor: seen})
		r.book("here", on(9, 0), on(10, 0))
		r.stop()
		r.until(on(9, 20))
		seen.set("", true)
		r = startRig(t, rigOptions{yaml: watched, dir: dir, sensor: seen})
		time.Sleep(500 * time.Millisecond)
		seen.show(Occupied)
		r.until(on(9, 40))
		r.wantHappenings("09:20:00 here start")
	})
}

func TestEmptyRoomIsGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: watched})
		hub := r.sensor
		r.book("left", on(9, 0), on(11, 0))
		r.book("unseen", on(12, 0), on(13, 0))
		r.until(on(8, 55))
		if _, err := r.CheckIn(t.Context(), "left", Caller{}); err != nil {
			t.Fatal(err)
		}
		r.until(on(9, 10)) // seen empty, and not for long enough since the start
		hub.show(Occupied)
		r.until(on(9, 50))
		hub.show(Vacant)
		r.until(on(10, 0))
		hub.show(Occupied) // somebody is back
		r.until(on(10, 10))
		hub.show(Vacant)
		r.until(on(10, 24))
		if b := r.booking("left"); b.State != booking.CheckedIn {
			t.Errorf("after 14 minutes: %+v", b)
		}
		r.until(on(10, 26))
		b := r.booking("left")
		if b.State != booking.Ended || b.End.Before(on(10, 25)) || !b.PlannedEnd.Equal(on(11, 0)) || !strings.HasPrefix(b.Reason, "the room is empty since 2000-01-01T10:10") {
			t.Errorf("after 16 minutes: %+v", b)
		}
		all := r.happenings()
		evidence, _ := all[len(all)-1].details["evidence"].(map[string]any)
		if evidence["value"] != Vacant || evidence["observed_at"] == nil {
			t.Errorf("given back by %v", all[len(all)-1].details)
		}
		if _, _, err := r.Create(t.Context(), booking.Booking{SpaceID: room, Source: booking.WalkUp}, Caller{}); err != nil {
			t.Errorf("the time that was given back: %v", err)
		}
		hub.show(Unknown)
		r.until(on(12, 0))
		if _, err := r.CheckIn(t.Context(), "unseen", Caller{}); err != nil {
			t.Fatal(err)
		}
		r.until(on(12, 59)) // a room that nobody watches is not empty
		if b := r.booking("unseen"); b.State != booking.CheckedIn {
			t.Errorf("unseen: %+v", b)
		}
	})
}

func TestPastBookingsAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("old", on(9, 0), on(10, 0))
		r.book("kept", on(11, 0), on(12, 0))
		r.until(on(13, 0))
		r.turn(func() {
			if err := r.Room(room).steps.forgetPast(t.Context(), on(13, 0).AddDate(10, 0, 0)); err != nil {
				t.Fatal(err)
			}
		})
		if got := r.plan(room); len(got) != 2 {
			t.Errorf("by time that nobody lived through: %q, want both", got)
		}
		r.stop()
		r = openRig(t, rigOptions{yaml: planned, dir: r.dir}) // its loops rest: a month passes at once
		defer func() { _ = r.Close() }()
		for _, c := range []struct {
			at   time.Time
			want []string
		}{
			{on(9, 9).Add(keepPast), []string{"kept 11 released", "old 9 released"}},
			{on(10, 1).Add(keepPast), []string{"kept 11 released"}},
			{on(12, 10).Add(keepPast), nil},
		} {
			r.until(c.at)
			s := r.Room(room)
			r.turn(func() {
				s.steps.pastDays = 0
				if err := s.steps.forgetPast(t.Context(), c.at); err != nil {
					t.Fatal(err)
				}
				if len(s.marks) != len(r.plan(room)) {
					t.Errorf("%v: marks %v", c.at, s.marks)
				}
			})
			if got := r.plan(room); !slices.Equal(got, c.want) {
				t.Errorf("%v: %q, want %q", c.at, got, c.want)
			}
			r.wantStored()
		}
	})
}

// turn does something while nobody else changes the first room's plan.
func (r *rig) turn(f func()) {
	p := r.Room(room)
	if err := p.turn.Lock(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	defer p.turn.Unlock()
	f()
}

func TestStepThatCannotBeStoredIsTakenLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("a", on(9, 0), on(10, 0))
		r.until(on(8, 59))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		r.turn(func() {
			s := r.Room(room)
			err := s.steps.takeStep(gone, r.booking("a"), booking.Start, on(9, 0), on(9, 0))
			if err == nil || len(s.marks) > 0 {
				t.Errorf("a step that was not stored: %v, marks %v", err, s.marks)
			}
		})
		r.until(on(9, 1))
		r.wantHappenings("09:00:00 a start")
	})
}
