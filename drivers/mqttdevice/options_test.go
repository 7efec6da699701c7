package mqttdevice

import (
	"errors"
	"testing"

	"roomgate/drivers"
)

// TestPartsAndWordsAreChecked: what a dialect or a device has no use for is refused
// by its name.
func TestPartsAndWordsAreChecked(t *testing.T) {
	for _, c := range []struct {
		kind   string
		change func(*Options)
		field  string // empty: it is right
	}{
		{"light-zigbee2mqtt", func(o *Options) { o.Endpoint = "l1" }, ""},
		{"fan-zigbee2mqtt", func(o *Options) { o.TopSpeed = 254 }, ""},
		{"fan-zigbee2mqtt", func(o *Options) { o.Endpoint, o.OnOff = "left", true }, ""},
		{"light-tasmota", func(o *Options) { o.StateOn, o.StateOff = "AN", "AUS" }, ""},
		{"light-zigbee2mqtt", func(o *Options) { o.Endpoint = "Left!" }, "endpoint"},
		{"lock-zigbee2mqtt", func(o *Options) { o.Endpoint = "left" }, "endpoint"},
		{"light-tasmota", func(o *Options) { o.Endpoint = "left" }, "endpoint"},
		{"light-zigbee2mqtt", func(o *Options) { o.TopSpeed = 254 }, "top_speed"},
		{"fan-zigbee2mqtt", func(o *Options) { o.TopSpeed = 256 }, "top_speed"},
		{"fan-zigbee2mqtt", func(o *Options) { o.TopSpeed, o.Speeds = 254, 9 }, "top_speed"},
		{"fan-zigbee2mqtt", func(o *Options) { o.TopSpeed, o.OnOff = 254, true }, "top_speed"},
		{"light-tasmota", func(o *Options) { o.StateOn = "AN" }, "state_on"},
		{"light-tasmota", func(o *Options) { o.StateOn, o.StateOff = "an", "AN" }, "state_on"},
		{"light-zigbee2mqtt", func(o *Options) { o.StateOn, o.StateOff = "AN", "AUS" }, "state_on"},
	} {
		for _, k := range Kinds() {
			if k.Name != c.kind {
				continue
			}
			o := k.Options().(*Options)
			o.Topic = "zigbee2mqtt/x"
			c.change(o)
			err := o.Check()
			var refused *drivers.FieldError
			if c.field == "" && err != nil || c.field != "" && (!errors.As(err, &refused) || refused.Field != c.field) {
				t.Errorf("%s %+v: %v, want %q", c.kind, o, err, c.field)
			}
		}
	}
}
