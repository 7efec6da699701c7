package api

import (
	"encoding/json"
	"slices"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
	"roomgate/drivers"
)

// sensorRecord is a device or a sub-device as an edge device sees it.
type sensorRecord struct {
	DeviceID   string        `json:"device_id"`
	DeviceType string        `json:"device_type"`
	SubDevice  string        `json:"sub_device,omitempty"`
	Enabled    bool          `json:"enabled"`
	Active     bool          `json:"active"` // enabled, and it answers
	Record     device.Record `json:"record"`
	ObservedAt moment        `json:"observed_at"` // null: never
	Reason     string        `json:"reason,omitempty"`
	Actions    []permitted   `json:"actions"`
}

// edgeSensors lists the devices and sub-devices of a space: which are active,
// and what the caller may do with each.
func edgeSensors(s *Server, c *call) error {
	q, space, err := c.sensorsAsked()
	if err != nil {
		return err
	}
	if err := s.visibility.ownSpace(&c.who, space); err != nil {
		return err
	}
	infos, err := s.agent.Site.Devices(space)
	if err != nil {
		return err
	}
	readings, err := s.agent.Site.StatusAll(space)
	if err != nil {
		return err
	}
	records, sensors := []sensorRecord{}, []typedSensor{}
	for _, r := range readings {
		at := slices.IndexFunc(infos, func(d device.Info) bool { return d.ID == r.DeviceID })
		if at < 0 {
			continue // it was made just now
		}
		record := s.sensor(c.who, infos[at], r)
		records, sensors = append(records, record), append(sensors, newTypedSensor(record, r))
	}
	if c.v2 {
		return list(c, q, sensors, typedSensor.key, itself)
	}
	return c.response(struct {
		SpaceID string         `json:"meeting_space_id"`
		Sensors []sensorRecord `json:"sensors"`
	}{space, records})
}

func (s *Server) sensor(who principal, d device.Info, r device.Reading) sensorRecord {
	x := sensorRecord{r.DeviceID, r.DeviceType, r.SubDevice, d.Enabled, d.Enabled && r.Status != device.Offline,
		r.Record, moment(r.ObservedAt), r.Reason, []permitted{}}
	actions := d.Description.Actions
	if r.SubDevice != "" {
		actions = nil
		for _, sub := range d.Description.Subs {
			if sub.Name == r.SubDevice {
				actions = sub.Actions
			}
		}
	}
	for _, a := range actions {
		x.Actions = append(x.Actions, s.permit(who, d.SpaceID, a.Name, r))
	}
	return x
}

// edgeControl switches or dims a device, as the action operation does. It
// opens no door.
func edgeControl(s *Server, c *call) error {
	o := device.Command{Via: c.who.via, By: c.who.ID}
	var on *bool
	var intensity *int64
	var wait json.RawMessage
	members := append(c.deviceMembers(&o.DeviceType, &o.SubDevice), strict.Given("on", &on),
		strict.Given("intensity", &intensity), strict.Optional("wait", &wait))
	if c.v2 {
		o.Space = c.params[0]
	} else {
		members = append(members, strict.Required("meeting_space_id", &o.Space))
	}
	if err := c.decode(members...); err != nil {
		return err
	}
	if err := s.visibility.ownSpace(&c.who, o.Space); err != nil {
		return err
	}
	switch {
	case (on == nil) == (intensity == nil):
		return invalid("on", "and intensity: want exactly one of the two")
	case on != nil:
		o.Action = drivers.OnOff(*on)
	default:
		o.Action = drivers.ActIntensity
		o.Value, _ = json.Marshal(*intensity) // a number
	}
	patience, err := parseWait(wait)
	if err != nil {
		return err
	}
	if o.ID, err = requestKey(c); err != nil {
		return err
	}
	receipt, err := s.do(c, o, patience)
	if e := device.AsError(err); err != nil && e.Code == problem.Invalid && e.Field == "action" {
		return invalid("device_type", "is a device that is not switched or dimmed: use the action operation")
	}
	if err != nil {
		return commandError(err, o)
	}
	return c.receipt(receipt)
}

// edgeEnable takes a device into or out of use.
func edgeEnable(s *Server, c *call) error {
	var id string
	var enabled bool
	err := c.decode(strict.Required("device_id", &id), strict.Required("enabled", &enabled))
	if err != nil {
		return err
	}
	if err := s.visibility.ownDevice(&c.who, id); err != nil {
		return err
	}
	return s.setDevice(c, id, device.Settings{Enabled: &enabled}, false)
}
