package site

import (
	"context"
	"encoding/json"

	"roomgate/agent/problem"
)

// AddSpace makes a meeting space, with who did it. document is its configuration as JSON
// in the keys of the file, without devices. It is in use from now on, and after a restart.
func (s *Site) AddSpace(ctx context.Context, id string, document json.RawMessage, by string) error {
	if len(document) > maxOverride {
		return problem.New(problem.Invalid, "", "is too large: want at most %d KiB for a meeting space", maxOverride>>10)
	}
	turn, err := s.Turn(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	one := &override{ID: id, Data: document}
	if s.Find(id) != nil || s.overrides[one.key()] != nil {
		return problem.New(problem.Conflict, "name", "is that of another meeting space: choose another")
	}
	return turn.change(ctx, map[string]*override{one.key(): one}, by)
}

// RemoveSpace takes away a meeting space that was added at run time, with its devices.
// Their hardware is left in its safe state; their events stay in the log.
func (s *Site) RemoveSpace(ctx context.Context, id, by string) error {
	turn, err := s.Turn(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	if _, err := s.Space(id); err != nil {
		return err
	}
	switch one := s.overrides[spaceKey(id)]; {
	case one == nil || s.inFile(id):
		return problem.New(problem.NotNow, "meeting_space_id", "is a meeting space of the configuration file: remove it there")
	case one.Cloud:
		return problem.New(problem.Forbidden, "meeting_space_id", "is managed by the cloud: change it there")
	}
	edits := map[string]*override{spaceKey(id): nil}
	for key, one := range s.overrides {
		if one.SpaceID == id {
			if one.Cloud {
				return problem.New(problem.Forbidden, "meeting_space_id", "has devices of the cloud: remove them there first")
			}
			edits[key] = nil
		}
	}
	return turn.change(ctx, edits, by)
}

// inFile says whether the configuration file has a meeting space.
func (s *Site) inFile(id string) bool {
	for _, f := range s.file.Spaces {
		if f.ID == id {
			return true
		}
	}
	return false
}

// Origin is where a meeting space or a device comes from.
type Origin int

// The origins.
const (
	FromFile Origin = iota
	FromHere        // added at run time, in the building
	FromCloud
)

// Origins says of what was added or changed at run time where that comes from: spaces and
// devices by their ids.
func (s *Site) Origins(ctx context.Context) (spaces, devices map[string]Origin, err error) {
	turn, err := s.Turn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer turn.End()
	spaces, devices = map[string]Origin{}, map[string]Origin{}
	for key, one := range s.overrides {
		of := spaces
		if isDevice(key) {
			of = devices
		} else if !one.Cloud && s.inFile(one.ID) {
			continue
		}
		of[one.ID] = FromHere
		if one.Cloud {
			of[one.ID] = FromCloud
		}
	}
	return spaces, devices, nil
}
