package drivers

import "slices"

// The device types that the platform knows.
const (
	TypeLock    = "lock"
	TypeCamera  = "camera"
	TypeLight   = "light"
	TypeFan     = "fan"
	TypeO3      = "o3-sensor"
	TypeDisplay = "meeting-room-display"
)

// The sub-devices of an o3-sensor.
const (
	SubTemperature = "temperature"
	SubBuzzer      = "buzzer"
	SubOccupancy   = "occupancy"
	SubRing        = "ring-light"
)

// Types returns the device types in the order in which people read them.
func Types() []string {
	return []string{TypeLock, TypeCamera, TypeLight, TypeFan, TypeO3, TypeDisplay}
}

// SubDevices returns the sub-devices that a device type has, or nil.
func SubDevices(deviceType string) []string {
	if deviceType != TypeO3 {
		return nil
	}
	return []string{SubTemperature, SubBuzzer, SubOccupancy, SubRing}
}

// Canonical returns the one spelling of a sub-device: the platform writes
// "temprature" in requests, and never hears it back.
func Canonical(subDevice string) string {
	if subDevice == "temprature" {
		return SubTemperature
	}
	return subDevice
}

// Description is a device as data: what it is, what it takes, how a person
// operates it.
type Description struct {
	Type    string      `json:"type"`
	Driver  string      `json:"driver"`
	Summary string      `json:"summary"` // one sentence for a person
	Unit    string      `json:"unit,omitempty"`
	Values  []string    `json:"values,omitempty"` // closed set of values, nil if open
	Actions []Action    `json:"actions"`
	Subs    []SubDevice `json:"sub_devices,omitempty"`
}

// SubDevice is one part of a device that has a value of its own.
type SubDevice struct {
	Name    string   `json:"name"`
	Summary string   `json:"summary"`
	Unit    string   `json:"unit,omitempty"` // "°C"
	Values  []string `json:"values,omitempty"`
	Actions []Action `json:"actions"`
}

// Action returns the action of the device (sub is "") or of a sub-device. It
// is false if there is none of that name; known says whether sub exists.
func (d Description) Action(sub, name string) (a Action, known, ok bool) {
	actions, known := d.actions(sub)
	i := slices.IndexFunc(actions, func(a Action) bool { return a.Name == name })
	if i < 0 {
		return Action{}, known, false
	}
	return actions[i], known, true
}

// ActionNames returns the names of the actions of the device (sub is "") or of a sub-device.
func (d Description) ActionNames(sub string) []string {
	actions, _ := d.actions(sub)
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = a.Name
	}
	return names
}

// actions returns the actions of the device (sub is "") or of a sub-device; known says whether sub exists.
func (d Description) actions(sub string) (actions []Action, known bool) {
	if sub == "" {
		return d.Actions, true
	}
	for _, s := range d.Subs {
		if s.Name == sub {
			return s.Actions, true
		}
	}
	return nil, false
}
