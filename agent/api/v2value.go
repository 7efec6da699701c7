package api

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
)

// The units of values.
const (
	celsius = "°C"
	percent = "%"
)

// typedReading is what is known of a device or a sub-device, of V2.0. Value and
// what goes with it is what holds now: it is null for what is not known any
// more, so that nobody shows it as fresh.
type typedReading struct {
	Value      any            `json:"value"` // see typed
	Unit       string         `json:"unit,omitempty"`
	Intensity  *quantity      `json:"intensity,omitempty"` // of a light or a fan
	Status     string         `json:"status"`
	Stale      bool           `json:"stale"`      // it is offline: value is not known
	LastValue  any            `json:"last_value"` // what was seen last, at observed_at
	ObservedAt moment         `json:"observed_at"`
	AgeS       *seconds       `json:"age_s"` // since then; null: it never was
	Source     maybe          `json:"source"`
	Reason     string         `json:"reason,omitempty"` // why it is offline
	Details    map[string]any `json:"details,omitempty"`
}

// quantity is a number with its unit.
type quantity struct {
	Value any    `json:"value"`
	Unit  string `json:"unit"`
}

func newTypedReading(r device.Reading) typedReading {
	t := typedReading{Unit: unit(r.Device), Status: r.Status, Stale: r.Status == device.Offline, LastValue: typed(r.Device, r.Value),
		ObservedAt: moment(r.ObservedAt), Source: maybe(r.Source), Reason: r.Reason}
	if !r.ObservedAt.IsZero() {
		age := seconds(max(0, time.Since(r.ObservedAt))) // a clock that was set back makes nothing younger than now
		t.AgeS = &age
	}
	if t.Stale {
		return t
	}
	t.Value = t.LastValue
	t.Intensity, t.Details = details(r.Details)
	return t
}

// details are those of a reading, without the one that is a value with a unit.
func details(all map[string]any) (intensity *quantity, others map[string]any) {
	for name, v := range all {
		if name == drivers.ActIntensity {
			intensity = &quantity{v, percent}
			continue
		}
		if others == nil {
			others = map[string]any{}
		}
		others[name] = v
	}
	return intensity, others
}

// typed is the text of a status record as a value: a number for a temperature,
// true or false for what is on or off, the word for a lock and for occupancy.
// It is nil where there is none.
func typed(device, value string) any {
	switch {
	case device == drivers.SubTemperature:
		if n, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return n
		}
		return nil
	case value == drivers.On:
		return true
	case value == drivers.Off:
		return false
	case value == "":
		return nil
	}
	return value
}

func unit(device string) string {
	if device == drivers.SubTemperature {
		return celsius
	}
	return ""
}

// seconds are written as a number, to the millisecond.
type seconds time.Duration

// MarshalJSON writes the number.
func (s seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Duration(s).Milliseconds())/1000, 'f', -1, 64), nil
}

// maybe is a text that is null if there is none.
type maybe string

// MarshalJSON writes the text.
func (m maybe) MarshalJSON() ([]byte, error) {
	if m == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(m))
}

// decodeSeconds reads a number of seconds.
func decodeSeconds(into **time.Duration, field string, value []byte) error {
	var n *float64
	if err := decodeNumber(&n)(field, value); err != nil {
		return err
	}
	*into = new(time.Duration(math.Round(max(-1, min(*n, 1e6))*1000)) * time.Millisecond) // what is taken is less
	return nil
}

// durations turns numbers of seconds into what V1.0 has for them.
func durations(given map[string]*json.RawMessage) error {
	for field, value := range given {
		if *value == nil {
			continue
		}
		var d *time.Duration
		if err := decodeSeconds(&d, field, *value); err != nil {
			return err
		}
		*value, _ = json.Marshal(d.String())
	}
	return nil
}
