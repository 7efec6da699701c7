package booking

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"roomgate/agent/problem"
)

// Schedule holds the bookings of one space in memory. Readers hold its lock
// for a search only, never while anything is written to a disk.
type Schedule struct {
	writing sync.Mutex // held by the one who changes it

	mu   sync.RWMutex
	byID map[string]*Booking
	live []*Booking // sorted by start; disjoint, so by end too
	// when are the times of live, in the same order: a search over thousands of
	// bookings without a gap reads these alone.
	when []millis
}

// millis is an interval in milliseconds since 1970. That is how exact stored
// times are.
type millis struct{ start, end int64 }

func (b *Booking) millis() millis { return millis{b.Start.UnixMilli(), b.End.UnixMilli()} }

// NewSchedule indexes bookings of which no live ones overlap.
func NewSchedule(all []Booking) *Schedule {
	s := &Schedule{byID: make(map[string]*Booking, len(all))}
	s.putMany(all)
	return s
}

func earlier(a, b *Booking) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID)) }

// Put adds bookings, or replaces them by their ids. The caller has seen to it
// that no live ones overlap.
func (s *Schedule) Put(all ...Booking) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if len(all) > 100 {
		s.putMany(all)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range all {
		s.drop(b.ID)
		s.byID[b.ID] = &b
		if b.Live() {
			i, _ := slices.BinarySearchFunc(s.live, &b, earlier)
			s.live = slices.Insert(s.live, i, &b)
			s.when = slices.Insert(s.when, i, b.millis())
		}
	}
}

// putMany sorts once instead of moving the tail for each, and beside what is
// read meanwhile.
func (s *Schedule) putMany(all []Booking) {
	byID := make(map[string]*Booking, len(s.byID)+len(all))
	maps.Copy(byID, s.byID)
	for _, b := range all {
		byID[b.ID] = &b
	}
	live := make([]*Booking, 0, len(byID))
	for _, b := range byID {
		if b.Live() {
			live = append(live, b)
		}
	}
	slices.SortFunc(live, earlier)
	when := make([]millis, len(live))
	for i, b := range live {
		when[i] = b.millis()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID, s.live, s.when = byID, live, when
}

// Forget removes bookings by their ids.
func (s *Schedule) Forget(ids ...string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.drop(id)
	}
}

func (s *Schedule) drop(id string) {
	old := s.byID[id]
	if old == nil {
		return
	}
	delete(s.byID, id)
	if i, found := slices.BinarySearchFunc(s.live, old, earlier); found {
		s.live = slices.Delete(s.live, i, i+1)
		s.when = slices.Delete(s.when, i, i+1)
	}
}

// Get returns the booking of that id.
func (s *Schedule) Get(id string) (Booking, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.byID[id]; b != nil {
		return *b, true
	}
	return Booking{}, false
}

// Len is how many bookings there are, live or not.
func (s *Schedule) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.byID)
}

// after is the index of the first live booking that ends after t.
func (s *Schedule) after(t time.Time) int {
	i, _ := slices.BinarySearchFunc(s.live, t, func(b *Booking, t time.Time) int {
		if b.End.After(t) {
			return 1
		}
		return -1
	})
	return i
}

// Free refuses an interval in which a live booking stands, other than the one
// of that id, and names the time in the way.
func (s *Schedule) Free(start, end time.Time, except string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := s.after(start); i < len(s.live) && s.live[i].Start.Before(end); i++ {
		if b := s.live[i]; b.ID != except {
			return taken(Interval{b.Start, b.End})
		}
	}
	return nil
}

// taken names the interval in the way.
func taken(busy Interval) error {
	e := problem.New(problem.Conflict, "start_time", "is not free: the space is booked %s", span(busy.Start, busy.End))
	e.Busy = &problem.Interval{Start: busy.Start, End: busy.End}
	return e
}

// Now returns the live booking at t and the next one after it; nil where there
// is none. They must not be changed.
func (s *Schedule) Now(t time.Time) (current, next *Booking) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i := s.after(t)
	if i < len(s.live) && !s.live[i].Start.After(t) {
		current = s.live[i]
		i++
	}
	if i < len(s.live) {
		next = s.live[i]
	}
	return current, next
}

// gap returns the first moment from t on at which nothing is booked for least,
// no later than until.
func (s *Schedule) gap(t, until time.Time, least time.Duration) (time.Time, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i := s.after(t)
	for i < len(s.live) && s.live[i].Start.Sub(t) < least {
		i = s.run(i, least)
		t = s.live[i].End
		i++
	}
	return t, t.Before(until)
}

// run is the last one of the bookings from i on that leave less than least
// between them.
func (s *Schedule) run(i int, least time.Duration) int {
	short := (least + time.Millisecond - 1).Milliseconds()
	for i+1 < len(s.when) && s.when[i+1].start-s.when[i].end < short {
		i++
	}
	return i
}

// All returns the bookings that share a moment with [from, to), live or not,
// sorted by start; a zero bound is none.
func (s *Schedule) All(from, to time.Time) []Booking {
	return s.Filter(func(b *Booking) bool {
		return (to.IsZero() || b.Start.Before(to)) && (from.IsZero() || b.End.After(from))
	})
}

// Filter returns the bookings that are wanted, live or not, sorted by start.
// wanted must not change them, nor ask the schedule.
func (s *Schedule) Filter(wanted func(*Booking) bool) (out []Booking) {
	s.mu.RLock()
	for _, b := range s.byID {
		if wanted(b) {
			out = append(out, *b)
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(out, func(a, b Booking) int { return earlier(&a, &b) })
	return out
}

// around are the bookings from the day before a booking to the day after.
func (s *Schedule) around(b Booking) []Booking {
	return s.All(b.Start.AddDate(0, 0, -1), b.End.AddDate(0, 0, 1))
}

// Walk calls f for the live bookings, sorted by start, until it returns false.
// f must not change them, nor the schedule.
func (s *Schedule) Walk(f func(*Booking) bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.live {
		if !f(b) {
			return
		}
	}
}
