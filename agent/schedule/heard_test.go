package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
)

// checkIn checks a booking in, as somebody in the room does.
func (r *rig) checkIn(id string) booking.Booking {
	r.t.Helper()
	b, err := r.CheckIn(context.Background(), id, Caller{})
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

const here = `"state":"checked_in","checked_in_at":"2000-01-01T08:55:00Z"`

// TestCloudAsksForACheckIn: a check-in that is not the building's own is a request,
// which is granted in its time where nobody is in the way, and told in any case.
func TestCloudAsksForACheckIn(t *testing.T) {
	for name, c := range map[string]struct {
		play func(r *rig)
		slot string
		want string // state, by whom it is checked in, revision
	}{
		"in its time":      {func(*rig) {}, slot("b", on(9, 0), on(10, 0), here), "checked_in cloud 2"},
		"early":            {func(*rig) {}, slot("b", on(10, 0), on(11, 0), here), "booked  2"},
		"late":             {func(*rig) {}, slot("b", on(8, 0), on(8, 50), here), "booked  2"},
		"of one that is":   {func(r *rig) { r.book("b", on(9, 0), on(10, 0)) }, slot("b", on(9, 0), on(10, 0), here), "checked_in cloud 2"},
		"of an older one":  {func(r *rig) { r.book("b", on(9, 0), on(10, 0)); r.retitle("b") }, slot("b", on(9, 0), on(10, 0), here), "booked  2"},
		"its own":          {func(r *rig) { r.book("b", on(9, 0), on(10, 0)); r.checkIn("b") }, slot("b", on(9, 0), on(10, 0), here, `"revision":9`), "checked_in  9"},
		"over people":      {func(r *rig) { r.book("p", on(8, 45), on(9, 45)); r.checkIn("p") }, slot("b", on(9, 0), on(10, 0), here), "displaced  2"},
		"over an older":    {func(r *rig) { r.take(said("0", kindSnapshot, 1, slot("o", on(9, 15), on(10, 0)))) }, slot("b", on(9, 0), on(10, 0), here), "displaced  2"},
		"before a walk-up": {func(r *rig) { r.book("w", on(9, 30), on(10, 0)) }, slot("b", on(9, 0), on(9, 30), here), "checked_in cloud 2"},
		"ended, of one where nobody was": {func(r *rig) { r.book("b", on(9, 0), on(9, 45)); r.retitle("b") },
			slot("b", on(9, 0), on(9, 45), `"state":"ended"`, `"checked_in_at":"2000-01-01T08:46:00Z"`), "booked  2"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startRig(t, rigOptions{yaml: planned})
				r.until(on(8, 30))
				func() {
					defer func() { r.until(on(8, 55)) }()
					if name == "over people" {
						r.until(on(8, 40))
					}
					if name == "its own" {
						r.until(on(8, 51))
					}
					c.play(r)
				}()
				if got := r.take(said("1", kindSnapshot, 2, c.slot+r.others("b"))); got != "done" {
					t.Fatal(got)
				}
				b := r.booking("b")
				if got := fmt.Sprintf("%s %s %d", b.State, b.CheckedInBy, b.Revision); got != c.want {
					t.Errorf("it is %q, want %q: %+v", got, c.want, b)
				}
				if (b.State == booking.CheckedIn) != !b.CheckedInAt.IsZero() {
					t.Errorf("checked in at %v", b.CheckedInAt)
				}
				told := r.toldUp()
				if name != "its own" && !slices.Contains(told, "b "+string(b.State)) {
					t.Errorf("told the cloud %q", told)
				}
				n := len(told)
				r.take(said("2", kindDelta, 3, c.slot)) // it comes again, after what was told
				if again := r.booking("b"); name != "late" && (again.State != b.State || again.Revision != b.Revision) {
					t.Errorf("the request again: %+v, then %+v", b, again)
				}
				if more := r.toldUp()[n:]; name != "late" && len(more) > 1 {
					t.Errorf("told again: %q", more)
				}
				r.wantStored()
			})
		})
	}
}

