package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/cloud"
	"roomgate/store"
)

// planned has two rooms without devices, so that a day passes quickly.
const planned = devicetest.Planned

// watched has a room with a sensor, whose empty meetings are given back.
const watched = devicetest.Watched

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
	b, created, err := r.Bookings.Create(context.Background(), meeting(id, from, to), schedule.Caller{})
	if err != nil || !created {
		r.t.Fatalf("%s: created %v, %v", id, created, err)
	}
	return b
}

func (r *rig) booking(id string) booking.Booking {
	r.t.Helper()
	b, err := r.Bookings.Get(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// wantCode wants a refusal of that code and field.
func wantCode(t *testing.T, what string, err error, code problem.Code, field string) *problem.Error {
	t.Helper()
	e := device.AsError(err)
	if e == nil || e.Code != code || e.Field != field {
		t.Errorf("%s: %v, want %s of %q", what, err, code, field)
		return &problem.Error{}
	}
	return e
}

// said is a schedule message, as a backend writes it by hand.
func said(id, kind string, revision int, bookings string, removed ...string) cloud.Envelope {
	gone, _ := json.Marshal(removed)
	data := fmt.Sprintf(`{"meeting_space_id":%q,"kind":%q,"revision":%d,"bookings":[%s],"removed":%s}`, room, kind, revision, bookings, gone)
	return cloud.Envelope{ID: id, Source: "backend", Type: "roomgate.schedule", Time: time.Now(), Data: json.RawMessage(data)}
}

// slot is a booking as a cloud says it that says no more than it must.
func slot(id string, from, to time.Time, more ...string) string {
	return fmt.Sprintf(`{"id":%q,"start_time":%q,"end_time":%q%s}`, id, from.Format(time.RFC3339), to.Format(time.RFC3339),
		strings.Join(append([]string{""}, more...), ","))
}

// take gives the building a schedule, and returns the receipt's state and
// reason.
func (r *rig) take(e cloud.Envelope) string {
	r.t.Helper()
	d := down{bookings: r.Bookings, commands: r.Commands}
	if _, err := d.takeSchedule(r.t.Context(), e); err != nil {
		r.t.Fatalf("%s was not taken: %v", e.ID, err)
	}
	var last device.Receipt
	for _, line := range r.logged(eventlog.LevelReceipt) {
		last = device.Receipt{}
		if err := json.Unmarshal(line.Data, &last); err != nil {
			r.t.Fatal(err)
		}
	}
	if last.CommandID != e.ID {
		r.t.Errorf("the last receipt is of %s, want %s", last.CommandID, e.ID)
	}
	return strings.TrimSpace(string(last.State) + " " + last.Reason)
}

// logged are the rows of the log of one level.
func (r *rig) logged(level string) (out []eventlog.Row) {
	r.t.Helper()
	page, err := r.Events.Page(0, 100_000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, item := range page {
		if item.Value.Level() == level {
			out = append(out, item.Value)
		}
	}
	return out
}

// The tables of package schedule, as tests write them and read them back.
var (
	bookingRows  = store.NewTable[map[string]any]("bookings")
	planRows     = store.NewTable[map[string]any]("plans")
	cloudConfigs = store.NewTable[map[string]any]("cloud-config")
)

// wantStored compares the bookings that are stored with those that are shown.
func (r *rig) wantStored() {
	r.t.Helper()
	stored := map[string]booking.Booking{}
	err := r.db.View(func(tx *store.Tx) error {
		for id, b := range store.NewTable[booking.Booking]("bookings").All(tx) {
			stored[id] = b
		}
		return tx.Err()
	})
	if err != nil {
		r.t.Fatal(err)
	}
	shown, err := r.Bookings.List("", time.Time{}, time.Time{})
	if err != nil || len(shown) != len(stored) {
		r.t.Errorf("%d are shown and %d stored, %v", len(shown), len(stored), err)
	}
	for _, b := range shown {
		if !booking.Same(b, stored[b.ID]) {
			r.t.Errorf("shown %+v, stored %+v", b, stored[b.ID])
		}
	}
}

// toldUp are the bookings that were told to the cloud, as "id state".
func (r *rig) toldUp() (out []string) {
	r.t.Helper()
	for _, line := range r.logged("booking") {
		var b booking.Booking
		if err := json.Unmarshal(line.Data, &b); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s", b.ID, b.State))
	}
	return out
}
