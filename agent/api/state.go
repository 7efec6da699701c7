package api

import (
	"net/http"
	"time"

	"roomgate/agent"
	"roomgate/agent/booking"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/agent/strict"
)

// spaceState answers with what a space is now, and what comes next. Displays
// ask it all day: nothing here waits for a device, a disk, or a change that is
// being stored.
func spaceState(s *Server, c *call) error { return s.state(c, c.params[0]) }

// stateOfDevice is the same by a device that is in the space.
func stateOfDevice(s *Server, c *call) error {
	space, err := s.agent.Site.SpaceOfDevice(c.params[0])
	if err != nil {
		return err
	}
	return s.state(c, space)
}

func (s *Server) state(c *call, space string) error {
	state, err := s.agent.Bookings.State(space)
	if err != nil {
		return err
	}
	if c.who.Kind == agent.KindEdge {
		if err := s.asAtDoor(&state); err != nil {
			return err
		}
	}
	a := stateAnswer{State: &state}
	if state.Hold != nil {
		a.Hold = c.hold(*state.Hold)
	}
	return c.response(&a)
}

// asAtDoor takes the names out of a state that the page at the door does not show: a screen of
// another maker hangs there too.
func (s *Server) asAtDoor(state *schedule.State) error {
	space, err := s.agent.Site.Space(state.SpaceID)
	if err != nil || space.Room.Config().Booking.ShowTitles {
		return err
	}
	for _, m := range []*schedule.Meeting{state.Current, state.Next} {
		if m != nil {
			m.Organizer = ""
		}
	}
	return nil
}

// stateAnswer is a state whose hold is written as elsewhere here.
type stateAnswer struct {
	*schedule.State
	Hold any `json:"hold"`
}

// hold is the record of a state that was set, of the version.
func (c *call) hold(h booking.Hold) any {
	if c.v2 {
		return newTimedHold(h)
	}
	return newHoldRecord(h)
}

// scheduleState sets a state for a time, over what the bookings say.
func scheduleState(s *Server, c *call) error {
	var h booking.Hold
	var status string
	err := c.decode(strict.Required("status", &status), strict.Optional("from", &h.From), strict.Optional("until", &h.Until), strict.Optional("note", &h.Note))
	if err != nil {
		return err
	}
	h.Status = booking.Status(status)
	h.From, h.Until = h.From.Truncate(time.Millisecond), h.Until.Truncate(time.Millisecond)
	if h, err = s.agent.Bookings.Hold(c.r.Context(), c.params[0], h); err != nil {
		return err
	}
	return c.wrapped(http.StatusCreated, envelope, c.hold(h))
}

// holdRecord is a state that was set.
type holdRecord struct {
	ID     string         `json:"id"`
	Status booking.Status `json:"status"`
	From   moment         `json:"from"`
	Until  moment         `json:"until"` // null: until it is lifted
	Note   string         `json:"note,omitempty"`
}

func newHoldRecord(h booking.Hold) holdRecord {
	return holdRecord{h.ID, h.Status, moment(h.From), moment(h.Until), h.Note}
}

// disableState takes a space out of use until somebody sets it available.
func disableState(s *Server, c *call) error {
	if err := acts(c); err != nil {
		return err
	}
	if _, err := s.agent.Bookings.Hold(c.r.Context(), c.params[0], booking.Hold{Status: booking.Disabled}); err != nil {
		return err
	}
	return s.state(c, c.params[0])
}

// sendState sends the state to displays and cloud, now.
func sendState(s *Server, c *call) error { return s.send(c, c.params[0]) }

// sendBookingState is the same by a booking of the space.
func sendBookingState(s *Server, c *call) error {
	b, err := s.agent.Bookings.Get(c.params[0])
	if err != nil {
		return err
	}
	return s.send(c, b.SpaceID)
}

func (s *Server) send(c *call, space string) error {
	if err := acts(c); err != nil {
		return err
	}
	if err := s.agent.Bookings.SendState(space); err != nil {
		return err
	}
	return s.state(c, space)
}

// acts refuses HEAD where the platform has GET do something: who only looks
// must change nothing. V2.0 has POST do it, which has nothing to say.
func acts(c *call) error {
	if c.v2 {
		return c.decodeAny()
	}
	if c.r.Method != http.MethodHead {
		return nil
	}
	c.w.Header().Set("Allow", http.MethodGet)
	return &problem.Error{Code: methodNotAllowed, Message: "the method is not allowed here: use GET"}
}
