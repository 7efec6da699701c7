package booking

import (
	"encoding/json"
	"testing"
	"time"

	"roomgate/agent/problem"
)

func TestComplete(t *testing.T) {
	b := Booking{ID: "b", Start: at(10, 0).In(time.FixedZone("", 3600)).Add(999), End: at(11, 0)}
	if err := b.Complete(7, at(8, 0)); err != nil {
		t.Fatal(err)
	}
	want := Booking{ID: "b", Start: at(10, 0), End: at(11, 0), State: Booked, Source: Cloud, Revision: 1, CloudRevision: 7, CreatedAt: at(8, 0), UpdatedAt: at(8, 0)}
	if b != want {
		t.Fatalf("got %+v", b)
	}
	if err := b.Complete(9, at(9, 0)); err != nil || b != want {
		t.Fatalf("what it says is not kept: %+v, %v", b, err)
	}
	for field, spoil := range map[string]func(*Booking){
		"id":               func(b *Booking) { b.ID = "" },
		"start_time":       func(b *Booking) { b.Start = time.Time{} },
		"end_time":         func(b *Booking) { b.End = b.Start },
		"state":            func(b *Booking) { b.State = "tentative" },
		"source":           func(b *Booking) { b.Source = "fax" },
		"revision":         func(b *Booking) { b.Revision = MaxRevision + 1 },
		"title":            func(b *Booking) { b.Title = string(make([]byte, 501)) },
		"checked_in_at":    func(b *Booking) { b.CheckedInAt = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -3600*10)) },
		"planned_end_time": func(b *Booking) { b.PlannedEnd = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		b := want
		spoil(&b)
		refused(t, b.Complete(7, at(8, 0)), problem.Invalid, field)
	}
	b = want
	b.End = b.Start.Add(-time.Minute)
	text(t, b.Complete(7, at(8, 0)), "end_time is not after start_time")
}

// What is taken from the cloud can be written and read again, merged with
// itself and shown, whatever it was.
func FuzzBooking(f *testing.F) {
	b := meeting(CheckedIn)
	for _, seed := range []any{b, b.ReleaseNow("x", at(10, 10)), Booking{}, map[string]any{"id": "b", "start_time": "2026-03-02T09:00:00+05:45", "end_time": "2026-03-02T10:00:00Z"},
		map[string]any{"id": "b", "start_time": "0000-01-01T00:00:00+10:00", "end_time": "9999-12-31T23:59:59-10:00"}} {
		data, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var b Booking
		if json.Unmarshal(data, &b) != nil || b.Complete(1, monday) != nil {
			return
		}
		if !b.End.After(b.Start) || b.Revision == 0 || b.CloudRevision == 0 {
			t.Fatalf("complete, and yet %+v", b)
		}
		again := b
		if err := again.Complete(2, at(8, 0)); err != nil || again != b {
			t.Fatalf("complete twice: %+v, %v", again, err)
		}
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatalf("it cannot be written: %v", err)
		}
		var back Booking
		if err := json.Unmarshal(text, &back); err != nil || !Same(back, b) {
			t.Fatalf("read again it is %+v, %v, not %+v", back, err, b)
		}
		s := NewSchedule(nil)
		store, tell := Merge(s.Get, s.Walk, []Booking{b, back})
		s.Put(store...)
		if len(store) != 1 || len(tell) != 0 || store[0] != b {
			t.Fatalf("stored %+v, told %+v", store, tell)
		}
		Default().StateAt(b.Start, s, nil)
		b.Due(Marks{}, Default())
	})
}
