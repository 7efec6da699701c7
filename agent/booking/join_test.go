package booking

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/goldentest"
)

// drawVersion draws any version of the booking "m", from few values, so that
// ties are frequent.
func drawVersion(t *rapid.T) Booking {
	b := Booking{ID: "m", SpaceID: "room", Source: Local, CreatedAt: at(8, 0),
		Title:         rapid.SampledFrom([]string{"", "x"}).Draw(t, "title"),
		Start:         at(0, 60*rapid.IntRange(9, 11).Draw(t, "start")),
		State:         rapid.SampledFrom([]State{Booked, CheckedIn, Ended, Cancelled, Released, Displaced}).Draw(t, "state"),
		Revision:      rapid.Uint64Range(1, 3).Draw(t, "revision"),
		CloudRevision: rapid.Uint64Range(0, 2).Draw(t, "cloud revision"),
		UpdatedAt:     at(8, rapid.IntRange(0, 2).Draw(t, "updated"))}
	b.End = b.Start.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "length")) * time.Hour)
	if b.State == CheckedIn || b.State == Ended && rapid.Bool().Draw(t, "was there") {
		b.CheckedInAt = b.Start
	}
	return b
}

func TestJoinIsASemilattice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawVersion(t), drawVersion(t), drawVersion(t)
		if Join(a, a) != a {
			t.Fatalf("not idempotent: %+v", a)
		}
		if Join(a, b) != Join(b, a) {
			t.Fatalf("not commutative:\n%+v\n%+v", a, b)
		}
		if Join(Join(a, b), c) != Join(a, Join(b, c)) {
			t.Fatalf("not associative:\n%+v\n%+v\n%+v", a, b, c)
		}
		if j := Join(a, b); Join(j, a) != j || Join(j, b) != j {
			t.Fatalf("what was joined is not kept:\n%+v\n%+v", a, b)
		}
	})
}

func TestJoin(t *testing.T) {
	version := func(s State, revision uint64, f ...func(*Booking)) Booking {
		b := meeting(s)
		b.Revision = revision
		for _, g := range f {
			g(&b)
		}
		return b
	}
	titled := func(b *Booking) { b.Title = "x" }
	tomorrow := func(b *Booking) { b.Start, b.End = b.Start.AddDate(0, 0, 1), b.End.AddDate(0, 0, 1) }
	there := func(b *Booking) { b.CheckedInAt = at(9, 55) }
	longer := func(b *Booking) { b.End = at(11, 30) }
	for _, c := range []struct {
		name        string
		wins, loses Booking
	}{
		{"the later revision", version(Booked, 2, titled), version(Booked, 1)},
		{"who is in the room against a later cancel", version(CheckedIn, 2), version(Cancelled, 9)},
		{"who is in the room against a later move", version(CheckedIn, 2), version(Booked, 9, tomorrow)},
		{"who is in the room against a release", version(CheckedIn, 2), version(Released, 9)},
		{"who is in the room against having been displaced", version(CheckedIn, 2), version(Displaced, 9)},
		{"the end of a meeting that took place", version(Ended, 3, there), version(CheckedIn, 9, longer)},
		{"and against its cancel", version(Ended, 3, there), version(Cancelled, 9)},
		{"an extension against an edit elsewhere", version(CheckedIn, 2, longer), version(CheckedIn, 3, titled)},
		{"a cancel against a later edit", version(Cancelled, 2), version(Booked, 3, tomorrow)},
		{"a cancel against a release", version(Cancelled, 2), version(Released, 3)},
		{"a move against the release that did not know of it", version(Booked, 2, tomorrow), version(Released, 2)},
		{"a move against the end that did not know of it", version(Booked, 2, tomorrow), version(Ended, 2)},
		{"a release against the edit of a title", version(Released, 2), version(Booked, 2, titled)},
		{"an edit against being displaced", version(Booked, 2, titled), version(Displaced, 2)},
		{"being displaced against what was displaced", version(Displaced, 2), version(Booked, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, got := range []Booking{Join(c.wins, c.loses), Join(c.loses, c.wins)} {
				if got != c.wins {
					t.Fatalf("got %+v", got)
				}
			}
		})
	}
	known, unknown := version(Booked, 1), version(Booked, 2)
	known.CloudRevision = 7
	if got := Join(known, unknown); got.CloudRevision != 7 || got.Revision != 2 {
		t.Fatalf("the cloud revision is lost: %+v", got)
	}
}

