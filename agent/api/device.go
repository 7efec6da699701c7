package api

import (
	"cmp"
	"net/http"
	"slices"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// part finds a device or a sub-device: what is known of it, and what it takes.
func (s *Server) part(space, deviceType, sub string) (device.Reading, drivers.SubDevice, error) {
	var none drivers.SubDevice
	one, err := s.agent.Site.Device(space, deviceType)
	if err != nil {
		return device.Reading{}, none, knownType(err, deviceType)
	}
	reading, err := one.Status(sub)
	if err != nil {
		return reading, none, knownType(err, deviceType)
	}
	d := one.Describe()
	if sub == "" {
		return reading, drivers.SubDevice{Summary: d.Summary, Unit: d.Unit, Values: d.Values, Actions: d.Actions}, nil
	}
	for _, p := range d.Subs {
		if p.Name == drivers.Canonical(sub) {
			return reading, p, nil
		}
	}
	return reading, none, &problem.Error{Code: problem.Unavailable, Field: "sub_device", Message: "is not described: " + cmp.Or(reading.Reason, d.Summary)}
}

// instructionAnswer is the body of instruction.
type instructionAnswer struct {
	SpaceID    string       `json:"meeting_space_id"`
	DeviceType string       `json:"device_type"`
	SubDevice  string       `json:"sub_device,omitempty"`
	Summary    string       `json:"summary"` // how a person operates it
	Unit       string       `json:"unit,omitempty"`
	Values     []string     `json:"values,omitempty"` // empty: any
	Actions    []actionHelp `json:"actions"`
	SubDevices []string     `json:"sub_devices,omitempty"`
}

// actionHelp is an action with a request that would be accepted.
type actionHelp struct {
	drivers.Action
	Example exampleCommand `json:"example"`
}

// exampleCommand is a body for the action operation.
type exampleCommand struct {
	DeviceType string `json:"device_type,omitempty"` // empty: it stands in the path
	SubDevice  string `json:"sub_device,omitempty"`
	Action     string `json:"action"`
	Value      any    `json:"value,omitempty"`
}

// instruction tells the actions, values and ranges of a device, and how a
// person operates it.
func instruction(s *Server, c *call) error {
	deviceType, sub, err := c.asked()
	if err != nil {
		return err
	}
	a := instructionAnswer{SpaceID: c.params[0], DeviceType: deviceType, SubDevice: sub}
	if c.v2 {
		deviceType = "" // of the examples
	}
	_, part, err := s.part(a.SpaceID, a.DeviceType, a.SubDevice)
	if err != nil {
		return err
	}
	a.Summary, a.Unit, a.Values, a.Actions = part.Summary, part.Unit, part.Values, []actionHelp{}
	for _, action := range part.Actions {
		a.Actions = append(a.Actions, actionHelp{action, exampleCommand{deviceType, a.SubDevice, action.Name, exampleValue(action)}})
	}
	if a.SubDevice == "" {
		a.SubDevices = drivers.SubDevices(a.DeviceType)
	}
	if c.v2 {
		return c.response(newTypedInstruction(a))
	}
	return c.response(a)
}

// exampleValue is a value that the action takes; nil if it needs none.
func exampleValue(a drivers.Action) any {
	if len(a.Params) == 1 && a.Params[0].Name == drivers.ValueName {
		return exampleParam(a.Params[0])
	}
	values := map[string]any{}
	for _, p := range a.Params {
		values[p.Name] = exampleParam(p)
	}
	if len(values) == 0 {
		return nil
	}
	return values
}

func exampleParam(p drivers.Param) any {
	switch {
	case p.Default != nil:
		return p.Default
	case p.Kind == drivers.KindChoice && len(p.Choices) > 0:
		return p.Choices[0]
	case p.Kind == drivers.KindColor:
		return "#ff8800"
	case p.Kind == drivers.KindText:
		return "Welcome"
	}
	return p.Max
}

// typeAnswer is one device type of types.
type typeAnswer struct {
	DeviceType string   `json:"device_type"`
	SubDevices []string `json:"sub_devices"`
	Spaces     []string `json:"meeting_space_ids"` // where there is one
}

// types lists the device types of the building, or of one space.
func types(s *Server, c *call) error {
	q, err := c.listQuery("meeting_space_id")
	if err != nil {
		return err
	}
	space := q.text("meeting_space_id")
	if err := s.visibility.ownSpace(&c.who, space); space != "" && err != nil {
		return err
	}
	devices, err := s.agent.Site.Devices(space)
	if err != nil {
		return err
	}
	devices = slices.DeleteFunc(devices, func(d device.Info) bool { return !s.visibility.sees(&c.who, d.SpaceID) })
	found := []typeAnswer{}
	for _, t := range drivers.Types() {
		a := typeAnswer{DeviceType: t, SubDevices: append([]string{}, drivers.SubDevices(t)...)}
		for _, d := range devices {
			if d.Type == t && !slices.Contains(a.Spaces, d.SpaceID) {
				a.Spaces = append(a.Spaces, d.SpaceID)
			}
		}
		if len(a.Spaces) > 0 {
			found = append(found, a)
		}
	}
	if c.v2 {
		return list(c, q, found, func(a typeAnswer) string { return a.DeviceType }, itself)
	}
	return c.response(struct {
		Types []typeAnswer `json:"device_types"`
	}{found})
}

// deviceAnswer is one device of gatewayDevices.
type deviceAnswer struct {
	device.Info
	Readings []device.Reading `json:"readings"`
}

// gatewayDevices lists every device with what is known of it.
func gatewayDevices(s *Server, c *call) error {
	answers, err := s.known("")
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Devices []deviceAnswer `json:"devices"`
	}{answers})
}

// known is what is known of the devices of a space, or of the building if it
// is empty.
func (s *Server) known(space string) ([]deviceAnswer, error) {
	all, err := s.agent.Site.Devices(space)
	if err != nil {
		return nil, err
	}
	answers := make([]deviceAnswer, len(all))
	for i, d := range all {
		readings, err := s.agent.Site.StatusAll(d.SpaceID)
		if err != nil {
			return nil, err
		}
		others := func(r device.Reading) bool { return r.DeviceID != d.ID }
		answers[i] = deviceAnswer{d, slices.DeleteFunc(readings, others)}
	}
	return answers, nil
}

// gatewaySpaces lists every meeting space with its devices.
func gatewaySpaces(s *Server, c *call) error {
	return c.json(http.StatusOK, struct {
		Spaces []site.SpaceInfo `json:"meeting_spaces"`
	}{s.agent.Site.SpaceInfos()})
}
