package agent

import (
	"cmp"
	"encoding/json"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
)

// levelBooking is the topic level on which bookings go up.
const levelBooking = "booking"

// spaceDevice is what an event of a space, and of no device in it, names as
// its device.
const spaceDevice = "meeting-space"

// The events of a booking.
const (
	bookingCreated   = "booking.created"
	bookingUpdated   = "booking.updated"
	bookingStarted   = "booking.start"
	bookingEnded     = "booking.end"
	bookingCancelled = "booking.cancelled"
	bookingCheckedIn = "booking.checked_in"
	bookingReleased  = "booking.released"
	bookingDisplaced = "booking.displaced"
)

// bookingEvent makes the log row of what happened to a booking. It belongs to
// the organization that the booking names, or else to the one that owns the
// space now: later that may have another owner, or be gone.
func (a *Agent) bookingEvent(s *space, e edit, at time.Time) (eventlog.Row, error) {
	details := map[string]any{"booking_id": e.ID, "organization_id": cmp.Or(e.OrganizationID, a.ownerOf(s)), "state": e.State, "source": e.Source,
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
	return a.Events.Event(eventlog.Record{Type: e.event, Time: at, Space: s.ID, Device: spaceDevice, Details: details})
}

// bookingRow makes the log row that tells the cloud of a booking.
func (a *Agent) bookingRow(s *space, b booking.Booking, at time.Time) (eventlog.Row, error) {
	data, err := json.Marshal(b)
	return a.Events.Row(levelBooking, at, s.ID, "", "", data), err
}

// eventOfState names what has happened when another side says that a booking
// is like that.
func eventOfState(was, is booking.Booking, known bool) string {
	switch {
	case is.Live() && !known, is.State == booking.Booked && !was.Live():
		return bookingCreated // also of one that was given up and comes back
	case was.State == is.State:
		return bookingUpdated
	}
	switch is.State {
	case booking.CheckedIn:
		return bookingCheckedIn
	case booking.Ended:
		return bookingEnded
	case booking.Cancelled:
		return bookingCancelled
	case booking.Released:
		return bookingReleased
	case booking.Displaced:
		return bookingDisplaced
	}
	return bookingUpdated
}
