package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// planned has two rooms without devices, so that a day passes quickly.
const planned = devicetest.Planned

// watched has a room with a sensor, whose empty meetings are given back.
const watched = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + room + `
    name: Aurora
    booking: {empty: 15m, show_titles: true}
`

// on is a time on the first day of a bubble.
func on(hour, minute int) time.Time { return time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC) }

// until lets virtual time pass.
func (r *rig) until(t time.Time) {
	time.Sleep(time.Until(t))
	synctest.Wait()
}

// meeting is what is asked for by an id and its times.
func meeting(id string, from, to time.Time) booking.Booking {
	return booking.Booking{ID: id, SpaceID: room, Title: id, Start: from, End: to}
}

func (r *rig) book(id string, from, to time.Time) booking.Booking {
	r.t.Helper()
	b, created, err := r.Create(context.Background(), meeting(id, from, to), Caller{})
	if err != nil || !created {
		r.t.Fatalf("%s: created %v, %v", id, created, err)
	}
	return b
}

func (r *rig) booking(id string) booking.Booking {
	r.t.Helper()
	b, err := r.Get(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// happening is what an event says of a booking.
type happening struct {
	event, id, at string
	details       map[string]any
}

func (h happening) String() string {
	return h.at + " " + h.id + " " + strings.TrimPrefix(h.event, "booking.")
}

// happenings are the events of bookings so far, oldest first.
func (r *rig) happenings() (all []happening) {
	r.t.Helper()
	for cursor := uint64(0); ; {
		events, next, err := r.events.Find(eventlog.Filter{After: cursor, Limit: 1000})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, e := range events {
			var record struct {
				Details map[string]any `json:"details"`
			}
			if err := json.Unmarshal(e.Record, &record); err != nil {
				r.t.Fatal(err)
			}
			if id, ok := record.Details["booking_id"].(string); ok {
				all = append(all, happening{e.Type, id, e.Time.Format("15:04:05"), record.Details})
			}
		}
		if cursor = next; len(events) == 0 {
			return all
		}
	}
}

// wantHappenings compares what has happened, but for creations.
func (r *rig) wantHappenings(want ...string) {
	r.t.Helper()
	got := []string{}
	for _, h := range r.happenings() {
		if h.event != Created {
			got = append(got, h.String())
		}
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("happened\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// wantCode wants a refusal of that code and field.
func wantCode(t *testing.T, what string, err error, code problem.Code, field string) *problem.Error {
	t.Helper()
	e := refused(err)
	if e == nil || e.Code != code || e.Field != field {
		t.Errorf("%s: %v, want %s of %q", what, err, code, field)
		return &problem.Error{}
	}
	return e
}

// wantStored compares what is stored with what is shown, and no live ones may
// overlap.
func (r *rig) wantStored() {
	r.t.Helper()
	stored := map[string]booking.Booking{}
	err := r.db.View(func(tx *store.Tx) error {
		for id, b := range bookings.All(tx) {
			stored[id] = b.Booking
		}
		return tx.Err()
	})
	if err != nil {
		r.t.Fatal(err)
	}
	shown, err := r.List("", time.Time{}, time.Time{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, b := range shown {
		if !booking.Same(b, stored[b.ID]) {
			r.t.Errorf("shown %+v, stored %+v", b, stored[b.ID])
		}
	}
	if len(shown) != len(stored) {
		r.t.Errorf("%d are shown and %d stored", len(shown), len(stored))
	}
	for _, s := range r.rooms.Load().order {
		live := s.bookings.Filter(func(b *booking.Booking) bool { return b.Live() })
		for i := 1; i < len(live); i++ {
			if live[i].Start.Before(live[i-1].End) {
				r.t.Errorf("%s and %s overlap", live[i-1].ID, live[i].ID)
			}
		}
	}
}

func TestAcknowledgedBookingsAreThereAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{yaml: planned, dir: dir})
		r.book("kept", on(9, 0), on(10, 0))
		r.book("cancelled", on(10, 0), on(11, 0))
		r.book("changed", on(11, 0), on(12, 0))
		if _, err := r.Cancel(t.Context(), "cancelled", Caller{}); err != nil {
			t.Fatal(err)
		}
		title := "other"
		if _, err := r.Change(t.Context(), "changed", booking.Edit{Title: &title}, Caller{}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Hold(t.Context(), room, booking.Hold{Status: booking.Disabled, From: on(20, 0)}); err != nil {
			t.Fatal(err)
		}
		slot := 30
		if _, err := r.SetAvailability(t.Context(), room, Availability{SlotSize: &slot}); err != nil {
			t.Fatal(err)
		}
		before, _ := r.List("", time.Time{}, time.Time{})
		spaces := r.records()
		r.stop()
		r = startRig(t, rigOptions{yaml: planned, dir: dir})
		after, _ := r.List("", time.Time{}, time.Time{})
		if !slices.Equal(before, after) || len(after) != 3 || !slices.Equal(spaces, r.records()) {
			t.Errorf("before\n%+v\nafter\n%+v", before, after)
		}
		r.wantStored()
		_, _, err := r.Create(t.Context(), meeting("late", on(20, 0), on(21, 0)), Caller{})
		wantCode(t, "in a hold", err, problem.Conflict, "start_time")
		_, _, err = r.Create(t.Context(), meeting("off", on(12, 15), on(13, 0)), Caller{})
		wantCode(t, "off the grid that was set", err, problem.Invalid, "start_time")
	})
}

func TestFullDiskChangesNoPlan(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		yaml := strings.Replace(planned, "spaces:", "store: {max_size: 8MiB}\nspaces:", 1)
		r := startRig(t, rigOptions{yaml: yaml, dir: dir})
		r.book("kept", on(9, 0), on(10, 0))
		r.until(on(8, 55))
		r.fill()
		before, _ := r.List("", time.Time{}, time.Time{})
		refused := func(what string, err error) {
			t.Helper()
			wantCode(t, what, err, problem.Full, "")
		}
		long := booking.Booking{SpaceID: room, Title: strings.Repeat("x", 500), Start: on(11, 0), End: on(12, 0)}
		var err error
		for range 100 { // until the last free byte is gone
			if _, _, err = r.Create(t.Context(), long, Caller{}); err != nil {
				break
			}
			before, _ = r.List("", time.Time{}, time.Time{})
			long.Start, long.End = long.Start.Add(time.Hour), long.End.Add(time.Hour)
		}
		refused("create", err)
		var title string
		for i := range 100 { // a change needs less than a new one
			title = strings.Repeat(string(rune('a'+i%26)), 500)
			if _, err = r.Change(t.Context(), "kept", booking.Edit{Title: &title}, Caller{}); err != nil {
				break
			}
			before, _ = r.List("", time.Time{}, time.Time{})
		}
		refused("change", err)
		holds := 0
		for err = nil; err == nil; holds++ {
			from := on(0, 0).AddDate(0, 0, 1+holds)
			_, err = r.Hold(t.Context(), room, booking.Hold{Status: booking.Reserved, Note: title, From: from, Until: from.Add(time.Hour)})
		}
		refused("hold", err)
		if got := len(r.Room(room).terms.Load().Holds); got != holds-1 {
			t.Errorf("%d holds, %d were stored", got, holds-1)
		}
		after, err := r.List("", time.Time{}, time.Time{})
		if err != nil || !slices.Equal(before, after) {
			t.Errorf("on a full disk the plan became %+v, %v", after, err)
		}
		if s, err := r.State(room); err != nil || s.Status != booking.Reserved || s.Hold != nil {
			t.Errorf("state on a full disk: %+v, %v", s, err)
		}
		r.wantStored()
		r.until(on(9, 5))
		r.empty()
		r.wait(2 * longestWait)
		if !slices.ContainsFunc(r.happenings(), func(h happening) bool { return h.event == Started && h.id == "kept" }) {
			t.Errorf("happened %v, want the start as soon as there is room", r.happenings())
		}
		if _, err := r.CheckIn(t.Context(), "kept", Caller{}); err != nil {
			t.Errorf("after space came back: %v", err)
		}
		r.wantStored()
	})
}

// A new space on a disk that is full is no reason not to start.
func TestFullDiskStartsWithANewSpace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		yaml := strings.Replace(planned, "spaces:", "store: {max_size: 8MiB}\nspaces:", 1)
		one := strings.Replace(yaml, "  - {id: "+otherRoom+", name: Borealis}\n", "", 1)
		r := startRig(t, rigOptions{yaml: one, dir: dir})
		for i, size := 0, 256<<10; size > 0; i++ { // no room even for a small table
			err := r.db.Update(t.Context(), func(tx *store.Tx) error {
				return store.NewTable[[]byte](fmt.Sprint("ballast", i)).Put(tx, "x", make([]byte, size))
			})
			if err != nil {
				size /= 2
			}
		}
		r.stop()
		r = startRig(t, rigOptions{yaml: yaml, dir: dir})
		if all := r.records(); len(all) != 2 {
			t.Errorf("%d spaces, want two", len(all))
		}
	})
}

func TestAnIDIsInOneSpaceOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		var all sync.WaitGroup
		won := make(chan string, 100)
		for i := range 100 {
			all.Go(func() {
				b := meeting("same", on(9, 0), on(10, 0))
				b.SpaceID = []string{room, otherRoom}[i%2]
				_, _, err := r.Create(t.Context(), b, Caller{})
				if err == nil {
					won <- b.SpaceID
					return
				}
				if e := refused(err); e.Code != problem.Conflict || e.Field != "id" {
					t.Errorf("refused with %v", err)
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Errorf("%d won, want one", len(won))
		}
		r.wantStored()
	})
}

func TestPlanIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		past := make([]booking.Booking, maxBookings)
		for i := range past {
			past[i] = booking.Booking{ID: fmt.Sprint("past", i), State: booking.Ended, Start: on(0, 0), End: on(0, 15)}
		}
		r.Room(room).bookings.Put(past...)
		_, _, err := r.Create(t.Context(), meeting("more", on(9, 0), on(10, 0)), Caller{})
		wantCode(t, "one too many", err, problem.Full, "")
		r.Room(room).bookings.Forget("past0")
		if _, _, err := r.Create(t.Context(), meeting("more", on(9, 0), on(10, 0)), Caller{}); err != nil {
			t.Error(err)
		}
	})
}

