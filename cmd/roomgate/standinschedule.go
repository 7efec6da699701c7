package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/booking"
	"roomgate/cloud/backend"
)

// cloudOrder is what somebody at the cloud wants of its schedule: a booking
// with a time is made or moved, one with cancel taken back, none just listed.
type cloudOrder struct {
	Space     string         `json:"meeting_space_id"`
	ID        string         `json:"id,omitempty"`
	Title     string         `json:"title,omitempty"`
	Organizer booking.Person `json:"organizer"`
	Start     time.Time      `json:"start_time,omitzero"`
	End       time.Time      `json:"end_time,omitzero"`
	Cancel    bool           `json:"cancel,omitempty"`
}

// cloudAnswer is the schedule as the cloud has it.
type cloudAnswer struct {
	Revision uint64            `json:"revision"`
	Bookings []booking.Booking `json:"bookings"`
}

// order changes the cloud's schedule and sends what has changed.
func (c *standIn) order(o cloudOrder, now time.Time) (cloudAnswer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.plan(o.Space)
	var b booking.Booking
	var err error
	switch {
	case o.Cancel:
		b, err = p.cancel(o.ID, now)
	case !o.Start.IsZero():
		b, err = p.book(o, now)
	default:
		return p.answer(), nil
	}
	if err != nil {
		return cloudAnswer{}, err
	}
	p.bookings[b.ID] = b
	c.push(o.Space, backend.Delta, []booking.Booking{b})
	return p.answer(), nil
}

// book makes a booking, or moves the one of that id. The cloud has its own
// rules, which are not the demo's matter: only that nothing overlaps.
func (p *cloudPlan) book(o cloudOrder, now time.Time) (booking.Booking, error) {
	b, known := p.bookings[o.ID]
	if !known {
		b = booking.Booking{ID: o.ID, SpaceID: o.Space, State: booking.Booked, Source: booking.Cloud, CreatedAt: now}
		if b.ID == "" {
			b.ID = ulid.Make().String()
		}
	}
	b.Title, b.Organizer, b.Start, b.End = o.Title, o.Organizer, o.Start.UTC(), o.End.UTC()
	b.Revision++
	b.UpdatedAt = now
	if err := b.Complete(p.revision+1, now); err != nil {
		return b, err
	}
	return b, booking.NewSchedule(p.live()).Free(b.Start, b.End, b.ID)
}

func (p *cloudPlan) cancel(id string, now time.Time) (booking.Booking, error) {
	b, known := p.bookings[id]
	if !known {
		return b, errors.New("the cloud has no booking of that id")
	}
	return b.Cancel(now)
}

func (p *cloudPlan) answer() cloudAnswer {
	a := cloudAnswer{Revision: p.revision, Bookings: []booking.Booking{}}
	for _, b := range p.bookings {
		a.Bookings = append(a.Bookings, b)
	}
	slices.SortFunc(a.Bookings, func(x, y booking.Booking) int { return x.Start.Compare(y.Start) })
	return a
}

// cloudDoor lets the control socket change the stand-in cloud's schedule.
func (g *gateway) cloudDoor() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var o cloudOrder
		err := json.NewDecoder(io.LimitReader(r.Body, 16<<10)).Decode(&o)
		var answer cloudAnswer
		if err == nil {
			answer, err = g.demo.standIn.order(o, g.agent.Now().UTC().Truncate(time.Millisecond))
		}
		answerDoor(w, answer, err)
	})
}

// answerDoor answers at the control socket of the demo.
func answerDoor(w http.ResponseWriter, answer any, err error) {
	if err != nil {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		answer = map[string]string{"detail": err.Error()}
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	_ = json.NewEncoder(w).Encode(answer)
}
