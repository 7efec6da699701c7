// Package calendarlink lays an external calendar over the bookings of a meeting
// space.
//
// A calendar is the truth about its meetings as long as they are ahead: what it
// names is booked, what it moves is moved, and what it does not name any more
// is cancelled. Such a booking has only left, whatever the calendar's reason
// was: a link that was removed, an answer that was empty, an exception, a
// status. It returns, with its next revision, when the calendar names it again.
//
// What the building has settled stays: a meeting that people or the cloud
// cancelled, that was ended, or released because nobody came. A later time in
// the calendar makes another meeting of it. A meeting that people moved here, and
// that is over, has settled the time that it had and not the calendar's. Nor has
// time alone settled one by a clock that was ahead. A meeting
// that is checked in to keeps its start, and what people prolonged keeps its end.
//
// An event that cannot be read is no event that is missing: its bookings stay
// as they are.
package calendarlink

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"roomgate/agent/booking"
	"roomgate/agent/calendar"
	"roomgate/agent/problem"
)

// Room is a meeting space with what is booked in it.
type Room struct {
	ID       string
	Bookings *booking.Schedule
	Marks    map[string]booking.Marks // by id
}

// Page is what a calendar says of the time from From to To.
type Page struct {
	calendar.Result
	From, To time.Time
}

// Outcome is what a page makes of the bookings of a room.
type Outcome struct {
	Placed   []booking.Booking           // new, moved or returned
	Missing  []booking.Booking           // cancelled, for the page does not name them
	Said     map[string]booking.Interval // the calendar's times of what the page names, by id
	Problems []string                    // meetings that cannot be booked
	// Held is how many events of the calendar had bookings ahead, Lost how many
	// of them the page does not name at all.
	Held, Lost int
	// Booked is how many bookings ahead are the calendar's, Gone how many of them
	// are of events of which it says nothing any more, not even that they are called off.
	Booked, Gone int
}

// Lay finds out what a page changes. It changes nothing itself.
func (r Room) Lay(p Page, now time.Time) Outcome {
	l := layout{Room: r, now: now, unread: map[string]bool{}, spoken: map[string]bool{}, Outcome: Outcome{Said: map[string]booking.Interval{}}}
	for _, uid := range p.Unread {
		l.unread[uid] = true
	}
	for _, uid := range p.Named {
		l.spoken[uid] = true
	}
	for _, o := range p.Occurrences {
		l.spoken[o.UID] = true
		if o.End.After(now) {
			l.place(o)
		}
	}
	l.miss(p)
	return l.Outcome
}

// layout is the work of one Lay.
type layout struct {
	Room
	Outcome
	now    time.Time
	unread map[string]bool
	spoken map[string]bool // UIDs of which the page says anything
}

// place makes the booking of an occurrence what it shall be.
func (l *layout) place(o calendar.Occurrence) {
	said := booking.Interval{Start: o.Start.UTC().Truncate(time.Millisecond), End: o.End.UTC().Truncate(time.Millisecond)}
	id, old, known := l.standing(o, said)
	l.Said[id] = said
	if known && (settled(old) || old.Live() && l.unread[o.UID]) {
		return
	}
	if !known {
		old = booking.Booking{ID: id, SpaceID: l.Room.ID}
	}
	b, err := l.adopt(old, o, said)
	if err != nil {
		l.Problems = append(l.Problems, "event "+strings.ToValidUTF8(clip(o.UID, 100), "?")+" cannot be booked: "+err.Error())
		return
	}
	switch {
	case known && !old.Live():
		b = b.Return(l.Bookings, l.now)
		if b.State == booking.Displaced && old.State == booking.Displaced {
			return // the room is still not free
		}
	case known && b == old:
		return
	case known:
		b.Revision++
		b.UpdatedAt = l.now.UTC().Truncate(time.Millisecond)
	}
	l.Placed = append(l.Placed, b)
}

// standing finds the booking that stands for an occurrence: the first one of its
// name, or once the calendar speaks of another meeting than that, the next one
// of its times. The search ends, for every booking on its way is there.
func (l *layout) standing(o calendar.Occurrence, said booking.Interval) (id string, b booking.Booking, known bool) {
	id = ID(l.Room.ID, o.ExternalID())
	for n := 1; ; n++ {
		b, known = l.Bookings.Get(id)
		if !known || !l.parted(b, said) {
			return id, b, known
		}
		id = movedID(l.Room.ID, o, n)
	}
}

// settled says that the building has decided on a meeting.
func settled(b booking.Booking) bool {
	return !b.Live() && b.State != booking.Displaced && !b.Left()
}

