package schedule

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

// glance is a state in one line: status, ring, current, next, available until,
// next available; "-" is null.
func (r *rig) glance() string {
	r.t.Helper()
	s, err := r.State(room)
	if err != nil {
		r.t.Fatal(err)
	}
	of := func(m *Meeting) string {
		if m == nil {
			return "-"
		}
		return m.ID
	}
	at := func(text *string) string {
		if text == nil {
			return "-"
		}
		return strings.TrimSuffix((*text)[8:], ":00.000Z")
	}
	return strings.Join([]string{string(s.Status), s.Ring, of(s.Current), of(s.Next), at(s.AvailableUntil), at(s.NextAvailable)}, " ")
}

func TestSpaceStateThroughADay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.until(on(8, 0))
		check := func(what, want string) {
			t.Helper()
			if got := r.glance(); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		check("nothing booked", "available green - - - 01T08:00")
		r.book("a", on(9, 0), on(10, 0))
		r.book("b", on(10, 0), on(10, 30))
		check("free for an hour", "available green - a 01T09:00 01T08:00")
		r.until(on(8, 50))
		check("about to be taken", "reserved amber - a - 01T10:30")
		r.until(on(9, 0))
		check("begun", "reserved amber a b - 01T10:30")
		if _, err := r.CheckIn(t.Context(), "a", Caller{}); err != nil {
			t.Fatal(err)
		}
		check("checked in", "occupied red a b - 01T10:30")
		if _, err := r.End(t.Context(), "a", Caller{}); err != nil {
			t.Fatal(err)
		}
		check("ended", "available green - b 01T10:00 01T09:00")
		r.until(on(10, 10))
		check("released", "available green - - - 01T10:10")
		for _, c := range []struct {
			hold booking.Hold
			want string
		}{
			{booking.Hold{Status: booking.Disabled, Until: on(11, 0)}, "disabled off - - - 01T11:00"},
			{booking.Hold{Status: booking.Occupied, Until: on(12, 0)}, "occupied red - - - 01T12:00"},
			{booking.Hold{Status: booking.Reserved}, "reserved amber - - - -"},
			{booking.Hold{Status: booking.Available}, "available green - - - 01T10:10"},
			{booking.Hold{Status: booking.Disabled, From: on(12, 0)}, "available green - - 01T12:00 01T10:10"},
		} {
			if _, err := r.Hold(t.Context(), room, c.hold); err != nil {
				t.Fatal(err)
			}
			check("held "+string(c.hold.Status), c.want)
		}
		off := false
		if _, err := r.SetAvailability(t.Context(), room, Availability{Enabled: &off}); err != nil {
			t.Fatal(err)
		}
		check("out of use", "disabled off - - - -")
		if _, err := r.State("x"); problem.As(err) == nil || problem.As(err).Code != problem.NotFound {
			t.Errorf("no such space: %v", err)
		}
	})
}

// The door tells no more than it shall.
func TestMeetingAtTheDoor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, shows := range []bool{false, true} {
			yaml := watched
			if !shows {
				yaml = strings.Replace(watched, ", show_titles: true", "", 1)
			}
			r := startRig(t, rigOptions{yaml: yaml})
			start := time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
			open := meeting("open", start, start.Add(time.Hour))
			open.Title, open.Organizer = "plans", booking.Person{Name: "A. Person", Email: "a@example.org"}
			hidden := meeting("hidden", start.Add(time.Hour), start.Add(2*time.Hour))
			hidden.Title, hidden.Organizer, hidden.Private = "secret", open.Organizer, true
			for _, b := range []booking.Booking{open, hidden} {
				if _, _, err := r.Create(t.Context(), b, Caller{}); err != nil {
					t.Fatal(err)
				}
			}
			r.until(start.Add(time.Minute))
			s, err := r.State(room)
			if err != nil || s.Current == nil || s.Next == nil {
				t.Fatal(s, err)
			}
			title := map[bool]string{true: "plans"}[shows]
			c := s.Current
			goldentest.Values(t, "shows titles", goldentest.Pairs{"Title": {c.Title, title}, "Organizer": {c.Organizer, "A. Person"},
				"Private": {c.Private, false}, "CheckedInAt": {c.CheckedInAt, nil},
				"CheckInUntil": {*c.CheckInUntil, eventlog.Stamp(start.Add(10 * time.Minute))}})
			if n := s.Next; n.Title != "" || n.Organizer != "" || !n.Private {
				t.Errorf("private: %+v", n)
			}
			text, err := json.Marshal(s)
			if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "example.org") {
				t.Errorf("the state says %s, %v", text, err)
			}
			for _, h := range r.happenings() {
				if _, says := h.details["organizer"]; says == (h.id == "hidden") {
					t.Errorf("told %v", h.details)
				}
			}
			r.stop()
		}
	})
}

// Everything that a display shows and cannot count out wakes it.
func TestSignTellsItsChanges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.until(on(8, 0))
		title := "new"
		for _, c := range []struct {
			what string
			do   func() error
			want bool
		}{
			{"a booking for later", func() error { r.book("a", on(9, 0), on(10, 0)); return nil }, true},
			{"one behind it", func() error { r.book("b", on(11, 0), on(12, 0)); return nil }, false},
			{"its title", func() error {
				_, err := r.Change(t.Context(), "a", booking.Edit{Title: &title}, Caller{})
				return err
			}, true},
			{"nothing", func() error { time.Sleep(10 * time.Minute); return nil }, false},
			{"about to begin", func() error { r.until(on(8, 50)); return nil }, true},
			{"begun", func() error { r.until(on(9, 0)); return nil }, true},
			{"check-in", func() error { _, err := r.CheckIn(t.Context(), "a", Caller{}); return err }, true},
			{"extension", func() error { _, err := r.Extend(t.Context(), "a", on(10, 15), 0, Caller{}); return err }, true},
			{"a hold", func() error {
				_, err := r.Hold(t.Context(), room, booking.Hold{Status: booking.Occupied, Until: on(9, 30)})
				return err
			}, true},
			{"its end", func() error { r.until(on(9, 30)); return nil }, true},
			{"being sent", func() error { return r.SendState(room) }, true},
		} {
			before, asked := *r.Room(room).shown.Load(), r.asked.Load()
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			synctest.Wait()
			if got := *r.Room(room).shown.Load() != before || r.asked.Load() > asked; got != c.want {
				t.Errorf("%s: told %v, want %v", c.what, got, c.want)
			}
		}
		if err := r.SendState("x"); problem.As(err) == nil || problem.As(err).Code != problem.NotFound {
			t.Errorf("no such space: %v", err)
		}
	})
}
