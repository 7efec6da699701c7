package agent

import (
	"context"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/loop"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
)

// stateInterval is the least time between two states of one space.
const stateInterval = time.Second

// spaceState is the data of up/state/{meeting_space_id}.
type spaceState struct {
	schedule.State
	Devices []device.Reading `json:"devices"`
}

// sendStates reports a space each time that it has changed, at most once per
// interval. The message is retained: the cloud sees the last state of every
// space at once.
func sendStates(ctx context.Context, a *Agent, s *site.Space) error {
	for {
		select {
		case <-ctx.Done():
			takeBackState(ctx, a, s.ID)
			return nil
		case <-s.Dirty:
		}
		if a.Cloud.Connected() {
			known, err := a.Site.StatusAll(s.ID)
			if err == nil {
				a.Cloud.Send(ctx, "state", s.ID, true, spaceState{s.Room.State(), known})
			}
		}
		loop.Sleep(ctx, stateInterval)
	}
}

// takeBackState clears the retained state of a space that was removed. If the
// cloud is not there it keeps the last one, with the space gone from the rest.
func takeBackState(ctx context.Context, a *Agent, spaceID string) {
	if a.Site.Find(spaceID) != nil || !a.Cloud.Connected() {
		return
	}
	a.Cloud.Clear(ctx, "state", spaceID)
}
