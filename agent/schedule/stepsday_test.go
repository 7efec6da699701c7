package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/booking"
)

// moment is something that happens on a random day.
type moment struct {
	at   time.Duration // since midnight
	what string        // book, check in, stop
	b    booking.Booking
	off  time.Duration // of a stop
}

// randomDay draws bookings that do not overlap, who checks in, and when the
// gateway is off.
func randomDay(t *rapid.T) (day []moment) {
	at := time.Duration(0)
	second := rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, time.Second, 7 * time.Second})
	for i := range rapid.IntRange(1, 4).Draw(t, "bookings") {
		at += 15 * time.Minute * time.Duration(rapid.IntRange(1, 4).Draw(t, "gap"))
		length := 15 * time.Minute * time.Duration(rapid.IntRange(1, 4).Draw(t, "length"))
		b := meeting(fmt.Sprint("m", i), on(0, 0).Add(at), on(0, 0).Add(at+length))
		made := max(0, at-time.Minute*time.Duration(rapid.IntRange(-14, 30).Draw(t, "ahead")))
		day = append(day, moment{at: made, what: "book", b: b})
		if rapid.Bool().Draw(t, "comes") {
			in := at + time.Minute*time.Duration(rapid.IntRange(-10, 15).Draw(t, "in"))
			day = append(day, moment{at: in, what: "check in", b: b})
		}
		at += length
	}
	for range rapid.IntRange(1, 5).Draw(t, "stops") {
		when := 5*time.Minute*time.Duration(rapid.IntRange(0, int(at/(5*time.Minute))).Draw(t, "stop")) + second.Draw(t, "second")
		off := time.Minute*time.Duration(rapid.SampledFrom([]int{0, 0, 1, 5, 90}).Draw(t, "off")) + second.Draw(t, "off second")
		day = append(day, moment{at: when, what: "stop", off: off})
	}
	slices.SortStableFunc(day, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return append(day, moment{at: at + time.Hour})
}

// TestRestartsTakeNoStepTwiceAndSkipNone stops the gateway at random moments
// of random days: what has happened to each booking is what its life asks for.
func TestRestartsTakeNoStepTwiceAndSkipNone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		day := randomDay(rt)
		var fault string
		synctest.Test(t, func(t *testing.T) { fault = liveThrough(t, day) })
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// graceOf is until when people can check in: ten minutes from when the booking
// is there and has begun, and again after a pause in them.
func graceOf(b booking.Booking, pauses []booking.Interval) time.Time {
	grace := b.Start.Add(10 * time.Minute)
	if b.CreatedAt.After(b.Start) {
		grace = b.CreatedAt.Add(10 * time.Minute)
	}
	for _, p := range pauses {
		if again := p.End.Add(10 * time.Minute); p.Start.Before(grace) && again.After(grace) {
			grace = again
		}
	}
	return grace
}

func liveThrough(t *testing.T, day []moment) string {
	dir := t.TempDir()
	r := startRig(t, rigOptions{yaml: planned, dir: dir})
	want := map[string][]string{}
	var pauses []booking.Interval // longer than a minute
	for _, m := range day {
		if at := on(0, 0).Add(m.at); time.Now().Before(at) {
			r.until(at)
		}
		switch m.what {
		case "book":
			if _, created, _ := r.Create(t.Context(), m.b, Caller{}); created {
				want[m.b.ID] = nil
			}
		case "check in":
			synctest.Wait()
			if b, err := r.CheckIn(t.Context(), m.b.ID, Caller{}); err == nil {
				want[b.ID] = []string{CheckedIn}
			}
		case "stop":
			r.stop()
			stopped := time.Now()
			if time.Sleep(m.off); m.off > time.Minute {
				pauses = append(pauses, booking.Interval{Start: stopped, End: time.Now()})
			}
			r = startRig(t, rigOptions{yaml: planned, dir: dir})
		}
	}
	r.wait(time.Minute) // it may have started just now
	got := map[string][]string{}
	for _, h := range r.happenings() {
		if h.event != Created {
			got[h.id] = append(got[h.id], h.event)
		}
	}
	for id, events := range want {
		b := r.booking(id)
		switch {
		case len(events) > 0 || !graceOf(b, pauses).Before(b.End):
			events = append(events, Started, Ended)
		default:
			events = append(events, Started, Released)
		}
		slices.Sort(events)
		order := slices.Clone(got[id])
		if last := len(order) - 1; last < 0 || order[last] != Ended && order[last] != Released {
			return fmt.Sprintf("%s: happened %q, want its end last", id, order)
		}
		slices.Sort(order)
		if !slices.Equal(order, events) {
			return fmt.Sprintf("%s: happened %q, want %q", id, order, events)
		}
	}
	if strangers := len(got) - len(want); strangers != 0 {
		return fmt.Sprintf("%d bookings too many: %q", strangers, slices.Collect(maps.Keys(got)))
	}
	r.stop()
	return ""
}
