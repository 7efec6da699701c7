package booking

import (
	"testing"
	"time"
)

func TestDue(t *testing.T) {
	r := Default()
	created := func(b Booking, at time.Time) Booking { b.CreatedAt = at; return b }
	length := func(b Booking, d time.Duration) Booking { b.End = b.Start.Add(d); return b }
	started, warned := Marks{Started: true}, Marks{Started: true, Warned: true}
	without := func(f func(*Rules)) Rules { return rulesIn(time.UTC, f) }
	for _, c := range []struct {
		name  string
		b     Booking
		marks Marks
		rules Rules
		step  Step
		at    time.Time
	}{
		{"it begins", meeting(Booked), Marks{}, r, Start, at(10, 0)},
		{"warn", meeting(Booked), started, r, Warn, at(10, 8)},
		{"release", meeting(Booked), warned, r, Release, at(10, 10)},
		{"checked in early it still begins", meeting(CheckedIn), Marks{}, r, Start, at(10, 0)},
		{"checked in it ends", meeting(CheckedIn), started, r, End, at(11, 0)},
		{"booked while it runs", created(meeting(Booked), at(10, 7)), started, r, Warn, at(10, 15)},
		{"and released as late", created(meeting(Booked), at(10, 7)), warned, r, Release, at(10, 17)},
		{"shorter than the grace", length(meeting(Booked), 5*time.Minute), started, r, End, at(10, 5)},
		{"as long as the grace", length(meeting(Booked), 10*time.Minute), warned, r, End, at(10, 10)},
		{"no check-in wanted", meeting(Booked), started, without(func(r *Rules) { r.CheckIn = false }), End, at(11, 0)},
		{"never released", meeting(Booked), started, without(func(r *Rules) { r.Release = 0 }), End, at(11, 0)},
		{"no warning", meeting(Booked), started, without(func(r *Rules) { r.Warn = 0 }), Release, at(10, 10)},
		{"a warning as late as the release", meeting(Booked), started, without(func(r *Rules) { r.Warn = r.Release }), Release, at(10, 10)},
		{"marks of another start", meeting(Booked), Marks{Started: true, Warned: true, For: at(9, 0)}, r, Start, at(10, 0)},
		{"marks of this start", meeting(Booked), Marks{Started: true, Warned: true, For: at(10, 0)}, r, Release, at(10, 10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if step, when := c.b.Due(c.marks, c.rules); step != c.step || !when.Equal(c.at) {
				t.Fatalf("got %s at %s, want %s at %s", step, when, c.step, c.at)
			}
		})
	}
}

func TestReleaseAt(t *testing.T) {
	if when, ok := meeting(Booked).ReleaseAt(Default()); !ok || !when.Equal(at(10, 10)) {
		t.Fatalf("got %s, %v", when, ok)
	}
	short := meeting(Booked)
	short.End = at(10, 10)
	if _, ok := short.ReleaseAt(Default()); ok {
		t.Fatal("a booking that is over by then is released")
	}
	if _, ok := meeting(CheckedIn).ReleaseAt(Default()); ok {
		t.Fatal("a meeting that is checked in is released")
	}
	if _, ok := meeting(Booked).ReleaseAt(Rules{}); ok {
		t.Fatal("a booking is released where nobody has to check in")
	}
}

// day lets the steps of a booking be taken by a clock that is set at will, as
// the wheel takes them: only what is due, one after the other, marks kept.
type day struct {
	b     Booking
	marks Marks
	taken []Step
	when  []time.Time
}

func (d *day) tick(r Rules, now time.Time) {
	for d.b.Live() {
		step, due := d.b.Due(d.marks, r)
		if due.After(now) {
			return
		}
		d.taken, d.when = append(d.taken, step), append(d.when, now)
		switch step {
		case Release:
			d.b = d.b.ReleaseNow("nobody came", now)
		case End:
			d.b, _ = d.b.EndNow(due)
		default:
			d.marks = d.marks.Took(step, d.b)
		}
	}
}

func (d *day) want(t *testing.T, steps ...Step) {
	t.Helper()
	if len(steps) != len(d.taken) {
		t.Fatalf("took %v, want %v", d.taken, steps)
	}
	for i := range steps {
		if d.taken[i] != steps[i] {
			t.Fatalf("took %v, want %v", d.taken, steps)
		}
	}
}

func TestStepsInOrder(t *testing.T) {
	d := &day{b: meeting(Booked)}
	for now := at(9, 0); now.Before(at(12, 0)); now = now.Add(time.Minute) {
		d.tick(Default(), now)
	}
	d.want(t, Start, Warn, Release)
	if !d.when[0].Equal(at(10, 0)) || !d.when[1].Equal(at(10, 8)) || !d.when[2].Equal(at(10, 10)) {
		t.Fatalf("taken at %v", d.when)
	}
}

// A clock that is set back an hour during a meeting takes no step twice, and
// one that is set on by hours skips none.
func TestStepsWhenTheClockIsSet(t *testing.T) {
	d := &day{b: meeting(Booked)}
	d.tick(Default(), at(10, 8))
	d.want(t, Start, Warn)
	for now := at(9, 8); now.Before(at(10, 9)); now = now.Add(time.Minute) {
		d.tick(Default(), now)
	}
	d.want(t, Start, Warn)
	d.b, _ = d.b.CheckIn(Default(), at(10, 9))
	d.tick(Default(), at(10, 59))
	d.tick(Default(), at(9, 59))
	d.want(t, Start, Warn)
	d.tick(Default(), at(11, 0))
	d.want(t, Start, Warn, End)

	d = &day{b: meeting(Booked)}
	d.tick(Default(), at(20, 0))
	d.want(t, Start, Warn, Release)
}

// What was moved by a message begins again.
func TestStepsOfAMovedMeeting(t *testing.T) {
	d := &day{b: meeting(Booked)}
	d.tick(Default(), at(10, 9))
	d.b.Start, d.b.End = at(14, 0), at(15, 0)
	d.tick(Default(), at(14, 0))
	d.want(t, Start, Warn, Start)
	if d.marks != (Marks{Started: true, For: at(14, 0)}) {
		t.Fatalf("got %+v", d.marks)
	}
}
