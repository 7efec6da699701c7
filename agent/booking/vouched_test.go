package booking

import (
	"testing"
	"time"
)

// TestVouched: what the building says of its bookings stands, whatever came unsigned.
func TestVouched(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2030, 1, 1, hour, 0, 0, 0, time.UTC) }
	one := func(id string, hour int, f func(*Booking)) Booking {
		b := Booking{ID: id, Start: at(hour), End: at(hour + 1), State: Booked}
		f(&b)
		return b
	}
	ours := func(*Booking) {}
	moved := func(from int) func(*Booking) {
		return func(b *Booking) { b.Unsigned, b.Vouched = true, Interval{at(from), at(from + 1)} }
	}
	plain := NewSchedule([]Booking{one("a", 8, ours)})
	if plain.Vouched() != plain {
		t.Error("a schedule without a doubt is copied")
	}
	s := NewSchedule([]Booking{
		one("ours", 8, ours),
		one("forged", 9, func(b *Booking) { b.Unsigned = true }),
		one("moved", 10, moved(12)),
		one("cancelled", 14, func(b *Booking) { moved(14)(b); b.State = Cancelled }),
		one("in the way", 11, moved(8)), // the building has given its time to others
		one("in", 16, func(b *Booking) {
			b.State, b.CheckedInAt, b.CheckedInBy = CheckedIn, at(16), Cloud
		}),
	}).Vouched()
	got := ""
	for _, b := range s.Live() {
		got += b.Start.Format("15 ") + b.ID + " " + string(b.State) + ", "
	}
	if want := "08 ours booked, 12 moved booked, 14 cancelled booked, 16 in booked, "; got != want {
		t.Errorf("vouched: %s want %s", got, want)
	}
	if in, _ := s.Get("in"); !in.CheckedInAt.IsZero() {
		t.Errorf("checked in by the cloud: %+v", in.Arrival)
	}
}
