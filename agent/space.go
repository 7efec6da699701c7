package agent

import (
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/loop"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// space is one meeting space with its devices in the configuration's order. It
// is never changed: when its configuration or a device of it is another,
// another space with the same lasting takes its place.
type space struct {
	config.Space
	*lasting
	devices []*device
	byType  map[string]*device
	keypad  *keypad // of its lock; nil: it has none
}

// lasting is what of a space outlives a change of its configuration.
type lasting struct {
	dirty   loop.Signal // its state has changed since it was last sent
	room    *schedule.Room
	codes   codebook
	stirred loop.Signal // its state has changed since its devices last followed it
}

// SpaceInfo is a meeting space as the building was configured.
type SpaceInfo struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	Timezone string       `json:"timezone"`
	Devices  []DeviceInfo `json:"devices"`
}

// DeviceInfo is a device as the building was configured, with what was set of
// it since.
type DeviceInfo struct {
	ID          string              `json:"id"`
	Type        string              `json:"type"`
	Driver      string              `json:"driver"`
	SpaceID     string              `json:"meeting_space_id"`
	SpaceName   string              `json:"meeting_space"`
	Enabled     bool                `json:"enabled"`
	Poll        string              `json:"poll"` // from one observation to the next, as "5s"
	Alert       AlertRange          `json:"alert"`
	Permissions []DevicePermission  `json:"permissions,omitempty"`
	Description drivers.Description `json:"description"`
}

// AlertRange is the range of temperatures in °C outside of which an alert is
// raised, until the value is back inside by the hysteresis.
type AlertRange struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Hysteresis float64 `json:"hysteresis"`
}

func newSpace(c config.Space, l *lasting) *space {
	return &space{Space: c, lasting: l, byType: map[string]*device{}}
}

func newLasting(r *schedule.Room) *lasting {
	return &lasting{room: r, dirty: loop.NewSignal(), stirred: loop.NewSignal()}
}

func (s *space) add(d *device) {
	s.devices = append(s.devices, d)
	s.byType[d.Type] = d
}

// changed marks the space's state as to be sent, and to be followed.
func (l *lasting) changed() {
	for _, c := range []loop.Signal{l.dirty, l.stirred} {
		c.Wake()
	}
}

// device returns the device of that type in a space, or a refusal that names
// the field at fault.
func (a *Agent) device(spaceID, deviceType string) (*device, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return nil, err
	}
	if d := s.byType[deviceType]; d != nil {
		return d, nil
	}
	have := make([]string, len(s.devices))
	for i, d := range s.devices {
		have[i] = d.Type
	}
	return nil, refuse(NotFound, "device_type", "is not a device of this meeting space, which has %s", listed(have))
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
func (a *Agent) Devices(spaceID string) ([]DeviceInfo, error) {
	if spaceID != "" {
		s, err := a.space(spaceID)
		if err != nil {
			return nil, err
		}
		return s.infos(), nil
	}
	var all []DeviceInfo
	for _, s := range a.spaces() {
		all = append(all, s.infos()...)
	}
	return all, nil
}

func (s *space) infos() []DeviceInfo {
	infos := make([]DeviceInfo, len(s.devices))
	for i, d := range s.devices {
		infos[i] = d.info(s.Name)
	}
	return infos
}

func (d *device) info(spaceName string) DeviceInfo {
	t := d.live()
	return DeviceInfo{d.ID, d.Type, d.Driver, d.spaceID, spaceName, t.Enabled, t.Poll.String(),
		AlertRange(t.Alert), t.permissions(), d.describe()}
}

func (t *deviceTerms) permissions() []DevicePermission {
	if t.set.Permissions == nil {
		return nil
	}
	return *t.set.Permissions
}

// Describe says which actions a device takes.
func (a *Agent) Describe(spaceID, deviceType string) (drivers.Description, error) {
	d, err := a.device(spaceID, deviceType)
	if err != nil {
		return drivers.Description{}, err
	}
	return d.describe(), nil
}

// listed joins names as a person would read them.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
