package standin

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/booking"
	"roomgate/cloud/backend"
)

// Request is what somebody at the cloud wants of the schedule of a meeting
// space. With a start it makes a booking, or moves the one of ID; with Cancel it
// takes that one back; with neither it only lists.
type Request struct {
	Space     string         `json:"meeting_space_id"`
	ID        string         `json:"id,omitempty"`
	Title     string         `json:"title,omitempty"`
	Organizer booking.Person `json:"organizer"`
	Start     time.Time      `json:"start_time,omitzero"`
	End       time.Time      `json:"end_time,omitzero"`
	Cancel    bool           `json:"cancel,omitempty"`
}

// Schedule is what the cloud has of one meeting space, the earliest start first.
type Schedule struct {
	Revision uint64            `json:"revision"`
	Bookings []booking.Booking `json:"bookings"`
}

// Apply changes the schedule of a meeting space, sends the building what has
// changed, and returns all of it. It refuses a time that is taken, a booking that
// is not complete, and an ID to take back that it does not know.
func (c *Cloud) Apply(r Request, now time.Time) (Schedule, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.of(r.Space)
	var b booking.Booking
	var err error
	switch {
	case r.Cancel:
		b, err = p.cancel(r.ID, now)
	case !r.Start.IsZero():
		b, err = p.book(r, now)
	default:
		return p.answer(), nil
	}
	if err != nil {
		return Schedule{}, err
	}
	p.bookings[b.ID] = b
	c.push(r.Space, backend.Delta, []booking.Booking{b})
	return p.answer(), nil
}

// book makes a booking, or moves the one of that id. The cloud has its own
// rules, which are not the demo's matter: only that nothing overlaps.
func (p *plan) book(r Request, now time.Time) (booking.Booking, error) {
	b, known := p.bookings[r.ID]
	if !known {
		b = booking.Booking{ID: r.ID, SpaceID: r.Space, State: booking.Booked, Source: booking.Cloud, CreatedAt: now}
		if b.ID == "" {
			b.ID = ulid.Make().String()
		}
	}
	b.Title, b.Organizer, b.Start, b.End = r.Title, r.Organizer, r.Start.UTC(), r.End.UTC()
	b.Revision++
	b.UpdatedAt = now
	if err := b.Complete(p.revision+1, now); err != nil {
		return b, err
	}
	return b, booking.NewSchedule(slices.Collect(maps.Values(p.bookings))).Free(b.Start, b.End, b.ID)
}

func (p *plan) cancel(id string, now time.Time) (booking.Booking, error) {
	b, known := p.bookings[id]
	if !known {
		return b, errors.New("the cloud has no booking of that id")
	}
	return b.Cancel(now)
}

func (p *plan) answer() Schedule {
	a := Schedule{Revision: p.revision, Bookings: []booking.Booking{}}
	for _, b := range p.bookings {
		a.Bookings = append(a.Bookings, b)
	}
	slices.SortFunc(a.Bookings, func(x, y booking.Booking) int { return x.Start.Compare(y.Start) })
	return a
}