// drawLive draws live bookings that overlap at will. Those that are checked in
// do not, for only the building checks in.
func drawLive(t *rapid.T) []Booking {
	var all []Booking
	var present Intervals
	for i := range rapid.IntRange(0, 12).Draw(t, "bookings") {
		b := meeting(rapid.SampledFrom([]State{Booked, Booked, CheckedIn}).Draw(t, "state"))
		b.ID = fmt.Sprintf("b%d", i)
		b.Start, b.End = drawTimes(t)
		b.CloudRevision = rapid.Uint64Range(0, 3).Draw(t, "cloud revision")
		b.CreatedAt = at(8, rapid.IntRange(0, 2).Draw(t, "created"))
		if b.State == CheckedIn {
			if _, overlap := present.find(b.Start, b.End); overlap {
				b.State = Booked
			} else {
				present.insert(Interval{b.Start, b.End})
			}
		}
		all = append(all, b)
	}
	return all
}

func TestResolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawLive(t)
		before := slices.Clone(all)
		losers := resolve(pointers(all))
		if !slices.Equal(all, before) {
			t.Fatal("it changed what it was given")
		}
		if again := resolve(pointers(rapid.Permutation(all).Draw(t, "other order"))); !slices.Equal(losers, again) {
			t.Fatalf("the order of the input matters:\n%+v\n%+v", losers, again)
		}
		after := map[string]Booking{}
		for _, b := range all {
			after[b.ID] = b
		}
		for _, l := range losers {
			was := after[l.ID]
			goldentest.Values(t, "displaced", goldentest.Pairs{"was.State": {was.State, Booked}, "l.State": {l.State, Displaced},
				"Revision": {l.Revision, was.Revision + 1}, "no Reason": {l.Reason == "", false},
				"UpdatedAt": {l.UpdatedAt.Equal(was.UpdatedAt), true}})
			after[l.ID] = l
		}
		for _, a := range after {
			yields := a.State == Displaced
			for _, b := range after {
				if a.ID == b.ID || !b.Live() || !a.Overlaps(b.Start, b.End) {
					continue
				}
				if a.Live() {
					t.Fatalf("both stand:\n%+v\n%+v", a, b)
				}
				if b.State == CheckedIn || precedes(b, a) < 0 {
					yields = false // it had to
				}
			}
			if yields {
				t.Fatalf("%+v was displaced by nobody who has the better right", a)
			}
		}
	})
}

// Two that are checked in: nobody is displaced, the one that began first is
// cut, and that outranks nothing.
func TestResolvePresent(t *testing.T) {
	first, second := meeting(CheckedIn), meeting(CheckedIn)
	first.End = at(11, 30) // prolonged by the cloud
	second.ID, second.Start, second.End, second.CheckedInAt = "n", at(11, 0), at(12, 0), at(10, 58)
	wanted := meeting(Booked)
	wanted.ID, wanted.Start, wanted.End = "w", at(11, 45), at(12, 30)
	losers := resolve(pointers([]Booking{second, wanted, first}))
	if len(losers) != 2 || losers[0].ID != "m" || losers[1].ID != "w" {
		t.Fatalf("got %+v", losers)
	}
	cut := losers[0]
	if cut.State != CheckedIn || !cut.End.Equal(at(11, 0)) || !cut.PlannedEnd.Equal(at(11, 30)) || cut.Revision != first.Revision {
		t.Fatalf("got %+v", cut)
	}
	text(t, fmt.Errorf("%s", cut.Reason), "another meeting is in the room from 2026-03-02 11:00 UTC on")
	text(t, fmt.Errorf("%s", losers[1].Reason), "another booking has the right to the room: 2026-03-02 11:00 to 12:00 UTC")
	if Join(cut, first) != first {
		t.Fatal("the cut outranks the building's word")
	}
	twin := meeting(CheckedIn)
	twin.ID, twin.CheckedInAt = "t", at(9, 58)
	losers = resolve(pointers([]Booking{twin, meeting(CheckedIn)}))
	if len(losers) != 1 || losers[0].ID != "m" || losers[0].Live() || Join(losers[0], meeting(CheckedIn)) != meeting(CheckedIn) {
		t.Fatalf("got %+v", losers)
	}
}

func TestMergeOfOneConflict(t *testing.T) {
	mine, theirs := meeting(Booked), meeting(Booked)
	theirs.ID, theirs.CloudRevision, theirs.CreatedAt = "c", 4, at(8, 30)
	s := NewSchedule([]Booking{mine})
	store, tell := Merge(s.Get, s.Walk, []Booking{theirs})
	if len(store) != 2 || store[0] != theirs || store[1].ID != "m" || store[1].State != Displaced {
		t.Fatalf("store %+v", store)
	}
	if len(tell) != 1 || tell[0] != store[1] {
		t.Fatalf("tell %+v", tell)
	}
	s.Put(store...)
	if store, tell := Merge(s.Get, s.Walk, []Booking{theirs, store[1]}); store != nil || tell != nil {
		t.Fatalf("the answer is no news: %+v, %+v", store, tell)
	}
	if store, tell := Merge(s.Get, s.Walk, []Booking{mine}); store != nil || len(tell) != 1 || tell[0].State != Displaced {
		t.Fatalf("who knows less is told: %+v, %+v", store, tell)
	}
}