// refused is the refusal of an error, also of a full disk.
func refused(err error) *problem.Error {
	if errors.Is(err, store.ErrFull) {
		return problem.New(problem.Full, "", "%v", err)
	}
	return problem.As(err)
}

// records are what the rooms say of themselves.
func (r *rig) records() (all []string) {
	for _, at := range r.rooms.Load().order {
		created, updated := at.Noted()
		all = append(all, fmt.Sprint(at.Config(), created.UTC(), updated.UTC(), at.At(time.Now()).Status))
	}
	return all
}

// fill leaves no room in the store for anything of some size.
func (r *rig) fill() {
	r.t.Helper()
	for _, size := range []int{256 << 10, 2 << 10, 64} {
		for i := 0; ; i++ {
			err := r.db.Update(context.Background(), func(tx *store.Tx) error {
				return store.NewTable[[]byte](fmt.Sprint("ballast", size)).Put(tx, fmt.Sprintf("%06d", i), make([]byte, size))
			})
			if err != nil {
				break
			}
		}
	}
}

// empty makes room again.
func (r *rig) empty() {
	r.t.Helper()
	err := r.db.Update(context.Background(), func(tx *store.Tx) error {
		ballast, keys := store.NewTable[[]byte]("ballast262144"), []string{}
		for key := range ballast.All(tx) {
			keys = append(keys, key)
		}
		for _, key := range keys {
			if err := ballast.Delete(tx, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}
