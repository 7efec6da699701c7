package site

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// NewDevice is a device to add.
type NewDevice struct {
	SpaceID string
	ID      string // empty: one is made
	// Document is its configuration as JSON in the keys of the file.
	Document json.RawMessage
	// Voice names the user of the room broker that is made for it if no user there may
	// speak for it; nil: none is made.
	Voice func(account drivers.Account) RoomUser
	// Judge refuses a building as it would be; nil: nobody does.
	Judge func(ctx context.Context, spaces []*Space) error
}

// AddDevice makes a device in a space, with who did it: see Add.
func (s *Site) AddDevice(ctx context.Context, spaceID, id string, document json.RawMessage, by string) (device.Info, error) {
	info, _, err := s.Add(ctx, NewDevice{SpaceID: spaceID, ID: id, Document: document}, by)
	return info, err
}

// Add makes a device, with who did it. It is in use from now on, and after a restart. The
// user is that of the room broker that was made for it; nil: none was.
func (s *Site) Add(ctx context.Context, d NewDevice, by string) (device.Info, *RoomUser, error) {
	if len(d.Document) > maxOverride {
		return device.Info{}, nil, problem.New(problem.Invalid, "options", "is too large: want at most %d KiB for a device", maxOverride>>10)
	}
	turn, err := s.Turn(ctx)
	if err != nil {
		return device.Info{}, nil, err
	}
	defer turn.End()
	if _, err := s.Space(d.SpaceID); err != nil {
		return device.Info{}, nil, err
	}
	if d.ID == "" {
		d.ID = "device-" + strings.ToLower(ulid.Make().String())
	}
	if _, err := s.Now().device(d.ID); err == nil || s.overrides[deviceKey(d.ID)] != nil {
		return device.Info{}, nil, problem.New(problem.Conflict, "id", "is that of another device: choose another, or change that one")
	}
	one := &override{ID: d.ID, SpaceID: d.SpaceID, Data: d.Document}
	if one.User, err = turn.judge(ctx, d, one, by); err != nil {
		return device.Info{}, nil, err
	}
	if err := turn.change(ctx, map[string]*override{one.key(): one}, by); err != nil {
		return device.Info{}, nil, err
	}
	made, err := s.Now().device(d.ID)
	if err != nil {
		return device.Info{}, nil, err
	}
	return s.Now().info(made), one.User, nil
}

// judge looks at the building as it would be with a device more. It returns the user of
// the room broker that is to be made for it.
func (t *Turn) judge(ctx context.Context, d NewDevice, one *override, by string) (*RoomUser, error) {
	if d.Voice == nil && d.Judge == nil {
		return nil, nil
	}
	c, err := t.stage(ctx, t.File(), map[string]*override{one.key(): one}, nil, by)
	if err != nil {
		return nil, err
	}
	defer c.rooms.Release()
	if d.Judge != nil {
		if err := d.Judge(ctx, c.Next.order); err != nil {
			return nil, err
		}
	}
	if d.Voice == nil {
		return nil, nil
	}
	return t.voice(c, d.ID, d.Voice)
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
