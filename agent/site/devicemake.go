package site

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// AddDevice makes a device in a space, with who did it. document is its
// configuration as JSON in the keys of the file; id is empty: one is made. It
// is in use from now on, and after a restart.
func (s *Site) AddDevice(ctx context.Context, spaceID, id string, document json.RawMessage, by string) (device.Info, error) {
	if len(document) > maxOverride {
		return device.Info{}, problem.New(problem.Invalid, "options", "is too large: want at most %d KiB for a device", maxOverride>>10)
	}
	turn, err := s.Turn(ctx)
	if err != nil {
		return device.Info{}, err
	}
	defer turn.End()
	if _, err := s.Space(spaceID); err != nil {
		return device.Info{}, err
	}
	if id == "" {
		id = "device-" + strings.ToLower(ulid.Make().String())
	}
	if _, err := s.Now().device(id); err == nil || s.overrides[deviceKey(id)] != nil {
		return device.Info{}, problem.New(problem.Conflict, "id", "is that of another device: choose another, or change that one")
	}
	one := &override{ID: id, SpaceID: spaceID, Data: document}
	if err := turn.change(ctx, map[string]*override{one.key(): one}, by); err != nil {
		return device.Info{}, err
	}
	d, err := s.Now().device(id)
	if err != nil {
		return device.Info{}, err
	}
	return s.Now().info(d), nil
}

// RemoveDevice takes away a device that was added at run time, or what was
// added to one of the configuration file, which then is as the file says. Its
// hardware is left in its safe state; its events stay in the log.
func (s *Site) RemoveDevice(ctx context.Context, id, by string) error {
	turn, err := s.Turn(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	one, err := s.ownOverride(id)
	if err != nil {
		return err
	}
	if one == nil {
		return problem.New(problem.NotNow, "device_id", "is a device of the configuration file: remove it there, or disable it here")
	}
	return turn.change(ctx, map[string]*override{one.key(): nil}, by)
}

// ownOverride is what was added here to a device or as one; nil: nothing was.
func (s *Site) ownOverride(id string) (*override, error) {
	one := s.overrides[deviceKey(id)]
	switch {
	case one == nil:
		_, err := s.Now().device(id)
		return nil, err
	case one.Cloud:
		return nil, problem.New(problem.Forbidden, "device_id", "is managed by the cloud: change it there")
	}
	return one, nil
}

// SetSensor makes a sub-device of a device, or changes where it comes from:
// options are what the device's driver takes under the sub-device's name. A
// null takes away what was added.
func (s *Site) SetSensor(ctx context.Context, id, sub string, options json.RawMessage, by string) (device.Info, error) {
	turn, err := s.Turn(ctx)
	if err != nil {
		return device.Info{}, err
	}
	defer turn.End()
	old, err := s.ownOverride(id)
	if err != nil {
		return device.Info{}, err
	}
	d, err := s.Now().device(id)
	if err != nil {
		return device.Info{}, err
	}
	sub = drivers.Canonical(sub)
	if subs := drivers.SubDevices(d.Type); !slices.Contains(subs, sub) {
		return device.Info{}, problem.New(problem.Invalid, "sub_device", "is not known: a %s has %s", d.Type, problem.List(subs))
	}
	one, err := withSensor(d, old, sub, options)
	if err != nil {
		return device.Info{}, err
	}
	if err := turn.change(ctx, map[string]*override{one.key(): one}, by); err != nil {
		return device.Info{}, sensorError(d, sub, err)
	}
	if d, err = s.Now().device(id); err != nil {
		return device.Info{}, err
	}
	return s.Now().info(d), nil
}

// withSensor is what is laid over a device's configuration, with a sub-device
// more or, without options, less.
func withSensor(d *device.Device, old *override, sub string, options json.RawMessage) (*override, error) {
	document, inside := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if old != nil {
		if err := json.Unmarshal(old.Data, &document); err != nil {
			return nil, err
		}
	}
	if document["options"] != nil {
		if err := json.Unmarshal(document["options"], &inside); err != nil {
			return nil, err
		}
	}
	switch {
	case options != nil:
		inside[sub] = options
	case inside[sub] == nil:
		return nil, problem.New(problem.NotFound, "sub_device", "was not added here")
	default:
		delete(inside, sub)
	}
	var err error
	if document["options"], err = json.Marshal(inside); err != nil {
		return nil, err
	}
	data, err := json.Marshal(document)
	if len(data) > maxOverride {
		err = problem.New(problem.Invalid, "options", "is too large: want at most %d KiB for a device", maxOverride>>10)
	}
	return &override{ID: d.ID, SpaceID: d.SpaceID, Data: data}, err
}

// sensorError speaks of the request's field, or of a driver that has its
// sub-devices by itself.
func sensorError(d *device.Device, sub string, err error) error {
	e := *device.AsError(err)
	if e.Code != problem.Invalid {
		return err
	}
	if e.Field == "options."+sub {
		e.Field, e.Message = "device_id", "has the driver "+d.Driver+", which has its sub-devices by itself: add them to a device with the driver o3-room"
		return &e
	}
	if rest, ok := strings.CutPrefix(e.Field, "options."+sub+"."); ok {
		e.Message = strings.ReplaceAll(e.Message, "options."+sub+".", "options.")
		e.Field = "options." + rest
	}
	return &e
}

// Added says of every device that was added at run time, or to which something
// was added, whether that was the cloud: by its id.
func (s *Site) Added(ctx context.Context) (map[string]bool, error) {
	turn, err := s.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	added := map[string]bool{}
	for key, one := range maps.All(s.overrides) {
		if isDevice(key) {
			added[one.ID] = one.Cloud
		}
	}
	return added, nil
}
