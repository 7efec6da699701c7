package site

import (
	"testing"

	"roomgate/agent/device"
	"roomgate/agent/problem"
)

func (r *rig) setDevice(id string, s device.Settings) device.Info {
	r.t.Helper()
	info, err := r.SetDevice(r.t.Context(), id, s, false, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	return info
}

func TestSettingsOfADeviceThatIsNotThere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		_, err := r.SetDevice(t.Context(), "nothing", device.Settings{}, false, "test")
		r.refuses("a device that is not there", problem.NotFound, "device_id", err)
	})
}
