package api

import (
	"context"
	"net/http"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// createOrUpdate goes by whether the id exists, also if it comes to exist
// meanwhile. An id makes a request repeatable by itself, so the key is for
// those without one.
func (s *Server) createOrUpdate(ctx context.Context, f bookingFields, o schedule.Caller) (int, booking.Booking, error) {
	if f.id == nil {
		return s.create(ctx, f, o)
	}
	o.Key = ""
	if _, err := s.agent.Bookings.Get(*f.id); err != nil {
		status, b, err := s.create(ctx, f, o)
		if !isUsed(err) {
			return status, b, err
		}
	}
	b, err := s.update(ctx, f, o)
	return http.StatusOK, b, err
}

func (s *Server) create(ctx context.Context, f bookingFields, o schedule.Caller) (int, booking.Booking, error) {
	asked, err := f.asked()
	if err != nil {
		return 0, asked, err
	}
	if o.Revision != 0 {
		return 0, asked, &problem.Error{Code: problem.Stale, Field: "If-Match", Message: "cannot hold: there is no such booking yet"}
	}
	if asked.Start.IsZero() {
		o.Length = f.length()
	}
	b, created, err := s.agent.Bookings.Create(ctx, asked, o)
	switch {
	case o.Key != "" && isUsed(err):
		return 0, b, invalid(headerIdempotencyKey, "was used before for another booking: choose a new one")
	case err != nil:
		return 0, b, err
	case created:
		return http.StatusCreated, b, nil
	}
	return http.StatusOK, b, nil
}

// isUsed says whether a booking was refused because of its id.
func isUsed(err error) bool {
	e := device.AsError(err)
	return e != nil && e.Code == problem.Conflict && e.Field == "id"
}

func (s *Server) update(ctx context.Context, f bookingFields, o schedule.Caller) (booking.Booking, error) {
	b, err := s.agent.Bookings.Get(*f.id)
	if err != nil {
		return b, err
	}
	if err := f.fits(b); err != nil {
		return b, err
	}
	e, err := f.edit()
	if err != nil {
		return b, err
	}
	return s.agent.Bookings.Change(ctx, *f.id, e, o)
}

func (s *Server) extend(ctx context.Context, f bookingFields, o schedule.Caller) (booking.Booking, error) {
	by := extendBy
	if f.minutes != nil {
		by = f.length()
	}
	return s.agent.Bookings.Extend(ctx, *f.id, value(f.end), by, o)
}

// length is what minutes stand for; 0: nothing.
func (f *bookingFields) length() time.Duration { return time.Duration(value(f.minutes)) * time.Minute }

// asked is the booking to be made. A walk-up need not name its times.
func (f *bookingFields) asked() (booking.Booking, error) {
	b := booking.Booking{ID: value(f.id), SpaceID: value(f.space), OrganizationID: value(f.organization), Title: value(f.title),
		Private: value(f.private), Organizer: value(f.organizer), Start: value(f.start), End: value(f.end),
		ExternalID: value(f.external), Source: booking.Source(value(f.source))}
	if f.organizer == nil {
		b.Organizer = f.booker
	}
	switch {
	case b.SpaceID == "":
		return b, invalid("meeting_space_id", "is missing")
	case b.Start.IsZero() && !f.walkUp():
		return b, invalid("start_time", "is missing")
	case b.End.IsZero() && f.minutes == nil && !f.walkUp():
		return b, invalid("end_time", "is missing: send it, or minutes")
	}
	if f.minutes != nil && !b.Start.IsZero() {
		b.End = b.Start.Add(f.length())
	}
	return b, nil
}

// edit is the change to be made to a booking that exists.
func (f *bookingFields) edit() (booking.Edit, error) {
	e := booking.Edit{Title: f.title, Private: f.private, Organizer: f.organizer, Start: f.start, End: f.end,
		ExternalID: f.external, OrganizationID: f.organization}
	if f.minutes == nil {
		return e, nil
	}
	if f.start == nil {
		return e, invalid("minutes", "has no meaning without start_time here: send that too, or end_time instead")
	}
	end := f.start.Add(f.length())
	e.End = &end
	return e, nil
}

// fits refuses to make another booking of one that exists.
func (f *bookingFields) fits(b booking.Booking) error {
	switch {
	case f.space != nil && *f.space != b.SpaceID:
		return invalid("meeting_space_id", "cannot be changed: cancel the booking and book the other space")
	case f.source != nil && *f.source != string(b.Source):
		return invalid("source", "cannot be changed: leave it out")
	}
	return nil
}
