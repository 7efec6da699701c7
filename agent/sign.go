package agent

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

// SpaceState is what a space is like at one moment, as its door sign and its
// display say it.
type SpaceState struct {
	SpaceID          string         `json:"meeting_space_id"`
	Name             string         `json:"name"`
	Status           booking.Status `json:"status"`
	Timezone         string         `json:"timezone"`
	Time             string         `json:"time"`
	TimeTrust        Trust          `json:"time_trust"`
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

// ringOf is the colour that shows a status.
func ringOf(s booking.Status) string {
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

// shownSign is what a display shows of a sign and does not count by itself.
type shownSign struct {
	status        booking.Status
	current, next *booking.Booking // replaced when they change
	until         time.Time        // when it is taken or free next
	hold          string
	trust         Trust
}

// shows is what of the sign at a moment has to be told when it changes.
func (s *space) shows(now time.Time, trust Trust) shownSign {
	g := s.sign(now)
	v := shownSign{status: g.Status, current: g.Current, next: g.Next, until: g.AvailableUntil, trust: trust}
	if g.Status != booking.Available {
		v.until = g.NextAvailable
	}
	if h := s.hold(now); h != nil {
		v.hold = h.ID
	}
	return v
}

// hold is the one in force; nil: none.
func (s *space) hold(now time.Time) *booking.Hold {
	for _, h := range s.plan.terms.Load().Holds {
		if !now.Before(h.From) && (h.Until.IsZero() || now.Before(h.Until)) {
			return &h
		}
	}
	return nil
}

// sign reads the space's door sign at a moment.
func (s *space) sign(now time.Time) booking.Sign {
	t := s.plan.terms.Load()
	g := t.rules.SignAt(now, s.plan.bookings, t.Holds)
	if !t.enabled {
		g.Status, g.AvailableUntil, g.NextAvailable = booking.Disabled, time.Time{}, time.Time{}
	}
	return g
}

// SpaceState returns what a space is like now. It touches no disk.
func (a *Agent) SpaceState(spaceID string) (SpaceState, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return SpaceState{}, err
	}
	return a.stateOf(s, a.Now()), nil
}

func (a *Agent) stateOf(s *space, now time.Time) SpaceState {
	g := s.sign(now)
	t, awake := s.plan.terms.Load(), a.clock.Steady()
	out := SpaceState{SpaceID: s.ID, Name: s.Name, Status: g.Status, Timezone: s.Timezone, Time: stamp(now),
		TimeTrust: a.clock.Trust(), Current: s.meeting(g.Current, awake), Next: s.meeting(g.Next, awake),
		AvailableUntil: stampOrNil(g.AvailableUntil), NextAvailable: stampOrNil(g.NextAvailable),
		Occupancy: s.presence(), Ring: ringOf(g.Status), ScheduleRevision: t.Revision, Hold: s.hold(now)}
	return out
}

// meeting is a booking without what the door does not tell. The building is
// awake since then.
func (s *space) meeting(b *booking.Booking, awake time.Time) *Meeting {
	if b == nil {
		return nil
	}
	rules := s.plan.terms.Load().rules
	rules.Awake = awake
	m := &Meeting{ID: b.ID, Private: b.Private, Start: stamp(b.Start), End: stamp(b.End), State: b.State,
		CheckedInAt: stampOrNil(b.CheckedInAt)}
	if !b.Private {
		m.Organizer = b.Organizer.Name
		if s.Booking.ShowTitles {
			m.Title = b.Title
		}
	}
	if at, ok := b.ReleaseAt(rules); ok {
		m.CheckInUntil = stampOrNil(at)
	}
	return m
}

// presence is what the space's sensor has seen, unless that is stale.
func (s *space) presence() Presence {
	d := s.byType[drivers.TypeO3]
	if d == nil {
		return Presence{Value: Unknown}
	}
	r, ok := d.known.Load().at(time.Now()).find(drivers.SubOccupancy)
	if !ok || r.offline() || r.Value != Occupied && r.Value != Vacant {
		return Presence{Value: Unknown}
	}
	return Presence{r.Value, stampOrNil(r.ObservedAt.Add(d.agent.clock.Ahead())), r.Source}
}

// stamp writes a time as the platform does.
func stamp(t time.Time) string { return t.UTC().Format(eventlog.TimeLayout) }

func stampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := stamp(t)
	return &text
}

// SpaceOfDevice returns the id of the space that a device is in.
func (a *Agent) SpaceOfDevice(deviceID string) (string, error) {
	if d := a.site.Load().device(deviceID); d != nil {
		return d.spaceID, nil
	}
	return "", refuse(NotFound, "device_id", "is not a device of this building")
}

// SpaceStateChanged returns a channel that is closed when the sign of a space
// has changed. Take it before asking for a state, or a change may be missed.
func (a *Agent) SpaceStateChanged() <-chan struct{} { return a.signs.Wait() }

// SendState sends the state of a space to the cloud and wakes its displays,
// changed or not.
func (a *Agent) SendState(spaceID string) error {
	s, err := a.space(spaceID)
	if err != nil {
		return err
	}
	s.changed()
	a.signs.Wake()
	return nil
}