// retitle changes a booking here.
func (r *rig) retitle(id string) {
	r.t.Helper()
	title := "changed here"
	if _, err := r.Change(context.Background(), id, booking.Edit{Title: &title}, Caller{}); err != nil {
		r.t.Fatal(err)
	}
}

// others are the bookings of a room but one, as a snapshot says them.
func (r *rig) others(but string) (out string) {
	all, _ := r.List(room, time.Time{}, time.Time{})
	for _, b := range all {
		if b.ID != but {
			data, _ := json.Marshal(b)
			out += "," + string(data)
		}
	}
	return out
}

// TestRequestIsNotKeptForLater: one that was refused is not granted when its time
// has come, however often its message comes.
func TestRequestIsNotKeptForLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		early := said("1", kindSnapshot, 1, slot("b", on(9, 0), on(10, 0), here))
		r.take(early)
		r.until(on(8, 55))
		r.take(early)
		if b := r.booking("b"); b.State != booking.Booked || b.Revision != 2 {
			t.Errorf("the same message in its time: %+v", b)
		}
		r.take(said("2", kindDelta, 2, slot("b", on(9, 0), on(10, 0), here, `"revision":3`)))
		if b := r.booking("b"); b.State != booking.CheckedIn || b.Revision != 4 || !b.CheckedInAt.Equal(on(8, 55)) {
			t.Errorf("a new request: %+v", b)
		}
	})
}

// TestCloudMovesNobodyIntoPeople: the times that the cloud gives to meetings that are
// checked in cut nobody short.
func TestCloudMovesNobodyIntoPeople(t *testing.T) {
	for name, moved := range map[string]string{
		"longer":    slot("a", on(9, 0), on(11, 0), here, `"revision":9`),
		"later":     slot("a", on(10, 15), on(11, 15), here, `"revision":9`),
		"exchanged": slot("a", on(10, 0), on(11, 0), here, `"revision":9`) + "," + slot("b", on(9, 0), on(10, 0), here, `"revision":9`),
		"together":  slot("a", on(11, 0), on(12, 0), here, `"revision":9`) + "," + slot("b", on(11, 30), on(12, 30), here, `"revision":9`),
	} {
		bubble(t, func(t *testing.T) {
			r := startRig(t, rigOptions{yaml: planned})
			r.book("a", on(9, 0), on(10, 0))
			r.book("b", on(10, 0), on(11, 0))
			r.until(on(9, 0))
			r.checkIn("a")
			r.until(on(9, 55))
			r.checkIn("b")
			r.take(said("1", kindDelta, 1, moved))
			for id, from := range map[string]time.Time{"a": on(9, 0), "b": on(10, 0)} {
				if b := r.booking(id); b.State != booking.CheckedIn || !b.Start.Equal(from) || !b.End.Equal(from.Add(time.Hour)) {
					t.Errorf("%s: %+v", name, b)
				}
			}
			r.wantStored()
		})
	}
}

// TestRevisionNeverGoesBack: what the cloud decides over changes that it does not
// know gets a later revision, also in another room, and the cloud hears of it.
func TestRevisionNeverGoesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.take(said("1", kindSnapshot, 1, slot("m", on(9, 0), on(10, 0))))
		r.retitle("m")
		title := "and once more"
		if _, err := r.Change(t.Context(), "m", booking.Edit{Title: &title}, Caller{}); err != nil {
			t.Fatal(err)
		}
		r.take(said("2", kindDelta, 2, slot("m", on(9, 0), on(10, 0), `"state":"cancelled"`, `"revision":2`)))
		if b := r.booking("m"); b.State != booking.Cancelled || b.Revision != 4 {
			t.Errorf("cancelled by the cloud: %+v", b)
		}
		e := said("3", kindSnapshot, 1, slot("m", on(9, 0), on(10, 0)))
		e.Data = json.RawMessage(strings.Replace(string(e.Data), room, otherRoom, 1))
		r.take(e)
		if b := r.booking("m"); b.SpaceID != otherRoom || b.State != booking.Booked || b.Revision != 5 {
			t.Errorf("moved by the cloud: %+v", b)
		}
		rows := r.logged(eventlog.LevelBooking)
		for i, want := range []uint64{2, 3, 4, 5} {
			var b booking.Booking
			if err := json.Unmarshal(rows[i].Data, &b); err != nil || b.Revision != want {
				t.Errorf("told %s, want revision %d", rows[i].Data, want)
			}
		}
		r.wantStored()
	})
}

