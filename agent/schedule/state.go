package schedule

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
)

// State is what a space is like at one moment, as its door sign and its
// display say it.
type State struct {
	SpaceID          string         `json:"meeting_space_id"`
	Name             string         `json:"name"`
	Status           booking.Status `json:"status"`
	Timezone         string         `json:"timezone"`
	Time             string         `json:"time"`
	TimeTrust        clock.Trust    `json:"time_trust"`
	Current          *Meeting       `json:"current"`
	Next             *Meeting       `json:"next"`
	AvailableUntil   *string        `json:"available_until"`
	NextAvailable    *string        `json:"next_available_time"`
	Occupancy        Presence       `json:"occupancy"`
	Ring             string         `json:"ring"`
	ScheduleRevision uint64         `json:"schedule_revision"`
	Hold             *booking.Hold  `json:"hold"` // the one in force
}

// Meeting is a booking as anybody at the door may see it.
type Meeting struct {
	ID           string        `json:"id"`
	Title        string        `json:"title"`     // empty unless the space shows titles
	Organizer    string        `json:"organizer"` // empty for a private one
	Private      bool          `json:"private"`
	Start        string        `json:"start_time"`
	End          string        `json:"end_time"`
	State        booking.State `json:"state"`
	CheckedInAt  *string       `json:"checked_in_at"`
	CheckInUntil *string       `json:"check_in_until"` // when it is released; null: it is not
}

// Presence is what is known of people in the room. Unknown is also what nobody
// has seen lately.
type Presence struct {
	Value      string  `json:"value"` // occupied, vacant or unknown
	ObservedAt *string `json:"observed_at"`
	Source     string  `json:"source,omitempty"`
}

// The values of a Presence.
const (
	Occupied = "occupied"
	Vacant   = "vacant"
	Unknown  = "unknown"
)

// The colours of the ring, by the status of the space.
const (
	RingGreen = "green"
	RingAmber = "amber"
	RingRed   = "red"
	RingOff   = "off"
)

// RingOf is the colour that shows a status.
func RingOf(s booking.Status) string {
	switch s {
	case booking.Available:
		return RingGreen
	case booking.Reserved:
		return RingAmber
	case booking.Occupied:
		return RingRed
	}
	return RingOff
}

// shownState is what a display shows of a state and does not count by itself.
type shownState struct {
	status        booking.Status
	current, next *booking.Booking // replaced when they change
	until         time.Time        // when it is taken or free next
	hold          string
	trust         clock.Trust
}

// shows is what of the state at a moment has to be told when it changes.
func (r *Room) shows(now time.Time, trust clock.Trust) shownState {
	g := r.At(now)
	v := shownState{status: g.Status, current: g.Current, next: g.Next, until: g.AvailableUntil, trust: trust}
	if g.Status != booking.Available {
		v.until = g.NextAvailable
	}
	if h := r.hold(now); h != nil {
		v.hold = h.ID
	}
	return v
}

// hold is the one in force; nil: none.
func (r *Room) hold(now time.Time) *booking.Hold {
	for _, h := range r.terms.Load().Holds {
		if !now.Before(h.From) && (h.Until.IsZero() || now.Before(h.Until)) {
			return &h
		}
	}
	return nil
}

// At is what the room is like at a moment: whose it is, and until when.
func (r *Room) At(now time.Time) booking.SpaceState { return AtBy(r, now, r.bookings) }

// AtBy is what a room is like by other bookings than its own.
func AtBy(r *Room, now time.Time, bookings *booking.Schedule) booking.SpaceState {
	t := r.terms.Load()
	g := t.rules.StateAt(now, bookings, t.Holds)
	if !t.enabled {
		g.Status, g.AvailableUntil, g.NextAvailable = booking.Disabled, time.Time{}, time.Time{}
	}
	return g
}

// State returns what a space is like now. It touches no disk.
func (bk *Book) State(spaceID string) (State, error) {
	r, err := bk.room(spaceID)
	if err != nil {
		return State{}, err
	}
	return r.State(), nil
}

// State is State of a room.
func (r *Room) State() State {
	now := r.book.o.Clock.Now()
	g := r.At(now)
	seen, _ := r.book.o.Presence(r.ID)
	t, awake := r.terms.Load(), r.book.o.Clock.Steady()
	return State{SpaceID: r.ID, Name: r.Name(), Status: g.Status, Timezone: r.config.Load().Timezone, Time: eventlog.Stamp(now),
		TimeTrust: r.book.o.Clock.Trust(), Current: r.meeting(g.Current, awake), Next: r.meeting(g.Next, awake),
		AvailableUntil: eventlog.StampOrNil(g.AvailableUntil), NextAvailable: eventlog.StampOrNil(g.NextAvailable),
		Occupancy: seen, Ring: RingOf(g.Status), ScheduleRevision: t.Revision, Hold: r.hold(now)}
}

// meeting is a booking without what the door does not tell. The building is
// awake since then.
func (r *Room) meeting(b *booking.Booking, awake time.Time) *Meeting {
	if b == nil {
		return nil
	}
	rules := r.terms.Load().rules
	rules.Awake = awake
	m := &Meeting{ID: b.ID, Private: b.Private, Start: eventlog.Stamp(b.Start), End: eventlog.Stamp(b.End), State: b.State,
		CheckedInAt: eventlog.StampOrNil(b.CheckedInAt)}
	if !b.Private {
		m.Organizer = b.Organizer.Name
		if r.config.Load().Booking.ShowTitles {
			m.Title = b.Title
		}
	}
	if at, ok := b.ReleaseAt(rules); ok {
		m.CheckInUntil = eventlog.StampOrNil(at)
	}
	return m
}

// SendState asks for the state of a space to be sent to the cloud, changed or not.
func (bk *Book) SendState(spaceID string) error {
	r, err := bk.room(spaceID)
	if err != nil {
		return err
	}
	bk.o.Asked(r.ID)
	return nil
}

// Terms are the rules of the room, with since when people can check in: what a page
// needs to say when a booking is given back.
func (r *Room) Terms() booking.Rules {
	rules := r.Rules()
	rules.Awake = r.book.o.Clock.Steady()
	return rules
}

// Would says why a booking would be refused now; nil: it can be made. Somebody
// else may be faster.
func (r *Room) Would(asked booking.Booking) error {
	asked.SpaceID = r.ID
	if asked.ID == "" {
		asked.ID = "asked" // it is never stored
	}
	_, err := r.space().Book(asked, r.book.o.Clock.Now())
	return err
}
