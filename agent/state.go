package agent

import (
	"context"
	"time"
)

// stateInterval is the least time between two states of one space.
const stateInterval = time.Second

// spaceState is the data of up/state/{meeting_space_id}.
type spaceState struct {
	SpaceState
	Devices []Reading `json:"devices"`
}

// sendStates reports a space each time that it has changed, at most once per
// interval. The message is retained: the cloud sees the last state of every
// space at once.
func (a *Agent) sendStates(ctx context.Context, s *space) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.dirty:
		}
		if a.link.Connected() {
			known, err := a.StatusAll(s.ID)
			if err == nil {
				a.send(ctx, "state", s.ID, true, spaceState{a.stateOf(s, a.Now()), known})
			}
		}
		sleep(ctx, stateInterval)
	}
}
