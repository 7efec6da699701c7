package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// The events of a booking.
const (
	Created   = "booking.created"
	Updated   = "booking.updated"
	Started   = "booking.start"
	Ended     = "booking.end"
	Cancelled = "booking.cancelled"
	CheckedIn = "booking.checked_in"
	Released  = "booking.released"
	Displaced = "booking.displaced"
)

// edit is one booking as it shall be from now on.
type edit struct {
	booking.Booking
	marks booking.Marks
	event string         // what has happened, as Created; empty: nothing to tell here
	more  map[string]any // details of the event
	known bool           // the cloud has it like that
	ruled bool           // the cloud has brought it into this state itself
}

// commit stores edits, and what also does, with their events in one
// transaction, and only then shows them. The caller has the turn.
func (r *Room) commit(ctx context.Context, edits []edit, also ...eventlog.Stage) error {
	now, moved := r.book.o.Clock.Now(), map[string]*Room{}
	own := eventlog.Stage{Write: func(tx *store.Tx) error {
		more := 0
		for _, e := range edits {
			stored, _ := bookings.Get(tx, e.ID) // one that is not there, or cannot be read, is in no room
			if stored.SpaceID != r.ID {
				more++
			}
			from, err := r.leaves(stored, e)
			if err != nil {
				return err
			}
			if from != nil {
				moved[e.ID] = from
			}
			if err := r.storeEdit(tx, e, now); err != nil {
				return err
			}
		}
		return r.fits(more)
	}, Show: func() {
		for id, from := range moved {
			from.bookings.Forget(id)
		}
		r.show(edits)
	}}
	stages := append([]eventlog.Stage{own, r.book.o.Notices(r, gone(edits))}, also...)
	return r.book.o.Events.Commit(ctx, append(stages, eventlog.Stage{Show: func() { r.changed() }})...)
}

// maxEdits is how many bookings of a calendar are stored at once: a transaction
// is in memory until it is on disk, and everybody else waits for it.
const maxEdits = 500

// commitParts stores any number of edits, what makes room first, and what also
// does with the last of them. If it fails, some of the edits are stored. The
// caller has the turn.
func (r *Room) commitParts(ctx context.Context, edits []edit, also ...eventlog.Stage) error {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(liveness(a), liveness(b)) })
	for len(edits) > maxEdits {
		if err := r.commit(ctx, edits[:maxEdits]); err != nil {
			return err
		}
		edits = edits[maxEdits:]
	}
	if len(edits) == 0 && len(also) == 0 {
		return nil
	}
	return r.commit(ctx, edits, also...)
}

// gone are the bookings that the room has released or lost, without those of
// which the cloud has decided that.
func gone(edits []edit) (all []booking.Booking) {
	for _, e := range edits {
		if (e.event == Released || e.event == Displaced) && !e.ruled {
			all = append(all, e.Booking)
		}
	}
	return all
}

// fits refuses more bookings than a room keeps.
func (r *Room) fits(more int) error {
	if more > 0 && r.bookings.Len()+more > maxBookings {
		return problem.New(problem.Full, "", "the space would have more than %d bookings, past ones among them: send fewer, or wait until old ones are forgotten", maxBookings)
	}
	return nil
}

// leaves returns the other room that a booking leaves for this one, as the cloud moves it; nil: there is none. An id names one
// booking of the building: one that lives in another room is refused. The rows say so, as two rooms may store one id at a time.
func (r *Room) leaves(stored storedBooking, e edit) (*Room, error) {
	from := r.book.Room(stored.SpaceID)
	switch {
	case from == nil || from.ID == r.ID:
		return nil, nil
	case stored.Live() || !e.Live():
		return nil, inAnotherSpace(e.ID)
	}
	return from, nil
}

func inAnotherSpace(id string) *problem.Error {
	return problem.New(problem.Conflict, "id", "%s is a booking of another meeting space: cancel it there first", id)
}

// show takes over what was stored.
func (r *Room) show(edits []edit) {
	shown := make([]booking.Booking, len(edits))
	for i, e := range edits {
		shown[i] = e.Booking
		delete(r.steps.spared, e.ID)
		setMarks(r.marks, e.ID, e.marks)
	}
	r.bookings.Put(shown...)
}

func (r *Room) storeEdit(tx *store.Tx, e edit, now time.Time) error {
	kept := storedBooking{Booking: e.Booking, Marks: e.marks, Unsigned: e.Unsigned, Vouched: e.Vouched}
	if !e.Live() {
		kept.Over = r.book.o.Clock.Lived()
	}
	if err := bookings.Put(tx, e.ID, kept); err != nil {
		return err
	}
	if e.event != "" {
		line, err := r.bookingEvent(e, now)
		if err != nil {
			return err
		}
		if err := r.book.o.Events.Push(tx, line); err != nil {
			return err
		}
	}
	if e.known {
		return nil
	}
	line, err := r.bookingRow(e.Booking, now)
	if err != nil {
		return err
	}
	return r.book.o.Events.Push(tx, line)
}

// setMarks remembers the steps that were taken. Those of a booking that is not
// live stay: the cloud may give its time back to it.
func setMarks(marks map[string]booking.Marks, id string, m booking.Marks) {
	if m == (booking.Marks{}) {
		delete(marks, id)
		return
	}
	marks[id] = m
}

// bookingEvent makes the log row of what happened to a booking. It belongs to
// the organization that the booking names, or else to the one that owns the
// space now: later that may have another owner, or be gone.
func (r *Room) bookingEvent(e edit, at time.Time) (eventlog.Row, error) {
	owner, _ := r.book.o.Owner(r.ID) // empty of a space that is gone
	details := map[string]any{"booking_id": e.ID, "organization_id": cmp.Or(e.OrganizationID, owner), "state": e.State, "source": e.Source,
		"revision": e.Revision, "start_time": eventlog.Stamp(e.Start), "end_time": eventlog.Stamp(e.End)}
	if !e.Private {
		details["organizer"] = e.Organizer
	}
	if e.Reason != "" {
		details["reason"] = e.Reason
	}
	for name, value := range e.more {
		details[name] = value
	}
	return r.book.o.Events.Event(eventlog.Record{Type: e.event, Time: at, Space: r.ID, Device: eventlog.SpaceDevice, Details: details})
}

// bookingRow makes the log row that tells the cloud of a booking.
func (r *Room) bookingRow(b booking.Booking, at time.Time) (eventlog.Row, error) {
	data, err := json.Marshal(b)
	return r.book.o.Events.Row(eventlog.LevelBooking, at, r.ID, "", "", data), err
}

// eventOfState names what has happened when another side says that a booking
// is like that.
func eventOfState(was, is booking.Booking, known bool) string {
	switch {
	case is.Live() && !known, is.State == booking.Booked && !was.Live():
		return Created // also of one that was given up and comes back
	case was.State == is.State:
		return Updated
	}
	switch is.State {
	case booking.CheckedIn:
		return CheckedIn
	case booking.Ended:
		return Ended
	case booking.Cancelled:
		return Cancelled
	case booking.Released:
		return Released
	case booking.Displaced:
		return Displaced
	}
	return Updated
}
