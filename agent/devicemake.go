package agent

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
func (a *Agent) AddDevice(ctx context.Context, spaceID, id string, document json.RawMessage, by string) (device.Info, error) {
	if len(document) > maxAddition {
		return device.Info{}, refuse(Invalid, "options", "is too large: want at most %d KiB for a device", maxAddition>>10)
	}
	if err := a.builders.Lock(ctx); err != nil {
		return device.Info{}, err
	}
	defer a.builders.Unlock()
	if _, err := a.space(spaceID); err != nil {
		return device.Info{}, err
	}
	if id == "" {
		id = "device-" + strings.ToLower(ulid.Make().String())
	}
	if _, err := a.deviceByID(id); err == nil || a.additions[deviceKey(id)] != nil {
		return device.Info{}, refuse(Conflict, "id", "is that of another device: choose another, or change that one")
	}
	p := &addition{ID: id, SpaceID: spaceID, Data: document}
	if err := a.changeSite(ctx, map[string]*addition{p.key(): p}, by); err != nil {
		return device.Info{}, err
	}
	d, err := a.deviceByID(id)
	if err != nil {
		return device.Info{}, err
	}
	return a.infoOf(d), nil
}

// RemoveDevice takes away a device that was added at run time, or what was
// added to one of the configuration file, which then is as the file says. Its
// hardware is left in its safe state; its events stay in the log.
func (a *Agent) RemoveDevice(ctx context.Context, id, by string) error {
	if err := a.builders.Lock(ctx); err != nil {
		return err
	}
	defer a.builders.Unlock()
	p, err := a.ownAddition(id)
	if err != nil {
		return err
	}
	if p == nil {
		return refuse(NotNow, "device_id", "is a device of the configuration file: remove it there, or disable it here")
	}
	return a.changeSite(ctx, map[string]*addition{p.key(): nil}, by)
}

// ownAddition is what was added here to a device or as one; nil: nothing was.
func (a *Agent) ownAddition(id string) (*addition, error) {
	p := a.additions[deviceKey(id)]
	switch {
	case p == nil:
		_, err := a.deviceByID(id)
		return nil, err
	case p.Cloud:
		return nil, refuse(Forbidden, "device_id", "is managed by the cloud: change it there")
	}
	return p, nil
}

// SetSensor makes a sub-device of a device, or changes where it comes from:
// options are what the device's driver takes under the sub-device's name. A
// null takes away what was added.
func (a *Agent) SetSensor(ctx context.Context, id, sub string, options json.RawMessage, by string) (device.Info, error) {
	if err := a.builders.Lock(ctx); err != nil {
		return device.Info{}, err
	}
	defer a.builders.Unlock()
	old, err := a.ownAddition(id)
	if err != nil {
		return device.Info{}, err
	}
	d, err := a.deviceByID(id)
	if err != nil {
		return device.Info{}, err
	}
	sub = drivers.Canonical(sub)
	if subs := drivers.SubDevices(d.Type); !slices.Contains(subs, sub) {
		return device.Info{}, refuse(Invalid, "sub_device", "is not known: a %s has %s", d.Type, problem.List(subs))
	}
	p, err := withSensor(d, old, sub, options)
	if err != nil {
		return device.Info{}, err
	}
	if err := a.changeSite(ctx, map[string]*addition{p.key(): p}, by); err != nil {
		return device.Info{}, sensorError(d, sub, err)
	}
	if d, err = a.deviceByID(id); err != nil {
		return device.Info{}, err
	}
	return a.infoOf(d), nil
}

// withSensor is what is laid over a device's configuration, with a sub-device
// more or, without options, less.
func withSensor(d *device.Device, old *addition, sub string, options json.RawMessage) (*addition, error) {
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
		return nil, refuse(NotFound, "sub_device", "was not added here")
	default:
		delete(inside, sub)
	}
	var err error
	if document["options"], err = json.Marshal(inside); err != nil {
		return nil, err
	}
	data, err := json.Marshal(document)
	if len(data) > maxAddition {
		err = refuse(Invalid, "options", "is too large: want at most %d KiB for a device", maxAddition>>10)
	}
	return &addition{ID: d.ID, SpaceID: d.SpaceID, Data: data}, err
}

// sensorError speaks of the request's field, or of a driver that has its
// sub-devices by itself.
func sensorError(d *device.Device, sub string, err error) error {
	e := *AsError(err)
	if e.Code != Invalid {
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
func (a *Agent) Added(ctx context.Context) (map[string]bool, error) {
	if err := a.builders.Lock(ctx); err != nil {
		return nil, err
	}
	defer a.builders.Unlock()
	added := map[string]bool{}
	for key, p := range maps.All(a.additions) {
		if isDevice(key) {
			added[p.ID] = p.Cloud
		}
	}
	return added, nil
}
