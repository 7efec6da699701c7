package agent

import (
	"context"
	"encoding/json"
	"time"

	"roomgate/agent/cloudlink"
	"roomgate/agent/device"
	"roomgate/agent/loop"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/cloud"
	"roomgate/drivers"
)

// stateInterval is the least time between two states of one space, stateCalm the least
// while nothing changes that somebody may wait for.
const (
	stateInterval = time.Second
	stateCalm     = 30 * time.Second
)

// spaceState is the data of up/state/{meeting_space_id}.
type spaceState struct {
	schedule.State
	Devices []device.Reading `json:"devices"`
}

// sendStates reports a space each time that it has changed, as [pace] says. The message
// is retained: the cloud sees the last state of every space at once.
func sendStates(ctx context.Context, link *cloudlink.Link, spaces *site.Site, s *site.Space) error {
	var p pace
	again := time.NewTimer(0)
	for {
		asked := false
		select {
		case <-ctx.Done():
			takeBackState(ctx, link, spaces, s.ID)
			return nil
		case <-s.Asked:
			asked = true
		case <-s.Dirty:
		case <-again.C:
		}
		known, err := spaces.StatusAll(s.ID)
		if err != nil || !link.Connected() {
			continue
		}
		state := spaceState{s.Room.State(), known}
		if wait := p.wait(state, time.Now()); wait > 0 && !asked {
			again.Reset(wait)
			continue
		}
		if link.Send(ctx, cloud.LevelState, s.ID, true, state) {
			p.sent(state, time.Now())
		}
		loop.Sleep(ctx, stateInterval)
	}
}

// pace is how often the state of a space goes up: at once when a lock, the occupancy or a
// booking has changed, else once per stateCalm. States were 65 % of what a busy building
// sends.
type pace struct {
	urgent string // of the last one
	at     time.Time
}

// wait is how long a state may still wait; 0: it goes now.
func (p *pace) wait(s spaceState, now time.Time) time.Duration {
	if p.at.IsZero() || p.urgent != urgent(s) {
		return 0
	}
	return max(0, stateCalm-now.Sub(p.at))
}

func (p *pace) sent(s spaceState, now time.Time) { p.urgent, p.at = urgent(s), now }

// urgent is what of a state somebody may wait for.
func urgent(s spaceState) string {
	state := s.State
	state.Name, state.Time, state.TimeTrust, state.Ring = "", "", "", ""
	state.AvailableUntil, state.NextAvailable = nil, nil // they follow from the time and the bookings
	state.Occupancy.ObservedAt, state.Occupancy.Source = nil, ""
	locks := []device.Record{}
	for _, d := range s.Devices {
		if d.DeviceType == drivers.TypeLock {
			locks = append(locks, d.Record)
		}
	}
	text, _ := json.Marshal([]any{state, locks}) // texts and numbers always can be encoded
	return string(text)
}

// takeBackState clears the retained state of a space that was removed. If the
// cloud is not there it keeps the last one, with the space gone from the rest.
func takeBackState(ctx context.Context, link *cloudlink.Link, spaces *site.Site, spaceID string) {
	if spaces.Find(spaceID) != nil || !link.Connected() {
		return
	}
	link.Clear(ctx, "state", spaceID)
}
