package schedule

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/booking"
)

// patient is a room that nobody has to check in to: there all that is settled
// was settled by somebody.
const patient = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - {id: ` + room + `, name: Aurora, booking: {check_in: false}}
`

// model is an external calendar, and what people decided of it.
type model struct {
	*guided
	t        *rapid.T
	day      time.Time
	events   map[string]booking.Interval // of the calendar, by UID
	off      map[string]bool             // called off, by UID: the calendar names them, and they do not count
	shown    map[string]booking.Interval // as the answer has them; nil: it cannot be read
	said     map[string]booking.Interval // as the space heard each last
	settled  map[string]bool             // "uid start end"
	revision map[string]uint64           // the highest that was seen, by id
	schedule int                         // the cloud's revision
	linked   bool
}

func key(uid string, at booking.Interval) string {
	return fmt.Sprint(uid, at.Start.Unix(), at.End.Unix())
}

func (m *model) body() string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\n")
	for _, uid := range slices.Sorted(maps.Keys(m.events)) {
		at, status := m.events[uid], "CONFIRMED"
		if m.off[uid] {
			status = "CANCELLED"
		}
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nUID:%s\r\nDTSTART:%s\r\nDTEND:%s\r\nSUMMARY:%[1]s\r\nSTATUS:%[4]s\r\nEND:VEVENT\r\n", uid,
			at.Start.Format("20060102T150405Z"), at.End.Format("20060102T150405Z"), status)
	}
	return b.String() + "END:VCALENDAR\r\n"
}

// drawEvent puts an event of the calendar somewhere, or nowhere.
func (m *model) drawEvent() {
	uid := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(m.t, "uid")
	switch rapid.IntRange(0, 5).Draw(m.t, "gone") {
	case 0, 1:
		delete(m.events, uid)
		return
	case 2:
		m.off[uid] = !m.off[uid]
		return
	}
	start := m.day.Add(time.Duration(rapid.IntRange(0, 5).Draw(m.t, "slot")) * 4 * time.Hour)
	m.events[uid] = booking.Interval{Start: start, End: start.Add(time.Duration(rapid.IntRange(1, 3).Draw(m.t, "hours")) * time.Hour)}
}

// named are the events that count.
func (m *model) named() map[string]booking.Interval {
	all := maps.Clone(m.events)
	maps.DeleteFunc(all, func(uid string, _ booking.Interval) bool { return m.off[uid] })
	return all
}

// read lets the space read the calendar now.
func (m *model) read() {
	m.Room(room).link.relinked.Wake()
	m.wait(time.Second)
	if m.linked {
		maps.Copy(m.said, m.shown)
	}
}

// readBy lets the space read the calendar by a clock that is so far ahead, and is set right meanwhile.
func (m *model) readBy(ahead time.Duration) {
	m.site.during = func() { m.clock.Jump(0) }
	m.clock.Jump(ahead)
	m.Room(room).link.relinked.Wake()
	m.wait(time.Second)
	m.clock.Jump(0)
	m.site.during = nil
}

// feed answers with the calendar, or with what goes wrong.
func (m *model) feed() {
	body := m.body()
	m.shown = nil
	switch rapid.IntRange(0, 6).Draw(m.t, "answer") {
	case 0:
		m.site.show(http.StatusOK, ics())
	case 1:
		m.site.show(http.StatusNotFound, "")
	case 2:
		m.site.show(http.StatusOK, body[:rapid.IntRange(0, len(body)-20).Draw(m.t, "cut")])
	default:
		m.shown = m.named()
		m.site.show(http.StatusOK, body)
	}
	if ahead := rapid.SampledFrom([]int{0, 0, 0, -20, -2, 1, 3, 20}).Draw(m.t, "hours ahead"); ahead != 0 {
		m.readBy(time.Duration(ahead) * time.Hour)
	}
	m.read()
}

// person does something to a booking of the room. Refusals are nothing done.
func (m *model) person() {
	all, err := m.List(room, time.Time{}, time.Time{})
	if err != nil {
		m.fail("%v", err)
	}
	all = slices.DeleteFunc(all, func(b booking.Booking) bool { return !b.Live() })
	if len(all) == 0 {
		return
	}
	b := rapid.SampledFrom(all).Draw(m.t, "booking")
	ctx, none := m.guided.t.Context(), Caller{}
	start := m.day.Add(time.Duration(rapid.IntRange(0, 11).Draw(m.t, "to")) * 2 * time.Hour)
	end := start.Add(time.Hour)
	switch rapid.IntRange(0, 7).Draw(m.t, "does") {
	case 0:
		b, err = m.Cancel(ctx, b.ID, none)
	case 1:
		b, err = m.End(ctx, b.ID, none)
	case 2:
		b, err = m.CheckIn(ctx, b.ID, none)
	case 3:
		b, err = m.Change(ctx, b.ID, booking.Edit{Start: &start, End: &end}, none)
	case 4:
		b, err = m.Extend(ctx, b.ID, time.Time{}, 15*time.Minute, none)
	case 5:
		if _, err = m.Change(ctx, b.ID, booking.Edit{Start: &start, End: &end}, none); err == nil {
			b, err = m.Cancel(ctx, b.ID, none)
		}
	case 6:
		m.schedule++
		m.take(said(fmt.Sprint("s", m.schedule), kindDelta, m.schedule, "", b.ID))
		b = m.booking(b.ID)
	case 7: // they have it now instead
		start = time.Now().UTC().Truncate(15 * time.Minute).Add(15 * time.Minute)
		end = start.Add(15 * time.Minute)
		if _, err = m.Change(ctx, b.ID, booking.Edit{Start: &start, End: &end}, none); err == nil {
			m.wait(time.Until(start))
			b, err = m.CheckIn(ctx, b.ID, none)
		}
	}
	if err == nil && b.Source == booking.Calendar && !b.Live() && b.State != booking.Displaced && m.decides(b) {
		m.settled[key(b.ExternalID, m.said[b.ExternalID])] = true
	}
}

// decides says that what people did to a booking is about the time at which the
// calendar has it. The end of a meeting is about the time that it had: if that is
// another one the calendar's stays, see TestWhoIsInTheRoomKeepsIt.
func (m *model) decides(b booking.Booking) bool {
	if b.State != booking.Ended {
		return true
	}
	at := m.said[b.ExternalID]
	return b.Overlaps(at.Start, at.End) || b.PlannedEnd.After(at.Start) && b.Start.Before(at.End)
}

func (m *model) step() {
	switch rapid.IntRange(0, 9).Draw(m.t, "step") {
	case 0, 1:
		m.drawEvent()
	case 2, 3, 4:
		m.feed()
	case 5, 6:
		m.person()
	case 7:
		m.wait(time.Duration(rapid.IntRange(1, 90).Draw(m.t, "minutes")) * time.Minute)
	case 8:
		start := m.day.Add(time.Duration(rapid.IntRange(0, 11).Draw(m.t, "mine")) * 2 * time.Hour)
		_, _, _ = m.Create(m.guided.t.Context(), meeting("", start, start.Add(time.Hour)), Caller{})
	case 9:
		if rapid.Bool().Draw(m.t, "restart") {
			m.restart()
			return
		}
		m.linked = !m.linked
		m.link(map[bool]string{true: calendarAddress}[m.linked])
		m.wait(time.Second)
		m.read()
	}
	m.check()
}

// check wants revisions that only rise, no two live bookings at a time, and no
// two of one event.
func (m *model) check() {
	all, err := m.List(room, time.Time{}, time.Time{})
	if err != nil {
		m.fail("%v", err)
	}
	live := map[string]bool{}
	var end time.Time
	for _, b := range all {
		if b.Revision < m.revision[b.ID] {
			m.fail("revision %d after %d: %+v", b.Revision, m.revision[b.ID], b)
		}
		m.revision[b.ID] = b.Revision
		if !b.Live() {
			continue
		}
		if b.Start.Before(end) {
			m.fail("two at a time: %v", m.plan(room))
		}
		end = b.End
		if b.State == booking.Booked && b.Source == booking.Calendar && live[b.ExternalID] {
			m.fail("%s is booked twice: %v", b.ExternalID, m.plan(room))
		}
		live[b.ExternalID] = live[b.ExternalID] || b.State == booking.Booked
	}
}

// wantCalendar wants the room to be what the calendar says, without what was
// settled, and without what others are in the way of.
func (m *model) wantCalendar() {
	all, err := m.List(room, time.Time{}, time.Time{})
	if err != nil {
		m.fail("%v", err)
	}
	now := time.Now()
	in := func(of func(booking.Booking) bool) bool { return slices.ContainsFunc(all, of) }
	for uid, at := range m.named() {
		if !at.End.After(now) || m.settled[key(uid, at)] {
			continue
		}
		booked := in(func(b booking.Booking) bool {
			return b.ExternalID == uid && b.Source == booking.Calendar && b.Live() && b.Overlaps(at.Start, at.End) &&
				(b.State == booking.CheckedIn || b.Start.Equal(at.Start) && (b.End.Equal(at.End) || b.PlannedEnd.Equal(at.End)))
		})
		taken := in(func(b booking.Booking) bool { return b.ExternalID != uid && b.Live() && b.Overlaps(at.Start, at.End) })
		if !booked && !taken {
			m.fail("the room looks free although %s is there from %v to %v: %v\nsettled %v", uid, at.Start, at.End, m.plan(room), m.settled)
		}
	}
	for _, b := range all {
		if b.Source != booking.Calendar || b.State != booking.Booked || !b.End.After(now) {
			continue
		}
		if at, ok := m.named()[b.ExternalID]; !ok || !at.Start.Equal(b.Start) || m.settled[key(b.ExternalID, at)] {
			m.fail("the room looks taken by %+v, the calendar says %v, settled %v", b, m.events, m.settled)
		}
	}
}

// TestARoomIsWhatItsCalendarSays: whatever the calendar answers, people do and
// the power does, in the end the room is what the calendar said last, without
// what was settled here.
func TestARoomIsWhatItsCalendarSays(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		own, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		var ended any // rapid ends a run by a panic, which must not leave the bubble's goroutine
		bubble(t, func(t *testing.T) {
			defer func() { ended = recover() }()
			runModel(t, rt, own)
		})
		if wrong, ok := ended.(wrong); ok {
			rt.Fatal(wrong)
		}
		if ended != nil {
			panic(ended)
		}
	})
}

// wrong is what a model has found.
type wrong string

func (m *model) fail(format string, args ...any) { panic(wrong(fmt.Sprintf(format, args...))) }

func runModel(t *testing.T, rt *rapid.T, dir string) {
	m := &model{t: rt, events: map[string]booking.Interval{}, said: map[string]booking.Interval{}, settled: map[string]bool{}, off: map[string]bool{}, revision: map[string]uint64{}, linked: true,
		guided: &guided{site: &website{status: http.StatusOK, body: ics()}, yaml: patient}}
	m.rig = openRig(t, rigOptions{yaml: patient, dir: dir})
	m.start()
	defer func() { m.stop() }()
	m.link(calendarAddress)
	m.day = on(0, 0)
	for range rapid.IntRange(1, 20).Draw(rt, "steps") {
		m.step()
	}
	if !m.linked {
		m.linked = true
		m.link(calendarAddress)
	}
	m.site.show(http.StatusOK, m.body())
	m.read()
	if link, err := m.CalendarLink(room); err != nil || link.Error != "" {
		m.fail("%+v, %v", link, err)
	} else if len(link.Problems) > 0 { // it is doubted
		m.wait(61 * time.Minute)
		m.read()
	}
	m.check()
	m.wantCalendar()
}
