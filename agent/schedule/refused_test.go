package schedule

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
)

// TestRemovedRoomTakesNoChange: a change that waits for its turn while the room is
// removed is refused, whatever it is, and stores nothing.
func TestRemovedRoomTakesNoChange(t *testing.T) {
	changes := map[string]func(r *rig) error{
		"create": func(r *rig) error {
			_, _, err := r.Create(context.Background(), meeting("new", on(12, 0), on(13, 0)), Caller{})
			return err
		},
		"change": func(r *rig) error {
			title := "x"
			_, err := r.Change(context.Background(), "b", booking.Edit{Title: &title}, Caller{})
			return err
		},
		"cancel": func(r *rig) error { _, err := r.Cancel(context.Background(), "b", Caller{}); return err },
		"end":    func(r *rig) error { _, err := r.End(context.Background(), "b", Caller{}); return err },
		"extend": func(r *rig) error {
			_, err := r.Extend(context.Background(), "b", time.Time{}, time.Hour, Caller{})
			return err
		},
		"hold": func(r *rig) error {
			_, err := r.Hold(context.Background(), room, booking.Hold{Status: booking.Disabled})
			return err
		},
		"availability": func(r *rig) error {
			off := false
			_, err := r.SetAvailability(context.Background(), room, Availability{Enabled: &off})
			return err
		},
		"calendar": func(r *rig) error { _, err := r.LinkCalendar(context.Background(), room, "", ""); return err },
		"feed":     func(r *rig) error { _, err := r.NewFeed(context.Background(), room); return err },
		"schedule": func(r *rig) error {
			refusal, err := r.Take(context.Background(), said("1", kindSnapshot, 1, slot("new", on(12, 0), on(13, 0))), &told{rig: r, stage: &eventlog.Stage{}})
			if refusal != nil {
				return refusal
			}
			return err
		},
		"check-in": func(r *rig) error { _, err := r.CheckIn(context.Background(), "b", Caller{}); return err },
	}
	for name, change := range changes {
		bubble(t, func(t *testing.T) {
			r := startRig(t, rigOptions{})
			r.book("b", on(9, 0), on(10, 0))
			r.until(on(9, 0))
			w, err := r.Stage(t.Context(), parse(t, one).Spaces)
			if err != nil {
				t.Fatal(err)
			}
			refused := make(chan error, 1)
			go func() { refused <- change(r) }()
			synctest.Wait() // it waits for the turn
			if err := r.events.Commit(t.Context(), eventlog.Stage{Write: w.Write, Show: w.Show, Release: w.Release}, eventlog.Stage{Show: w.Announce}); err != nil {
				t.Fatal(err)
			}
			rows := len(r.logged(eventlog.LevelBooking))
			if got := refusal(<-refused); !strings.HasPrefix(got, "not_found") {
				t.Errorf("%s: %q, want not_found", name, got)
			}
			if more := len(r.logged(eventlog.LevelBooking)) - rows; more != 0 {
				t.Errorf("%s: %d bookings were stored into a room that is gone", name, more)
			}
			if err := r.reread(planned); err != nil {
				t.Fatal(err)
			}
			if back := r.states(room); !slices.Equal(back, []string{"b cancelled"}) || len(r.Room(room).terms.Load().Holds) > 0 || !r.Room(room).terms.Load().enabled {
				t.Errorf("%s: the room comes back with %q and %+v", name, back, r.Room(room).terms.Load())
			}
		})
	}
}

// TestPersonChangesHisOwn: who may have no bookings but his own makes and changes
// no others, and gives none away.
func TestPersonChangesHisOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		mel, eve := Caller{Organizer: "mel@example.com"}, Caller{Organizer: "eve@example.com"}
		asked := meeting("hers", on(9, 0), on(10, 0))
		asked.Organizer = booking.Person{Name: "Mel", Email: "Mel@Example.com"}
		if _, _, err := r.Create(t.Context(), asked, eve); refusal(err) != "forbidden organizer" {
			t.Errorf("for another person: %v", err)
		}
		if _, _, err := r.Create(t.Context(), asked, mel); err != nil {
			t.Fatal(err)
		}
		r.book("nobodys", on(10, 0), on(11, 0))
		r.until(on(9, 0))
		title := "x"
		for name, change := range map[string]func(id string, o Caller) error{
			"change": func(id string, o Caller) error {
				_, err := r.Change(t.Context(), id, booking.Edit{Title: &title}, o)
				return err
			},
			"cancel":   func(id string, o Caller) error { _, err := r.Cancel(t.Context(), id, o); return err },
			"check-in": func(id string, o Caller) error { _, err := r.CheckIn(t.Context(), id, o); return err },
			"extend": func(id string, o Caller) error {
				_, err := r.Extend(t.Context(), id, time.Time{}, time.Hour, o)
				return err
			},
			"end": func(id string, o Caller) error { _, err := r.End(t.Context(), id, o); return err },
		} {
			for _, id := range []string{"hers", "nobodys"} {
				if err := change(id, eve); refusal(err) != "forbidden booking_id" {
					t.Errorf("%s of %s: %v", name, id, err)
				}
			}
		}
		if _, err := r.Change(t.Context(), "hers", booking.Edit{Organizer: &booking.Person{Email: "eve@example.com"}}, mel); refusal(err) != "forbidden organizer" {
			t.Errorf("given away: %v", err)
		}
		if b := r.booking("hers"); b.Revision != 1 {
			t.Errorf("changed: %+v", b)
		}
		if _, err := r.CheckIn(t.Context(), "hers", mel); err != nil {
			t.Error(err)
		}
		r.wantStored()
	})
}
