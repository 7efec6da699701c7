package schedule

import (
	"cmp"
	"encoding/json"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
)

// levelBooking is the topic level on which bookings go up.
const levelBooking = "booking"

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

// bookingEvent makes the log row of what happened to a booking. It belongs to
// the organization that the booking names, or else to the one that owns the
// space now: later that may have another owner, or be gone.
func (r *Room) bookingEvent(e edit, at time.Time) (eventlog.Row, error) {
	owner, _ := r.book.o.Owner(r.ID) // empty of a space that is gone
	details := map[string]any{"booking_id": e.ID, "organization_id": cmp.Or(e.OrganizationID, owner), "state": e.State, "source": e.Source,
		"revision": e.Revision, "start_time": e.Start.Format(eventlog.TimeLayout), "end_time": e.End.Format(eventlog.TimeLayout)}
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
	return r.book.o.Events.Row(levelBooking, at, r.ID, "", "", data), err
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
