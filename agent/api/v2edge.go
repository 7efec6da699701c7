package api

import "roomgate/agent/device"

// typedSensor is a device or a sub-device as an edge device sees it, of V2.0.
type typedSensor struct {
	DeviceID   string `json:"device_id"`
	DeviceType string `json:"device_type"`
	SubDevice  maybe  `json:"sub_device"`
	Enabled    bool   `json:"enabled"`
	Active     bool   `json:"active"` // enabled, and it answers
	typedReading
	Actions []permitted `json:"actions"`
}

func newTypedSensor(s sensorRecord, r device.Reading) typedSensor {
	return typedSensor{s.DeviceID, s.DeviceType, maybe(s.SubDevice), s.Enabled, s.Active, newTypedReading(r), s.Actions}
}

func (t typedSensor) key() string { return t.DeviceID + "\x00" + string(t.SubDevice) }

// sensorsAsked is the space whose sensors are asked for.
func (c *call) sensorsAsked() (q query, space string, err error) {
	if c.v2 {
		q, err = c.listQuery()
		return q, c.params[0], err
	}
	q, err = c.query("meeting_space_id")
	if err == nil && q.text("meeting_space_id") == "" {
		err = invalid("meeting_space_id", "is missing")
	}
	return q, q.text("meeting_space_id"), err
}

// typedEdge is an edge device of V2.0.
type typedEdge struct {
	edgeRecord
	RegisteredAt moment `json:"registered_at"`
}

func newTypedEdge(r edgeRecord) typedEdge { return typedEdge{r, moment(r.Registered)} }

func edgeID(r edgeRecord) string { return r.ID }

// typedRegistered is what an edge device is told of V2.0.
type typedRegistered struct {
	registered
	Space spaceRecord `json:"meeting_space"`
}
