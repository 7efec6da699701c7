package api

import (
	"encoding/json"
	"net/http"
	"strconv"

	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

// typedEvent is an event of V2.0. The values in its details are typed.
type typedEvent struct {
	ID         string                     `json:"id"` // of a stream, and a cursor
	Type       string                     `json:"event_type"`
	At         moment                     `json:"occurred_at"`
	SpaceID    maybe                      `json:"meeting_space_id"`
	DeviceID   json.RawMessage            `json:"device_id"`
	DeviceType maybe                      `json:"device_type"` // null: it is of the space
	SubDevice  maybe                      `json:"sub_device"`
	Details    map[string]json.RawMessage `json:"details"`
}

func newTypedEvent(e eventlog.Event) typedEvent {
	var record struct {
		Details map[string]json.RawMessage `json:"details"`
	}
	_ = json.Unmarshal(e.Record, &record) // we wrote it
	t := typedEvent{ID: cursorOf(e.Cursor), Type: e.Type, At: moment(e.Time), SpaceID: maybe(e.SpaceID),
		DeviceType: maybe(e.DeviceType), SubDevice: maybe(e.SubDevice), Details: record.Details}
	if t.Details == nil {
		t.Details = map[string]json.RawMessage{}
	}
	t.DeviceID = t.Details["device_id"]
	for _, above := range []string{"meeting_space_id", "device", "device_id"} {
		delete(t.Details, above)
	}
	if e.DeviceType == "" {
		return t
	}
	for _, name := range []string{"value", "previous"} {
		var value string
		if json.Unmarshal(t.Details[name], &value) == nil && value != "" {
			t.Details[name], _ = json.Marshal(typed(e.SubDevice, value)) // a number, a word, true or false
		}
	}
	if e.SubDevice == drivers.SubTemperature {
		t.Details["unit"] = json.RawMessage(`"` + celsius + `"`)
	}
	return t
}

func cursorOf(at uint64) string { return strconv.FormatUint(at, 10) }

// record is an event as the version has it.
func (c *call) record(e eventlog.Event) json.RawMessage {
	if !c.v2 {
		return e.Record
	}
	record, _ := json.Marshal(newTypedEvent(e)) // of texts and what was JSON
	return record
}

// typedEvents answers with a page of events. There may always be more to come,
// so there is always a cursor.
func (c *call) typedEvents(found []eventlog.Event, cursor uint64) error {
	p := page[json.RawMessage]{make([]json.RawMessage, len(found)), maybe(cursorOf(cursor))}
	for i, e := range found {
		p.Items[i] = c.record(e)
	}
	return c.json(http.StatusOK, p)
}
