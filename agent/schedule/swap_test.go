package schedule

import (
	"context"
	"errors"
	"strings"
	"testing"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/store"
)

// one is planned without its first room, and another configuration of the other.
var one = strings.Replace(strings.Replace(planned, "  - {id: "+room+", name: Aurora}\n", "", 1), "name: Borealis", "name: Borealis, slot_size: 30", 1)

// TestSwap takes a room away, changes another and brings the first back.
func TestSwap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.book("theirs", on(9, 0), on(10, 0))
		stays := meeting("stays", on(9, 0), on(9, 45))
		stays.SpaceID = otherRoom
		if _, _, err := r.Create(t.Context(), stays, Caller{}); err != nil {
			t.Fatal(err)
		}
		other := r.Room(otherRoom)
		if err := r.reread(one); err != nil {
			t.Fatal(err)
		}
		if r.Room(room) != nil || r.Room(otherRoom) != other || other.Config().SlotSize != 30 || other.Rules().Slot.Minutes() != 30 {
			t.Errorf("the rooms are %+v", r.rooms.Load())
		}
		if _, err := r.State(room); refusal(err) != "not_found meeting_space_id" {
			t.Errorf("the room that went: %v", err)
		}
		r.wantHappenings("00:00:00 theirs cancelled")
		if r.changes[room] == 0 || r.changes[otherRoom] == 0 {
			t.Errorf("said to be others: %v", r.changes)
		}
		if err := r.reread(planned); err != nil {
			t.Fatal(err)
		}
		if b := r.booking("theirs"); b.State != booking.Cancelled || b.Reason != booking.LostSpace || r.booking("stays").State != booking.Booked {
			t.Errorf("it came back with %+v", b)
		}
		if back := r.Room(room); back == nil || r.Room(otherRoom) != other || back.Name() != "Aurora" {
			t.Errorf("the rooms are %+v", r.rooms.Load())
		}
		r.wantStored()
	})
}

// A swap holds the rooms that change, and no others, until it is released. One
// that is not stored changes nothing.
func TestSwapHoldsTheRooms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: strings.Replace(planned, "spaces:", "spaces:\n  - {id: "+thirdRoom+", name: Corvus}", 1)})
		r.book("kept", on(9, 0), on(10, 0))
		next := parse(t, strings.Replace(one, "spaces:", "spaces:\n  - {id: "+thirdRoom+", name: Corvus}", 1)).Spaces
		w, err := r.Stage(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			room string
			want string
		}{{room, "unavailable"}, {otherRoom, "unavailable"}, {thirdRoom, ""}} {
			ctx, cancel := context.WithTimeout(t.Context(), longestWait)
			b := meeting("", on(12, 0), on(13, 0))
			b.SpaceID = c.room
			_, _, err := r.Create(ctx, b, Caller{})
			if got := refusal(err); got != c.want {
				t.Errorf("%s is booked meanwhile: %q, want %q", c.room, got, c.want)
			}
			cancel()
		}
		full := errors.New("full")
		err = r.events.Commit(t.Context(), eventlog.Stage{Write: w.Write, Show: w.Show, Release: w.Release},
			eventlog.Stage{Write: func(*store.Tx) error { return full }})
		if !errors.Is(err, full) || r.Room(room) == nil || r.booking("kept").State != booking.Booked || r.Room(otherRoom).Config().SlotSize == 30 {
			t.Errorf("%v, and it changed to %+v", err, r.booking("kept"))
		}
		r.wantHappenings()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.turn(func() {
			if _, err := r.Stage(ctx, next); refusal(err) != "unavailable" {
				t.Errorf("staged while a room is changed: %v", err)
			}
		})
		r.book("later", on(14, 0), on(15, 0)) // nothing is held
	})
}

// TestNotices hands over whose room was released or lost, unless the cloud has
// decided that, and stores what tells them with it or nothing.
func TestNotices(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.book("nobody", on(8, 0), on(8, 30))
		r.book("loser", on(9, 0), on(10, 0))
		r.book("ruled", on(11, 0), on(12, 0))
		r.until(on(8, 15))
		full := errors.New("full")
		r.notices = func() eventlog.Stage { return eventlog.Stage{Write: func(*store.Tx) error { return full }} }
		e := said("1", kindSnapshot, 1, slot("board", on(9, 0), on(10, 0))+","+slot("ruled", on(11, 0), on(12, 0), `"state":"released"`, `"revision":2`))
		refusal, err := r.Take(t.Context(), e, &told{rig: r, stage: &eventlog.Stage{}})
		if refusal != nil || !errors.Is(err, full) || r.booking("loser").State != booking.Booked {
			t.Errorf("%v, %v, and it is %+v", refusal, err, r.booking("loser"))
		}
		shown := false
		r.notices = func() eventlog.Stage { return eventlog.Stage{Show: func() { shown = true }} }
		r.gone = r.gone[:1]
		r.take(e)
		var ids []string
		for _, b := range r.gone {
			ids = append(ids, b.ID+" "+string(b.State))
		}
		if got := strings.Join(ids, ", "); got != "nobody released, loser displaced" || !shown {
			t.Errorf("told of %s, shown %v", got, shown)
		}
		r.wantStored()
	})
}
