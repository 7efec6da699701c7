package api

import (
	"net/http"
	"slices"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
	"roomgate/drivers"
)

// deviceRecord is a device of V2.0: what it is, how it is set, and what is
// known of it.
type deviceRecord struct {
	ID         string `json:"id"`
	SpaceID    string `json:"meeting_space_id"`
	DeviceType string `json:"device_type"`
	Driver     string `json:"driver"`
	Enabled    bool   `json:"enabled"`
	typedReading
	SubDevices []subDeviceRecord `json:"sub_devices"`
	PollS      float64           `json:"poll_s"` // from one observation to the next
	Alert      *alertRecord      `json:"alert"`  // null: it measures no temperature
	// Permissions are of commands that not everybody with devices:write may give.
	Permissions []device.Permission `json:"permissions"`
}

// alertRecord is the range outside of which a temperature is an alert.
type alertRecord struct {
	device.AlertRange
	Unit string `json:"unit"`
}

// subDeviceRecord is a sub-device in its device.
type subDeviceRecord struct {
	SubDevice string `json:"sub_device"`
	typedReading
}

func newDeviceRecord(d deviceAnswer) deviceRecord {
	r := deviceRecord{ID: d.ID, SpaceID: d.SpaceID, DeviceType: d.Type, Driver: d.Driver, Enabled: d.Enabled,
		SubDevices: []subDeviceRecord{}, Permissions: append([]device.Permission{}, d.Permissions...)}
	r.Status, r.Stale = device.Offline, true
	poll, _ := time.ParseDuration(d.Poll) // it was written by one
	r.PollS = poll.Seconds()
	for _, known := range d.Readings {
		switch known.SubDevice {
		case "":
			r.typedReading = newTypedReading(known)
		case drivers.SubTemperature:
			r.Alert = &alertRecord{d.Alert, celsius}
			fallthrough
		default:
			r.SubDevices = append(r.SubDevices, subDeviceRecord{known.SubDevice, newTypedReading(known)})
		}
	}
	return r
}

func deviceID(d deviceAnswer) string { return d.ID }

// listDevices lists the devices that who asks sees.
func listDevices(s *Server, c *call) error {
	q, err := c.listQuery("meeting_space_id", "device_type")
	if err != nil {
		return err
	}
	space, deviceType := q.text("meeting_space_id"), q.text("device_type")
	if err := s.visibility.ownSpace(&c.who, space); space != "" && err != nil {
		return err
	}
	if deviceType != "" {
		if err := unknownType(deviceType); err != nil {
			return err
		}
	}
	all, err := s.known(space)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(d deviceAnswer) bool {
		return deviceType != "" && d.Type != deviceType || !s.visibility.sees(&c.who, d.SpaceID)
	})
	return list(c, q, all, deviceID, newDeviceRecord)
}

// spaceDevices lists those of one space.
func spaceDevices(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	all, err := s.known(c.params[0])
	if err != nil {
		return err
	}
	return list(c, q, all, deviceID, newDeviceRecord)
}

// getDevice answers with one device.
func getDevice(s *Server, c *call) error {
	err := s.device(c, http.StatusOK, c.params[0])
	if err != nil && c.params[0] == "events" { // V1.0 has them there
		return &problem.Error{Code: problem.NotFound, Message: "there is no such path in V2.0: use GET " + v2Prefix + "/events"}
	}
	return err
}

func (s *Server) device(c *call, status int, id string) error {
	space, err := s.agent.Site.SpaceOfDevice(id)
	if err != nil {
		return err
	}
	all, err := s.known(space)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(d deviceAnswer) bool { return d.ID == id })
	if at < 0 { // it went meanwhile
		_, err := s.agent.Site.SpaceOfDevice(nobody)
		return err
	}
	return c.json(status, newDeviceRecord(all[at]))
}

// deviceStatus answers with the device of a type, or with a sub-device of it.
func deviceStatus(s *Server, c *call) error {
	deviceType, sub, err := c.asked()
	if err != nil {
		return err
	}
	r, err := s.agent.Site.Status(c.params[0], deviceType, sub)
	if err != nil {
		return knownType(err, deviceType)
	}
	if sub == "" {
		return s.device(c, http.StatusOK, r.DeviceID)
	}
	return c.json(http.StatusOK, struct {
		SpaceID    string `json:"meeting_space_id"`
		DeviceID   string `json:"device_id"`
		DeviceType string `json:"device_type"`
		subDeviceRecord
	}{c.params[0], r.DeviceID, r.DeviceType, subDeviceRecord{r.SubDevice, newTypedReading(r)}})
}

