package booking

import (
	"fmt"
	"testing"
	"time"
)

const many = 10_000 // bookings of one space

// fill10000 makes bookings of half an hour, with so long between them.
func fill10000(gap time.Duration) []Booking {
	all := make([]Booking, many)
	for i := range all {
		b := Booking{ID: fmt.Sprintf("01K%023d", i), SpaceID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01", Title: "Weekly planning",
			Organizer: Person{"Somebody", "somebody@example.org"}, State: Booked, Revision: 1, Source: Cloud,
			Start: monday.Add(time.Duration(i) * (30*time.Minute + gap)), CreatedAt: monday, UpdatedAt: monday, CloudRevision: uint64(many - i)}
		b.End = b.Start.Add(30 * time.Minute)
		all[i] = b
	}
	return all
}

// within reports how much of a limit one operation takes; 1 is all of it.
func within(b *testing.B, limit time.Duration) {
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(limit), "of-limit")
	b.ReportMetric(float64(limit.Nanoseconds()), "limit-ns")
}

// BenchmarkStateAt10000 reads the availability of one space with 10 000 bookings.
// The limit is 50 microseconds, also where the gaps between them are too short
// for a meeting, or there are none.
func BenchmarkStateAt10000(b *testing.B) {
	r := Default()
	r.Hours = always()
	holds := []Hold{{ID: "h", Status: Disabled, From: monday.AddDate(1, 0, 0), Until: monday.AddDate(1, 0, 1)}}
	for _, c := range []struct {
		name string
		gap  time.Duration
	}{{"gaps", 15 * time.Minute}, {"tight", 10 * time.Minute}, {"full", 0}} {
		b.Run(c.name, func(b *testing.B) {
			s := NewSchedule(fill10000(c.gap))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				r.StateAt(monday.Add(time.Duration(i%5000)*17*time.Minute), s, holds)
			}
			within(b, 50*time.Microsecond)
		})
	}
}

// BenchmarkMergeSnapshot10000 merges a snapshot of 10 000 bookings; the limit is
// a second. Nothing of it holds a lock that a reader of the sign waits for,
// but the last step: to put what has changed into the schedule.
func BenchmarkMergeSnapshot10000(b *testing.B) {
	all := fill10000(15 * time.Minute)
	moved := fill10000(15 * time.Minute)
	for i := range moved { // an hour later: every one is in the way of the next
		moved[i].Start, moved[i].End, moved[i].Revision = moved[i].Start.Add(time.Hour), moved[i].End.Add(time.Hour), 2
	}
	shifted := fill10000(15 * time.Minute)
	for i := range shifted { // others, each in the way of one or two
		shifted[i].ID, shifted[i].Start = "x"+shifted[i].ID, shifted[i].Start.Add(20*time.Minute)
		shifted[i].End = shifted[i].Start.Add(30 * time.Minute)
	}
	for _, c := range []struct {
		name       string
		have, said []Booking
	}{{"first", nil, all}, {"same", all, all}, {"moved", all, moved}, {"conflicts", all, shifted}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				s := NewSchedule(c.have)
				b.StartTimer()
				store, _ := Merge(s.Get, s.Walk, c.said)
				s.Put(store...)
			}
			within(b, time.Second)
		})
	}
}
