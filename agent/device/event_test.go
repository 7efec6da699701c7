package device

import (
	"encoding/json"
	"testing"
	"time"

	"roomgate/drivers"
)

func TestEventRecordIsThePlatforms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.stop()
		hub := r.byID("hub-1")
		at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
		line := hub.alert("temperatureAlert", Reading{Record: Record{"temperature", "31.5", High}, SubDevice: drivers.SubTemperature, ObservedAt: at})
		want := `{"eventType":"temperatureAlert","timestamp":"2026-01-02T02:04:05.678Z","details":{"meeting_space_id":"` + room + `",` +
			`"device":"temperature","device_id":"hub-1","high":28,"low":16,"status":"high","temperature":31.5}}`
		if string(line.Data) != want {
			t.Errorf("record\n%s\nwant\n%s", line.Data, want)
		}
		broken := hub.Event("odd", "", at, map[string]any{"x": func() {}})
		if !json.Valid(broken.Data) {
			t.Errorf("details that JSON cannot say give %q", broken.Data)
		}
	})
}