// parted says that the calendar speaks of another meeting than the booking: it
// was moved after that was settled, or away from where people are in the room.
// A meeting that people moved here and that is over by now has only used that
// time: it says nothing of the time at which the calendar has it. So it does not
// matter whether the calendar was read while people were there.
func (l *layout) parted(b booking.Booking, said booking.Interval) bool {
	if b.State == booking.CheckedIn {
		return !b.Overlaps(said.Start, said.End)
	}
	if !settled(b) {
		return false
	}
	if l.ahead(b) {
		return true
	}
	if b.State != booking.Cancelled && !planned(b).Overlaps(said.Start, said.End) {
		return true
	}
	if was := l.Marks[b.ID].Calendar; was != (booking.Interval{}) {
		return !was.Start.Equal(said.Start) || !was.End.Equal(said.End)
	}
	return !b.Start.Equal(said.Start) || !b.End.Equal(said.End) && !b.PlannedEnd.Equal(said.End)
}

// backBy is by how much a clock was set back at least, for what it settled before to be undone.
const backBy = 5 * time.Minute

// ahead says that time alone has settled a meeting, by a clock that was ahead and has been set back since: its time is
// to come.
func (l *layout) ahead(b booking.Booking) bool {
	later := l.now.Add(backBy)
	switch b.State {
	case booking.Released:
		return b.ReleasedAt.After(later)
	case booking.Ended:
		return b.PlannedEnd.IsZero() && !b.EndedAt.Before(b.End) && b.End.After(later)
	}
	return false
}

// planned is the booking with all of the time that it was to have.
func planned(b booking.Booking) booking.Booking {
	if b.PlannedEnd.After(b.End) {
		b.End = b.PlannedEnd
	}
	return b
}

// adopt lays what the calendar says over a booking.
func (l *layout) adopt(b booking.Booking, o calendar.Occurrence, said booking.Interval) (booking.Booking, error) {
	was := b
	b.Source, b.ExternalID = booking.Calendar, clip(o.ExternalID(), 1000)
	b.Title, b.Private = clip(o.Title, 500), o.Private
	b.Organizer = booking.Person{Name: clip(o.Organizer.Name, 200), Email: o.Organizer.Email}
	b.Start = said.Start
	switch {
	case was.PlannedEnd.Equal(said.End) && was.Live(): // it was prolonged here, or cut short for others in the room
	case was.State == booking.CheckedIn && said.End.Before(was.End): // nobody's message shortens it
	case !b.End.Equal(said.End):
		b.End, b.PlannedEnd = said.End, time.Time{}
	}
	if was.State == booking.CheckedIn {
		b.Start = was.Start
	}
	err := b.Complete(0, l.now)
	if p := problem.As(err); p != nil && p.Field == "organizer.email" {
		b.Organizer.Email = "" // a room that is used must not look free
		err = b.Complete(0, l.now)
	}
	return b, err
}

// miss cancels what the page does not name, and counts the events that are
// gone as a whole. What was over when the calendar was read is not in it, though
// it may be ahead by now: a clock that was set back.
func (l *layout) miss(p Page) {
	held := map[string]bool{} // by UID: the page names one of its occurrences
	l.Bookings.Walk(func(b *booking.Booking) bool {
		if b.Source != booking.Calendar || b.State != booking.Booked || !b.End.After(l.now) || !b.End.After(p.From) || !b.Start.Before(p.To) {
			return true
		}
		uid := calendar.UIDOf(b.ExternalID)
		_, named := l.Said[b.ID]
		named = named || l.unread[uid]
		held[uid] = held[uid] || named
		l.Booked++
		if !named && !l.spoken[uid] {
			l.Gone++
		}
		if !named {
			l.Missing = append(l.Missing, b.Leave(l.now))
		}
		return true
	})
	l.Held = len(held)
	for _, named := range held {
		if !named {
			l.Lost++
		}
	}
}

// ID is the id of the booking that stands for an occurrence of an external
// calendar in a space.
func ID(space, external string) string { return hash(space + "\n" + external + "\n") }

// movedID is the id of the n-th booking of an occurrence that was moved after the
// one before was settled.
func movedID(space string, o calendar.Occurrence, n int) string {
	name := space + "\n" + o.ExternalID() + "\n" + o.Start.String() + o.End.String()
	if n > 1 {
		name += "\n" + strconv.Itoa(n)
	}
	return hash(name)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "c" + hex.EncodeToString(sum[:12])
}

// clip cuts a text to so many bytes, between two characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
