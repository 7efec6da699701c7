package agent

import (
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
	"roomgate/store"
)

func lightOn(id string) device.Command {
	return device.Command{ID: id, Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn, Via: device.ViaHTTP}
}

// What devices have in the store, for tests that need it otherwise than it comes to be.
var (
	storedCommands = store.NewTable[device.Stored]("commands")
	recentCommands = store.NewTable[device.Stored]("recent-commands") // those that are over, by "over/" and the id
	cloudAges      = store.NewQueue[string]("command-ages", 40_000, store.Refuse)
)

// The building is ready once every device was observed, or could not be, and its
// loops move while one is disabled.
func TestReadyAndProgress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench()
		b["light-1"].set("vanish")
		r := openRig(t, rigOptions{bench: b})
		if err := r.Health.Ready(); err == nil {
			t.Error("ready before any device was observed")
		}
		r.run()
		r.wait(time.Second)
		if err := r.Health.Ready(); err != nil {
			t.Errorf("a missing device keeps the building from being ready: %v", err)
		}
		r.enable("light-2", false)
		r.wait(time.Hour)
		if err := r.Health.Progress(); err != nil {
			t.Errorf("a disabled device counts as stuck: %v", err)
		}
		r.enable("light-2", true)
		if err := r.Health.Progress(); err != nil {
			t.Errorf("right after it was enabled: %v", err)
		}
	})
}

func (r *rig) enable(id string, on bool) {
	r.t.Helper()
	if _, err := r.Site.SetDevice(r.t.Context(), id, device.Settings{Enabled: &on}, false, "test"); err != nil {
		r.t.Fatal(err)
	}
}

func TestStuckDeviceDoesNotKeepTheBuildingFromStopping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		r.bench["light-1"].set("hang")
		r.wait(3 * time.Second)
		begin := time.Now()
		r.stop()
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("stopping took %v beside a hanging device", took)
		}
		close(r.bench["light-1"].release)
	})
}
