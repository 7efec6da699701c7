package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"roomgate/cloud/backend"
)

// schedules are by gateway and meeting space: Schedule.
const schedules = "roomgate.schedules"

// errNoSpace is a meeting space that no gateway has told of.
var errNoSpace = errors.New("the gateway has not told of this meeting space")

// Schedule is all that is booked in a meeting space. It is sent as a snapshot until the
// gateway says that it has that revision: in the building it is merged with what was booked
// there, and here with nothing.
type Schedule struct {
	Gateway        string            `json:"gateway_id"`
	MeetingSpaceID string            `json:"meeting_space_id"`
	Revision       uint64            `json:"revision"`
	Bookings       []json.RawMessage `json:"bookings"`
	MessageID      string            `json:"message_id,omitempty"` // of the last time that it was sent
	State          string            `json:"state,omitempty"`      // "sent", and then what the receipt says; empty: it was not sent yet
	Code           string            `json:"code,omitempty"`       // of a refusal; with "invalid" it is not sent again
	Reason         string            `json:"reason,omitempty"`
}

func (s Schedule) place() string { return s.Gateway + "/" + s.MeetingSpaceID }

// How often is looked which gateway has an earlier schedule, and how long one may take.
const (
	lookEvery  = 5 * time.Second
	againAfter = time.Minute
)

// Schedule stores a schedule under the next revision. The gateway gets it when it is online.
func (f *Fleet) Schedule(s Schedule) (Schedule, error) {
	g, _ := f.backend.State(s.Gateway)
	space, ok := g.Spaces[s.MeetingSpaceID]
	if !ok {
		return s, errNoSpace
	}
	if s.Bookings == nil {
		return s, fmt.Errorf("%w: bookings is missing: want all that is booked, or []", errInvalid)
	}
	err := f.store.Write(context.Background(), func(tx backend.Tables) error {
		var before Schedule
		if raw := tx.Table(schedules).Get([]byte(s.place())); raw != nil {
			if err := json.Unmarshal(raw, &before); err != nil {
				return err
			}
		}
		s.Revision = max(before.Revision, space.ScheduleRevision) + 1
		return putJSON(tx.Table(schedules), s.place(), s)
	})
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return s, err
}

// Schedules are all, by gateway and meeting space.
func (f *Fleet) Schedules() ([]Schedule, error) {
	all, _, err := from[Schedule](f, schedules, "", math.MaxInt)
	return all, err
}

// bring sends schedules to gateways that have earlier ones, until ctx ends.
func (f *Fleet) bring(ctx context.Context) {
	sentLast := map[string]tried{}
	for {
		all, err := f.Schedules()
		if err != nil {
			f.o.Log.Error("schedules cannot be read", "reason", err)
		}
		for _, s := range all {
			g, _ := f.backend.State(s.Gateway)
			last := sentLast[s.place()]
			if !due(s, g, last, time.Now()) {
				continue
			}
			sentLast[s.place()] = tried{s.Revision, time.Now()}
			id, err := f.backend.Schedule(ctx, s.Gateway, backend.Schedule{MeetingSpaceID: s.MeetingSpaceID, Revision: s.Revision, Kind: backend.Snapshot, Bookings: s.Bookings})
			if err == nil {
				err = f.scheduled(s, id)
			}
			if err != nil && ctx.Err() == nil {
				f.o.Log.Warn("a schedule cannot be sent", "gateway", s.Gateway, "meeting_space", s.MeetingSpaceID, "reason", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		case <-time.After(lookEvery):
		}
	}
}

// tried is which revision was sent last, and when.
type tried struct {
	revision uint64
	at       time.Time
}

// due says whether a schedule is to be sent now. One that is invalid would be refused again.
func due(s Schedule, g backend.Gateway, last tried, now time.Time) bool {
	refused := s.State == backend.Rejected && s.Code == "invalid"
	return !refused && g.Online && g.Behind(s.MeetingSpaceID, s.Revision) && (last.revision != s.Revision || now.Sub(last.at) >= againAfter)
}

// scheduled notes that a schedule was sent, and the receipt if that has come before.
func (f *Fleet) scheduled(s Schedule, id string) error {
	return f.store.Write(context.Background(), func(tx backend.Tables) error {
		var now Schedule
		b := tx.Table(schedules)
		if err := json.Unmarshal(b.Get([]byte(s.place())), &now); err != nil || now.Revision != s.Revision {
			return err // another one is stored meanwhile
		}
		now.MessageID, now.State, now.Code, now.Reason = id, sent, "", ""
		if err := putJSON(b, s.place(), now); err != nil {
			return err
		}
		return answered(tx, s.Gateway)
	})
}

// taken notes what the receipt of a schedule says.
func taken(b backend.Table, m backend.Received) error {
	var r backend.Receipt
	if json.Unmarshal(m.Data, &r) != nil || r.State == backend.Accepted {
		return nil
	}
	prefix := []byte(m.Gateway + "/")
	for _, raw := range backend.Within(b, prefix) {
		var s Schedule
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		if s.MessageID == r.CommandID {
			s.State, s.Code, s.Reason = r.State, r.Code, r.Reason
			return putJSON(b, s.place(), s)
		}
	}
	return nil
}
