package schedule

import (
	"sync"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
)

// ids are those of bookings that are just being stored, so that two
// rooms, each of which only knows its own, do not store one id at once.
type ids struct {
	mu   sync.Mutex
	held map[string]bool
}

// take takes ids, or returns the one that somebody has already.
func (i *ids) take(edits []edit) (taken string, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, e := range edits {
		if i.held[e.ID] {
			for _, mine := range edits[:n] {
				delete(i.held, mine.ID)
			}
			return e.ID, false
		}
		if i.held == nil {
			i.held = map[string]bool{}
		}
		i.held[e.ID] = true
	}
	return "", true
}

func (i *ids) release(edits []edit) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, e := range edits {
		delete(i.held, e.ID)
	}
}

// own takes the ids of edits and sees to it that each is in one room only, for it
// names a booking of the building. What is over elsewhere may come to life here,
// as the cloud moves it to another room; moved are the rooms that lose it then.
// The caller releases the ids.
func (bk *Book) own(r *Room, edits []edit) (moved map[string]*Room, err error) {
	if id, ok := bk.ids.take(edits); !ok {
		return nil, problem.New(problem.Conflict, "id", "%s is just being used for another booking: choose a new one", id)
	}
	moved = map[string]*Room{}
	for _, e := range edits {
		old, from := bk.elsewhere(r, e.ID)
		switch {
		case from == nil:
		case old.Live() || !e.Live():
			bk.ids.release(edits)
			return nil, inAnotherSpace(e.ID)
		default:
			moved[e.ID] = from
		}
	}
	return moved, nil
}

func inAnotherSpace(id string) *problem.Error {
	return problem.New(problem.Conflict, "id", "%s is a booking of another meeting space: cancel it there first", id)
}

// elsewhere returns the booking of that id in another room than r.
func (bk *Book) elsewhere(r *Room, id string) (booking.Booking, *Room) {
	for _, other := range bk.rooms.Load().order {
		if other == r {
			continue
		}
		if b, ok := other.bookings.Get(id); ok {
			return b, other
		}
	}
	return booking.Booking{}, nil
}
