package device

import (
	"strconv"
	"time"

	"roomgate/agent/eventlog"
)

// Event makes the log row of something that happened to a device.
func (d *Device) Event(kind, sub string, at time.Time, details map[string]any) eventlog.Row {
	name := sub
	if name == "" {
		name = d.Type
	}
	r := eventlog.Record{Type: kind, Time: at, Space: d.SpaceID, Device: name, DeviceID: d.ID, Details: details}
	data, err := r.Encode()
	if err != nil { // a driver's detail that JSON cannot say
		d.log.Error("event has details that cannot be encoded", "event", kind, "error", err)
		r.Details = nil
		data, _ = r.Encode()
	}
	return d.events.Row(eventlog.EventType(kind), at, d.SpaceID, d.Type, sub, data)
}

// alert is an event about a temperature that left its range or came back.
func (d *Device) alert(kind string, r Reading) eventlog.Row {
	celsius, _ := strconv.ParseFloat(r.Value, 64)
	return d.Event(kind, r.SubDevice, r.ObservedAt, map[string]any{
		"temperature": celsius, "status": r.Status, "low": d.Live().Alert.Low, "high": d.Live().Alert.High,
	})
}
