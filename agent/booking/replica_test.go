package booking

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// monday is a day on which nothing special happens to clocks.
var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// replica is one side of the merge: it holds records, changes them by the
// exported rules alone, and sends what has changed.
type replica struct {
	t     *rapid.T
	name  string
	plan  *Schedule
	rules Rules
	told  map[string]bool            // displaced, and somebody was told so here
	lost  map[string]map[string]bool // who was displaced here: by whom
}

func newReplica(t *rapid.T, name string) *replica {
	return &replica{t: t, name: name, plan: NewSchedule(nil), rules: Default(), told: map[string]bool{}, lost: map[string]map[string]bool{}}
}

// pick draws one of the live bookings; false if there are none.
func (r *replica) pick() (Booking, bool) {
	live := r.plan.Live()
	if len(live) == 0 {
		return Booking{}, false
	}
	return live[rapid.IntRange(0, len(live)-1).Draw(r.t, r.name+" picks")], true
}

// create books a free time, as a person asks for it.
func (r *replica) create(id string, source Source, now time.Time) []Booking {
	start, end := drawTime(r.t, now)
	if source == WalkUp {
		start, end = now, now.Add(30*time.Minute)
	}
	b, err := New(Booking{ID: id, SpaceID: "room", Source: source, Start: start, End: end}, r.rules, now)
	if err != nil || r.plan.Free(b.Start, b.End, b.ID) != nil {
		return nil
	}
	return r.put(b)
}

// drawTime draws times near now, so that they often overlap.
func drawTime(t *rapid.T, now time.Time) (start, end time.Time) {
	slot := 15 * time.Minute
	start = now.Truncate(slot).Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "slot")) * slot)
	return start, start.Add(time.Duration(rapid.IntRange(1, 5).Draw(t, "slots")) * slot)
}

// change does to a booking what f says, if the space is free then.
func (r *replica) change(f func(Booking) (Booking, error)) []Booking {
	b, ok := r.pick()
	if !ok {
		return nil
	}
	after, err := f(b)
	if err != nil || Same(b, after) {
		return nil
	}
	moved := after.Live() && (!after.Start.Equal(b.Start) || !after.End.Equal(b.End))
	if moved && r.plan.Free(after.Start, after.End, after.ID) != nil {
		return nil
	}
	return r.put(after)
}

// comeBack books what has left its calendar again.
func (r *replica) comeBack(now time.Time) (all []Booking) {
	for _, b := range r.records() {
		if b.Left() {
			after := b.Return(r.plan, now)
			r.told[b.ID] = r.told[b.ID] || after.State == Displaced
			all = append(all, r.put(after)...)
		}
	}
	return all
}

func (r *replica) put(all ...Booking) []Booking {
	r.plan.Put(all...)
	r.disjoint()
	return all
}

// edit changes a text, or moves the booking.
func (r *replica) edit(now time.Time) []Booking {
	return r.change(func(b Booking) (Booking, error) {
		if rapid.Bool().Draw(r.t, "text only") {
			title := fmt.Sprintf("title %d", rapid.IntRange(0, 3).Draw(r.t, "title"))
			return b.Change(Edit{Title: &title}, r.rules, now)
		}
		start, end := drawTime(r.t, now)
		if rapid.Bool().Draw(r.t, "end only") {
			return b.Change(Edit{End: &end}, r.rules, now)
		}
		return b.Change(Edit{Start: &start, End: &end}, r.rules, now)
	})
}

// merge takes what the other side says, and returns what it is to hear.
func (r *replica) merge(said []Booking) (store, tell []Booking) {
	store, tell = Merge(r.plan.Get, r.plan.Walk, said)
	for _, b := range store {
		if was, ok := r.plan.Get(b.ID); ok && b.Revision < was.Revision {
			r.t.Fatalf("%s: a revision goes back: %+v, then %+v", r.name, was, b)
		}
	}
	known := map[string]bool{} // as displaced, to the other side
	for _, s := range said {
		known[s.ID] = known[s.ID] || s.State == Displaced
	}
	r.plan.Put(store...)
	r.disjoint()
	for _, b := range store {
		if b.State != Displaced {
			continue
		}
		r.told[b.ID] = true
		if known[b.ID] {
			continue
		}
		if !slices.ContainsFunc(tell, func(x Booking) bool { return Same(x, b) }) {
			r.t.Fatalf("%s displaced %s and does not tell", r.name, b.ID)
		}
		r.lost[b.ID] = map[string]bool{}
		for _, w := range r.plan.Live() {
			if w.Overlaps(b.Start, b.End) && (w.State == CheckedIn || precedes(w, b) < 0) {
				r.lost[b.ID][w.ID] = true
			}
		}
	}
	return store, tell
}

func (r *replica) disjoint() {
	live := r.plan.Live()
	for i := 1; i < len(live); i++ {
		if live[i-1].End.After(live[i].Start) {
			r.t.Fatalf("%s has two overlapping bookings:\n%+v\n%+v", r.name, live[i-1], live[i])
		}
	}
}

// records are all that the side knows.
func (r *replica) records() []Booking { return r.plan.All(time.Time{}, time.Time{}) }