// mischief is what a cloud that says what it likes lays over a room with meetings, in
// quarters of an hour from nine on.
type mischief struct {
	meetings []struct{ from, present int }
	messages []struct {
		kind  string
		slots []string
	}
}

func drawMischief(t *rapid.T) (m mischief) {
	n := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
	m.meetings = make([]struct{ from, present int }, 3)
	for i := range m.meetings {
		m.meetings[i].from, m.meetings[i].present = n("from", 0, 3), n("present", 0, 1)
	}
	m.messages = make([]struct {
		kind  string
		slots []string
	}, 3)
	for i := range m.messages {
		m.messages[i].kind = rapid.SampledFrom([]string{kindSnapshot, kindDelta}).Draw(t, "kind")
		for range n("slots", 1, 3) {
			from := on(9, 15*n("said from", 0, 4))
			state := rapid.SampledFrom([]string{"booked", "checked_in", "checked_in", "cancelled", "released", "displaced"}).Draw(t, "state")
			m.messages[i].slots = append(m.messages[i].slots, slot(fmt.Sprint("b", n("id", 0, 4)), from, from.Add(45*time.Minute),
				fmt.Sprintf(`"state":%q,"revision":%d,"checked_in_at":%q`, state, n("revision", 1, 6), from.Format(time.RFC3339))))
		}
	}
	return m
}

// TestNoMessagePutsPeopleOut plays any messages over a room with people in it.
func TestNoMessagePutsPeopleOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMischief(rt)
		var fault string
		bubble(t, func(t *testing.T) { fault = m.play(t) })
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

func (m mischief) play(t *testing.T) (fault string) {
	r := startRig(t, rigOptions{yaml: planned})
	r.until(on(8, 55))
	for i, p := range m.meetings {
		from := on(9, 15*p.from)
		b, _, err := r.Create(t.Context(), meeting(fmt.Sprint("b", i), from, from.Add(30*time.Minute)), Caller{})
		if err == nil && p.present == 1 {
			_, _ = r.CheckIn(t.Context(), b.ID, Caller{}) // too early is refused
		}
	}
	for i, message := range m.messages {
		before, _ := r.List(room, time.Time{}, time.Time{})
		if got := r.take(said(fmt.Sprint(i), message.kind, i+1, strings.Join(message.slots, ","))); got != "done" {
			return got
		}
		for _, was := range before {
			if fault := r.wronged(was); fault != "" {
				return fault
			}
		}
		after, _ := r.List(room, time.Time{}, time.Time{})
		for n, b := range after {
			if b.State == booking.CheckedIn && b.Start.After(on(9, 5)) {
				return fmt.Sprintf("checked in ahead of its time: %+v", b)
			}
			for _, other := range after[:n] {
				if b.Live() && other.Live() && b.Overlaps(other.Start, other.End) {
					return fmt.Sprintf("two at once: %+v and %+v", b, other)
				}
			}
		}
	}
	r.wantStored()
	return ""
}

// wronged says what a message has done to a booking that it must not.
func (r *rig) wronged(was booking.Booking) string {
	is := r.booking(was.ID)
	switch {
	case is.Revision < was.Revision:
		return fmt.Sprintf("a revision goes back: %+v, then %+v", was, is)
	case was.State != booking.CheckedIn:
	case is.State != booking.CheckedIn, !is.Start.Equal(was.Start), is.End.Before(was.End),
		!is.CheckedInAt.Equal(was.CheckedInAt), is.CheckedInBy != was.CheckedInBy:
		return fmt.Sprintf("people were put out: %+v, then %+v", was, is)
	}
	return ""
}
