package api

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/schedule"
)

// benchBookings is how many bookings a space has in the benchmarks.
const benchBookings = 500

// BenchmarkSpaceState is the state of a space as displays ask for it all day,
// by itself and while others book the same space without a pause: a reader
// does not wait for a disk.
func BenchmarkSpaceState(b *testing.B) {
	benchReads(b, "/meetingspace/"+aurora+"/state")
}

// BenchmarkGetMeetingSpace is the platform's list, likewise.
func BenchmarkGetMeetingSpace(b *testing.B) {
	benchReads(b, "/meetingspace/get_meeting_space")
}

func benchReads(b *testing.B, path string) {
	building := openBuilding(b)
	defer func() { building.end() }()
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	for i := range benchBookings {
		from := start.Add(time.Duration(i) * time.Hour)
		building.slot(b.Context(), from)
	}
	b.Run("alone", func(b *testing.B) { building.read(b, path) })
	b.Run("while-booking", func(b *testing.B) {
		ctx, cancel := context.WithCancel(b.Context())
		var writer sync.WaitGroup
		made := 0
		writer.Go(func() {
			for ctx.Err() == nil {
				building.rebook(start.Add(benchBookings * time.Hour))
				made++
			}
		})
		building.read(b, path)
		cancel()
		writer.Wait()
		b.ReportMetric(float64(made)/b.Elapsed().Seconds(), "bookings/s")
	})
}

// slot books Aurora for an hour.
func (b *building) slot(ctx context.Context, from time.Time) string {
	made, _, err := b.agent.Bookings.Create(ctx, booking.Booking{SpaceID: aurora, Start: from, End: from.Add(time.Hour)}, schedule.Caller{})
	if err != nil {
		b.t.Error(err)
	}
	return made.ID
}

// rebook books an hour and takes it back.
func (b *building) rebook(from time.Time) {
	if _, err := b.agent.Bookings.Cancel(context.Background(), b.slot(context.Background(), from), schedule.Caller{}); err != nil {
		b.t.Error(err)
	}
}

// read asks the handler alone, and tells how many of a million answers took
// longer than a millisecond, which is less than a disk takes.
func (b *building) read(bench *testing.B, path string) {
	h := b.server.Handler()
	r := newRequest(bench, "GET", path, "X-API-Key: "+systemKey)
	w := &discard{header: http.Header{}}
	asked, slow := 0, 0
	bench.ReportAllocs()
	for bench.Loop() {
		clear(w.header)
		start := time.Now()
		h.ServeHTTP(w, r)
		if asked++; time.Since(start) > time.Millisecond {
			slow++
		}
	}
	if w.status != 0 {
		bench.Errorf("answer is %d", w.status)
	}
	bench.ReportMetric(1e6*float64(slow)/float64(asked), "slow-ppm")
}
