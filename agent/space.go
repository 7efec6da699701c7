package agent

import (
	"strings"

	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/agent/unlock"
	"roomgate/drivers"
)

// space is one meeting space with its devices in the configuration's order. It
// is never changed: when its configuration or a device of it is another,
// another space with the same lasting takes its place.
type space struct {
	config.Space
	*lasting
	devices []*device.Device
	byType  map[string]*device.Device
	clock   *clock.Clock // of the building
}

// lasting is what of a space outlives a change of its configuration.
type lasting struct {
	dirty   loop.Signal // its state has changed since it was last sent
	room    *schedule.Room
	stirred loop.Signal // its state has changed since roomcontrol last looked
}

// SpaceInfo is a meeting space as the building was configured.
type SpaceInfo struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Timezone string        `json:"timezone"`
	Devices  []device.Info `json:"devices"`
}

func newSpace(c config.Space, l *lasting, by *clock.Clock) *space {
	return &space{Space: c, lasting: l, clock: by, byType: map[string]*device.Device{}}
}

func newLasting(r *schedule.Room) *lasting {
	return &lasting{room: r, dirty: loop.NewSignal(), stirred: loop.NewSignal()}
}

func (s *space) add(d *device.Device) {
	s.devices = append(s.devices, d)
	s.byType[d.Type] = d
}

// changed wakes what sends the state of the space, and what controls the room by it.
func (l *lasting) changed() {
	for _, c := range []loop.Signal{l.dirty, l.stirred} {
		c.Wake()
	}
}

// Device returns the device of that type in a space, or a refusal that names
// the field at fault.
func (a *Agent) Device(spaceID, deviceType string) (*device.Device, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return nil, err
	}
	return s.device(deviceType)
}

// device returns the device of that type, or a refusal.
func (s *space) device(deviceType string) (*device.Device, error) {
	if d := s.byType[deviceType]; d != nil {
		return d, nil
	}
	have := make([]string, len(s.devices))
	for i, d := range s.devices {
		have[i] = d.Type
	}
	return nil, refuse(NotFound, "device_type", "is not a device of this meeting space, which has %s", problem.List(have))
}

// SpaceID finds a space by its id or, ignoring case, by its name.
func (a *Agent) SpaceID(nameOrID string) (string, error) {
	for _, s := range a.spaces() {
		if s.ID == nameOrID || strings.EqualFold(s.Name, nameOrID) {
			return s.ID, nil
		}
	}
	return "", refuse(NotFound, "meeting_space_id", "%q is not a meeting space of this building", nameOrID)
}

// Spaces returns every meeting space, in the configuration's order.
func (a *Agent) Spaces() []SpaceInfo {
	spaces := a.spaces()
	out := make([]SpaceInfo, len(spaces))
	for i, s := range spaces {
		out[i] = SpaceInfo{s.ID, s.Name, s.Timezone, s.infos()}
	}
	return out
}

// Devices returns the devices of a space, or of the building if spaceID is
// empty.
func (a *Agent) Devices(spaceID string) ([]device.Info, error) {
	if spaceID != "" {
		s, err := a.space(spaceID)
		if err != nil {
			return nil, err
		}
		return s.infos(), nil
	}
	var all []device.Info
	for _, s := range a.spaces() {
		all = append(all, s.infos()...)
	}
	return all, nil
}

func (s *space) infos() []device.Info {
	infos := make([]device.Info, len(s.devices))
	for i, d := range s.devices {
		infos[i] = d.Info(s.Name)
	}
	return infos
}

// door is the space's lock, if it has one.
func (s *space) door() (d unlock.Door, ok bool) {
	lock := s.byType[drivers.TypeLock]
	return unlock.Door{Space: s.Name, Lock: lock, Room: s.room}, lock != nil
}
