package booking

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/problem"
)

// model is a schedule that looks at everything, every time.
type model map[string]Booking

func (m model) live() (all []Booking) {
	for _, b := range m {
		if b.Live() {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Booking) int { return a.Start.Compare(b.Start) })
	return all
}

func (m model) busy(start, end time.Time, except string) (Booking, bool) {
	for _, b := range m.live() {
		if b.ID != except && b.Overlaps(start, end) {
			return b, true
		}
	}
	return Booking{}, false
}

func (m model) now(t time.Time) (current, next string) {
	for _, b := range m.live() {
		switch {
		case !b.Start.After(t) && b.End.After(t):
			current = b.ID
		case b.Start.After(t) && next == "":
			next = b.ID
		}
	}
	return current, next
}

func (m model) between(from, to time.Time) (ids []string) {
	for _, b := range m {
		if (to.IsZero() || b.Start.Before(to)) && (from.IsZero() || b.End.After(from)) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// drawTimes draws an interval of the Monday, to the minute.
func drawTimes(t *rapid.T) (start, end time.Time) {
	minute := rapid.IntRange(0, 600).Draw(t, "start")
	return at(0, minute), at(0, minute+rapid.IntRange(1, 120).Draw(t, "length"))
}

func TestScheduleIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := NewSchedule(nil), model{}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				b := meeting(rapid.SampledFrom([]State{Booked, Booked, CheckedIn, Ended, Cancelled}).Draw(t, "state"))
				b.ID = fmt.Sprintf("b%d", rapid.IntRange(0, 12).Draw(t, "id"))
				b.Start, b.End = drawTimes(t)
				busy, taken := m.busy(b.Start, b.End, b.ID)
				err := s.Free(b.Start, b.End, b.ID)
				if taken != (err != nil) {
					t.Fatalf("free says %v, and there stands %+v", err, busy)
				}
				if taken {
					if p := problem.As(err); !p.Busy.Start.Equal(busy.Start) || !p.Busy.End.Equal(busy.End) {
						t.Fatalf("free names %+v, and there stands %+v", p.Busy, busy)
					}
				}
				if !taken || !b.Live() {
					s.Put(b)
					m[b.ID] = b
				}
			},
			"put many": func(t *rapid.T) {
				var many []Booking
				for i := range 120 {
					b := meeting(Released)
					b.ID = fmt.Sprintf("past%d", i%rapid.IntRange(100, 120).Draw(t, "ids"))
					b.Start, b.End = at(0, i), at(0, i+5)
					many, m[b.ID] = append(many, b), b
				}
				s.Put(many...)
			},
			"forget": func(t *rapid.T) {
				id := fmt.Sprintf("b%d", rapid.IntRange(0, 12).Draw(t, "id"))
				s.Forget(id, "nobody")
				delete(m, id)
			},
			"": func(t *rapid.T) { compare(t, s, m) },
		})
	})
}

// compare asks the schedule everything that its model knows.
func compare(t *rapid.T, s *Schedule, m model) {
	if s.Len() != len(m) || !slices.Equal(s.Live(), m.live()) {
		t.Fatalf("live are %+v, want %+v", s.Live(), m.live())
	}
	var walked []Booking
	s.Walk(func(b *Booking) bool { walked = append(walked, *b); return len(walked) < 3 })
	if want := m.live(); !slices.Equal(walked, want[:min(3, len(want))]) {
		t.Fatalf("walked %+v", walked)
	}
	when, _ := drawTimes(t)
	current, next := s.Now(when)
	if wantCurrent, wantNext := m.now(when); name(current) != wantCurrent || name(next) != wantNext {
		t.Fatalf("at %s: %q and %q, want %q and %q", when, name(current), name(next), wantCurrent, wantNext)
	}
	from, to := drawTimes(t)
	if rapid.Bool().Draw(t, "no bound") {
		to = time.Time{}
	}
	var ids []string
	for _, b := range s.All(from, to) {
		ids = append(ids, b.ID)
		if got, ok := s.Get(b.ID); !ok || got != m[b.ID] {
			t.Fatalf("got %+v, want %+v", got, m[b.ID])
		}
	}
	want := m.between(from, to)
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Fatalf("between %s and %s: %v, want %v", from, to, ids, want)
	}
}

// The same id twice is one booking, the last one.
func TestNewScheduleTakesAnIDOnce(t *testing.T) {
	moved := meeting(Booked)
	moved.Start, moved.End = at(14, 0), at(15, 0)
	s := NewSchedule([]Booking{meeting(Booked), moved})
	if live := s.Live(); len(live) != 1 || live[0] != moved {
		t.Fatalf("got %+v", live)
	}
}

// Signs are read while bookings come and go.
func TestScheduleIsReadWhileItChanges(t *testing.T) {
	s := NewSchedule(booked([2]int{600, 660}, [2]int{700, 760}))
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 300 {
			b := meeting(Booked)
			b.ID, b.Start, b.End = "moving", at(12, i), at(12, i+1)
			s.Put(b)
			s.Forget("m1")
			s.Put(booked([2]int{0, 1}, [2]int{700, 760})[1])
		}
	})
	for range 300 {
		if g := Default().StateAt(at(10, 5), s, nil); g.Status != Reserved || g.Current.ID != "m0" {
			t.Fatalf("got %+v", g)
		}
	}
	wg.Wait()
	if got := s.Live(); len(got) != 3 {
		t.Fatalf("got %+v", got)
	}
}

// Live are copies of the live bookings, sorted by start.
func (s *Schedule) Live() (all []Booking) {
	for b := range s.Walk {
		all = append(all, *b)
	}
	return all
}

func pointers(all []Booking) (out []*Booking) {
	for _, b := range all {
		out = append(out, &b)
	}
	return out
}
