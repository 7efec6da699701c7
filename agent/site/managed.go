package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"roomgate/agent/problem"
)

// Managed is what of the site the cloud manages: documents with the keys of the
// configuration file; a device names its space as meeting_space_id. A kind that is
// there is the whole of the cloud's, nil stays as it is.
type Managed struct{ Spaces, Devices *[]json.RawMessage }

// StageManaged checks that the cloud manages these spaces and devices from now on.
// by is who did it, for the events. A refusal names its field as spaces[0].id.
func (t *Turn) StageManaged(ctx context.Context, m Managed, by string) (*Change, error) {
	edits, names := map[string]*override{}, map[string]string{}
	if err := t.manage("spaces", m.Spaces, edits, names); err != nil {
		return nil, err
	}
	if err := t.manage("devices", m.Devices, edits, names); err != nil {
		return nil, err
	}
	return t.stage(ctx, t.File(), edits, names, by)
}

// manage adds the edits of one kind, and the names that refusals use for them.
func (t *Turn) manage(kind string, items *[]json.RawMessage, edits map[string]*override, names map[string]string) error {
	if items == nil {
		return nil
	}
	device := kind == "devices"
	for key, was := range t.site.overrides {
		if was.Cloud && isDevice(key) == device {
			edits[key] = nil
		}
	}
	for i, item := range *items {
		name := fmt.Sprintf("%s[%d]", kind, i)
		one, err := managed(item, device)
		if err != nil {
			return within(name, err)
		}
		key := one.key()
		switch was := t.site.overrides[key]; {
		case names[key] != "":
			return problem.New(problem.Invalid, name+".id", "is there twice")
		case was != nil && !was.Cloud:
			return problem.New(problem.Conflict, name+".id", "was made in the building: remove it there, or choose another")
		case was != nil && was.SpaceID == one.SpaceID && bytes.Equal(was.Data, one.Data):
			delete(edits, key)
		default:
			edits[key] = one
		}
		names[key] = name
	}
	return nil
}

// managed is a space or device as the cloud says it.
func managed(item json.RawMessage, device bool) (*override, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(item, &document); err != nil || document == nil {
		return nil, problem.New(problem.Invalid, "", "is not an object")
	}
	one := &override{Cloud: true}
	wanted := map[string]*string{"id": &one.ID}
	if device {
		wanted["meeting_space_id"] = &one.SpaceID
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if json.Unmarshal(document[name], wanted[name]) != nil || *wanted[name] == "" {
			return nil, problem.New(problem.Invalid, name, "is missing")
		}
		delete(document, name)
	}
	var err error
	if one.Data, err = json.Marshal(document); len(one.Data) > maxOverride {
		err = problem.New(problem.Invalid, "", "is too large: want at most %d KiB", maxOverride>>10)
	}
	return one, err
}

// within names the item in a refusal.
func within(name string, err error) error {
	e := problem.As(err)
	if e == nil {
		return err
	}
	at := *e
	if at.Field != "" {
		name += "."
	}
	at.Field = name + at.Field
	return &at
}
