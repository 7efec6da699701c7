package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// The operations on bookings, as a bulk request names them.
const (
	opCreate  = "create"
	opUpdate  = "update"
	opCancel  = "cancel"
	opCheckIn = "check_in"
	opExtend  = "extend"
	opEnd     = "end"
)

// extendBy is how much longer a meeting gets if nothing else is asked for.
const extendBy = 15 * time.Minute

// createBooking makes a booking or, by an id that exists, changes one.
func createBooking(s *Server, c *call) error {
	var f bookingFields
	if err := c.decode(f.members(createFields...)...); err != nil {
		return err
	}
	who, err := c.callerWithRevision()
	if err != nil {
		return err
	}
	if who.Key, err = requestKey(c); err != nil {
		return err
	}
	return s.doBooking(c, opCreate, f, who)
}

// updateBooking changes what the body names.
func updateBooking(s *Server, c *call) error { return s.onBooking(c, opUpdate, updateFields...) }

// cancelBooking takes a booking back, or ends it if it has begun.
func cancelBooking(s *Server, c *call) error { return s.onBooking(c, opCancel) }

// checkIn says that who booked is here.
func checkIn(s *Server, c *call) error { return s.onBooking(c, opCheckIn) }

// extendBooking moves the end of a meeting.
func extendBooking(s *Server, c *call) error { return s.onBooking(c, opExtend, extendFields...) }

// endBooking ends a meeting early.
func endBooking(s *Server, c *call) error { return s.onBooking(c, opEnd) }

// getBooking answers with one booking.
func getBooking(s *Server, c *call) error {
	b, err := s.agent.Bookings.Get(c.params[0])
	if err != nil {
		return err
	}
	return c.booking(http.StatusOK, b)
}

// onBooking does something to the booking in the path. Only an update needs a
// body.
func (s *Server) onBooking(c *call, operation string, fields ...string) error {
	f := bookingFields{}
	read := c.decodeAny
	if operation == opUpdate {
		read = c.decode
	}
	if err := read(f.members(fields...)...); err != nil {
		return err
	}
	who, err := c.callerWithRevision()
	if err != nil {
		return err
	}
	f.id = &c.params[0]
	return s.doBooking(c, operation, f, who)
}

// doBooking carries one operation out and answers with the booking.
func (s *Server) doBooking(c *call, operation string, f bookingFields, who schedule.Caller) error {
	status, b, err := s.perform(c, operation, f, who)
	if err != nil {
		return err
	}
	return c.booking(status, b)
}

// perform carries one operation out, and says by which status.
func (s *Server) perform(c *call, operation string, f bookingFields, who schedule.Caller) (status int, b booking.Booking, err error) {
	if err := f.check(); err != nil {
		return 0, b, err
	}
	if err := s.visibility.ownFields(&c.who, operation, &f); err != nil {
		return 0, b, err
	}
	f.ownOrganizer(&c.who.Principal)
	ctx := c.r.Context()
	status = http.StatusOK
	switch operation {
	case opCreate:
		status, b, err = s.createOrUpdate(ctx, f, who)
	case opUpdate:
		b, err = s.update(ctx, f, who)
	case opCancel:
		b, err = s.agent.Bookings.Cancel(ctx, *f.id, who)
	case opCheckIn:
		b, err = s.agent.Bookings.CheckIn(ctx, *f.id, who)
	case opExtend:
		b, err = s.extend(ctx, f, who)
	case opEnd:
		b, err = s.agent.Bookings.End(ctx, *f.id, who)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = &problem.Error{Code: problem.Unavailable, Message: "the request ended before its turn came, nothing was changed: try again"}
	}
	return status, b, err
}
