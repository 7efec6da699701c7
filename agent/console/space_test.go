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

// TestReceiptsInWords: a command that reads no value back says none, and that of a lock is its bolt's.
func TestReceiptsInWords(t *testing.T) {
	for want, evidence := range map[string]*device.Evidence{
		"open done, read back as unlocked by sense line, at 14:20:00 via http": {Record: device.Record{Value: drivers.Open}, Source: "sense line", Details: map[string]any{"door": "shut"}},
		"open done, read back as locked, at 14:20:00 via http":                 {Record: device.Record{Value: drivers.Closed}},
		"open done, at 14:20:00 via http":                                      {Source: "page"},
	} {
		last := &device.Stored{Command: device.Command{DeviceType: drivers.TypeLock, Action: drivers.ActOpen, Via: "http"}, Receipt: device.Receipt{State: device.Done, ReceivedAt: at("14:20"), Evidence: evidence}}
		if got := receiptText(last, zone); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	for want, details := range map[string]map[string]any{"locked": nil, "locked, door open": {"door": "ajar"}, "locked, door shut": {"door": "shut"}} {
		if got := worded(drivers.TypeLock, drivers.Closed, details); got != want {
			t.Errorf("a door says %q, want %q", got, want)
		}
	}
}
