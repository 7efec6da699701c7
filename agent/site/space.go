package site

import (
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// Space is one meeting space with its devices. It is never changed: when its
// configuration or a device of it is another, another Space takes its place, which
// has the same Room and signals.
type Space struct {
	ID, Name string
	Config   config.Space     // of the file, with the overrides
	Devices  []*device.Device // in the configuration's order
	*lasting
	byType map[string]*device.Device
	clock  *clock.Clock // of the building
}

// lasting is what of a space outlives a change of its configuration.
type lasting struct {
	Room    *schedule.Room
	Dirty   loop.Signal // its state has changed since it was last sent
	Asked   loop.Signal // its state is to be sent, changed or not
	Stirred loop.Signal // its state has changed since roomcontrol last looked
}

// SpaceInfo is a meeting space as the building was configured.
type SpaceInfo struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Timezone string        `json:"timezone"`
	Devices  []device.Info `json:"devices"`
}

func newSpace(c config.Space, l *lasting, by *clock.Clock) *Space {
	return &Space{ID: c.ID, Name: c.Name, Config: c, lasting: l, clock: by, byType: map[string]*device.Device{}}
}

func newLasting(r *schedule.Room) *lasting {
	return &lasting{Room: r, Dirty: loop.NewSignal(), Asked: loop.NewSignal(), Stirred: loop.NewSignal()}
}

func (s *Space) add(d *device.Device) {
	s.Devices = append(s.Devices, d)
	s.byType[d.Type] = d
}

// Changed wakes who sends the state of the space, and who controls the room by it.
func (l *lasting) Changed() {
	l.Dirty.Wake()
	l.Stirred.Wake()
}

// OfType returns the device of that type, or nil.
func (s *Space) OfType(deviceType string) *device.Device { return s.byType[deviceType] }

// Device returns the device of that type, or a refusal that names the field at
// fault.
func (s *Space) Device(deviceType string) (*device.Device, error) {
	if d := s.byType[deviceType]; d != nil {
		return d, nil
	}
	have := make([]string, len(s.Devices))
	for i, d := range s.Devices {
		have[i] = d.Type
	}
	return nil, problem.New(problem.NotFound, "device_type", "is not a device of this meeting space, which has %s", problem.List(have))
}

func (s *Space) infos() []device.Info {
	infos := make([]device.Info, len(s.Devices))
	for i, d := range s.Devices {
		infos[i] = d.Info(s.Name)
	}
	return infos
}

// SpaceInfos returns every meeting space, in the configuration's order.
func (s *Site) SpaceInfos() []SpaceInfo {
	spaces := s.Spaces()
	out := make([]SpaceInfo, len(spaces))
	for i, one := range spaces {
		out[i] = SpaceInfo{one.ID, one.Name, one.Config.Timezone, one.infos()}
	}
	return out
}
