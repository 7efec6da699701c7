package agent

import (
	"sync"

	"roomgate/agent/booking"
)

// claims are the ids of bookings that are just being stored, so that two
// spaces, each of which only knows its own, do not store one id at once.
type claims struct {
	mu   sync.Mutex
	held map[string]bool
}

// take claims ids, or returns the one that is claimed already.
func (c *claims) take(edits []edit) (taken string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, e := range edits {
		if c.held[e.ID] {
			for _, mine := range edits[:i] {
				delete(c.held, mine.ID)
			}
			return e.ID, false
		}
		if c.held == nil {
			c.held = map[string]bool{}
		}
		c.held[e.ID] = true
	}
	return "", true
}

func (c *claims) release(edits []edit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range edits {
		delete(c.held, e.ID)
	}
}

// claim sees to it that an id is in one space only, for it names a booking of
// the building. What is over elsewhere may come to life here, as the cloud
// moves it to another room; moved are the spaces that lose it then. The caller
// releases what was claimed.
func (a *Agent) claim(s *space, edits []edit) (moved map[string]*space, err error) {
	if id, ok := a.ids.take(edits); !ok {
		return nil, refuse(Conflict, "id", "%s is just being used for another booking: choose a new one", id)
	}
	moved = map[string]*space{}
	for _, e := range edits {
		old, from := a.elsewhere(s, e.ID)
		switch {
		case from == nil:
		case old.Live() || !e.Live():
			a.ids.release(edits)
			return nil, inAnotherSpace(e.ID)
		default:
			moved[e.ID] = from
		}
	}
	return moved, nil
}

func inAnotherSpace(id string) *Error {
	return refuse(Conflict, "id", "%s is a booking of another meeting space: cancel it there first", id)
}

// elsewhere returns the booking of that id in a space other than s.
func (a *Agent) elsewhere(s *space, id string) (booking.Booking, *space) {
	for _, other := range a.spaces() {
		if other == s {
			continue
		}
		if b, ok := other.plan.bookings.Get(id); ok {
			return b, other
		}
	}
	return booking.Booking{}, nil
}
