package api

import (
	"context"
	"net/http"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// createOrUpdate goes by whether the id exists, also if it comes to exist
// meanwhile. An id makes a request repeatable by itself, so the key is for
// those without one.
func (s *Server) createOrUpdate(ctx context.Context, f bookingFields, who schedule.Caller) (int, booking.Booking, error) {
	if f.id == nil {
		return s.create(ctx, f, who)
	}
	who.Key = ""
	if _, err := s.agent.Bookings.Get(*f.id); err != nil {
		status, b, err := s.create(ctx, f, who)
		if !isUsed(err) {
			return status, b, err
		}
	}
	b, err := s.update(ctx, f, who)
	return http.StatusOK, b, err
}

func (s *Server) create(ctx context.Context, f bookingFields, who schedule.Caller) (int, booking.Booking, error) {
	asked, err := f.asked()
	if err != nil {
		return 0, asked, err
	}
	if who.Revision != 0 {
		return 0, asked, &problem.Error{Code: problem.Stale, Field: "If-Match", Message: "cannot hold: there is no such booking yet"}
	}
	if asked.Start.IsZero() {
		who.Length = f.length()
	}
	b, created, err := s.agent.Bookings.Create(ctx, asked, who)
	switch {
	case who.Key != "" && isUsed(err):
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

func (s *Server) update(ctx context.Context, f bookingFields, who schedule.Caller) (booking.Booking, error) {
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
	return s.agent.Bookings.Change(ctx, *f.id, e, who)
}

func (s *Server) extend(ctx context.Context, f bookingFields, who schedule.Caller) (booking.Booking, error) {
	by := extendBy
	if f.minutes != nil {
		by = f.length()
	}
	return s.agent.Bookings.Extend(ctx, *f.id, value(f.end), by, who)
}