// deviceMembers are those of a body that say which device is meant. V2.0 has
// its type in the path.
func (c *call) deviceMembers(deviceType, sub *string) []strict.Member {
	if c.v2 {
		*deviceType = c.params[1]
		return []strict.Member{strict.Optional("sub_device", sub)}
	}
	return []strict.Member{strict.Required("device_type", deviceType), strict.Optional("sub_device", sub)}
}

// asked is the device that a query asks for, or in V2.0 path and query.
func (c *call) asked() (deviceType, sub string, err error) {
	known := []string{"sub_device", "device_type"}
	if c.v2 {
		known = known[:1]
	}
	q, err := c.query(known...)
	if err != nil {
		return "", "", err
	}
	deviceType, sub = q.text("device_type"), drivers.Canonical(q.text("sub_device"))
	if c.v2 {
		deviceType = c.params[1]
	}
	if deviceType == "" {
		return "", "", invalid("device_type", "is missing")
	}
	return deviceType, sub, nil
}

// typedInstruction is an instruction of V2.0.
type typedInstruction struct {
	instructionAnswer
	Values []any `json:"values,omitempty"` // empty: any
}

func newTypedInstruction(a instructionAnswer) typedInstruction {
	t := typedInstruction{instructionAnswer: a}
	for _, v := range a.Values {
		t.Values = append(t.Values, typed("", v))
	}
	return t
}

// typedControl is what a caller may do to a device, of V2.0.
type typedControl struct {
	SpaceID    string            `json:"meeting_space_id"`
	DeviceType string            `json:"device_type"`
	SubDevice  string            `json:"sub_device,omitempty"`
	Reading    typedReading      `json:"reading"`
	Actions    []permitted       `json:"actions"`
	Last       *typedLastCommand `json:"last_command"` // null: none since the start
}

// typedLastCommand is the last command to a device, of V2.0.
type typedLastCommand struct {
	lastCommand
	Receipt typedReceipt `json:"receipt"`
}

func newTypedControl(a controlAnswer, r device.Reading) typedControl {
	t := typedControl{a.SpaceID, a.DeviceType, a.SubDevice, newTypedReading(r), a.Actions, nil}
	if a.Last != nil {
		t.Last = &typedLastCommand{*a.Last, newTypedReceipt(a.Last.Receipt)}
	}
	return t
}

// typedReceipt is a receipt of V2.0.
type typedReceipt struct {
	device.Receipt
	Evidence   *typedEvidence `json:"evidence"`
	ReceivedAt moment         `json:"received_at"`
	FinishedAt moment         `json:"finished_at"`
}

// typedEvidence is the read-back that followed a command, of V2.0.
type typedEvidence struct {
	Device     string         `json:"device"`
	Value      any            `json:"value"`
	Unit       string         `json:"unit,omitempty"`
	Intensity  *quantity      `json:"intensity,omitempty"`
	Status     string         `json:"status"`
	ObservedAt moment         `json:"observed_at"`
	Source     maybe          `json:"source"`
	Details    map[string]any `json:"details,omitempty"`
}

func newTypedReceipt(r device.Receipt) typedReceipt {
	t := typedReceipt{r, nil, moment(r.ReceivedAt), moment(r.FinishedAt)}
	if e := r.Evidence; e != nil {
		t.Evidence = &typedEvidence{Device: e.Device, Value: typed(e.Device, e.Value), Unit: unit(e.Device), Status: e.Status,
			ObservedAt: moment(e.ObservedAt), Source: maybe(e.Source)}
		t.Evidence.Intensity, t.Evidence.Details = details(e.Details)
	}
	return t
}

// receipt answers with the outcome of a command, of the version.
func (c *call) receipt(r device.Receipt) error {
	if c.v2 {
		return c.json(receiptStatus(r), newTypedReceipt(r))
	}
	return c.json(receiptStatus(r), r)
}
