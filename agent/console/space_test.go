package console

import (
	"testing"

	"roomgate/agent/device"
	"roomgate/drivers"
)

// TestWhatIsToldOfADevice: a hub that is gone is said once, not once for each part; a part
// that fails by itself is said.
func TestWhatIsToldOfADevice(t *testing.T) {
	reading := func(sub, value, status, why string) device.Reading {
		r := device.Reading{SubDevice: sub}
		r.Value, r.Status, r.Reason = value, status, why
		return r
	}
	for name, c := range map[string]struct {
		kind string
		all  []device.Reading
		want string
	}{
		"well":       {drivers.TypeO3, []device.Reading{reading("", "", device.Online, ""), reading("temperature", "21.5", device.Online, "")}, "temperature "},
		"gone":       {drivers.TypeO3, []device.Reading{reading("", "", device.Offline, "no answer"), reading("temperature", "", device.Offline, "no answer"), reading("occupancy", "", device.Offline, "no answer")}, " "},
		"one part":   {drivers.TypeO3, []device.Reading{reading("", "", device.Online, ""), reading("temperature", "", device.Offline, "it says nothing"), reading("occupancy", "vacant", device.Online, "")}, "temperature occupancy "},
		"other part": {drivers.TypeO3, []device.Reading{reading("", "", device.Offline, "no answer"), reading("temperature", "", device.Offline, "it is broken")}, " temperature "},
		"lock":       {drivers.TypeLock, []device.Reading{reading("", "closed", device.Online, "")}, " "},
	} {
		got := ""
		for _, r := range told(c.kind, c.all) {
			got += r.SubDevice + " "
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
