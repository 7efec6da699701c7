package device

import (
	"slices"
	"testing"
	"time"

	"roomgate/agent/device/devicetest"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

func TestDevicesAreObservedAndToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		if r.ready() {
			t.Error("ready before any device was observed")
		}
		r.run()
		r.wait(time.Second)
		if !r.ready() {
			t.Error("not ready")
		}
		if got, want := r.status(room, drivers.TypeLight, ""), (Record{"light", "off", "online"}); got != want {
			t.Errorf("light is %v, want %v", got, want)
		}
		if got, want := r.status(room, drivers.TypeO3, "temprature"), (Record{"temperature", "21.5", "normal"}); got != want {
			t.Errorf("temperature is %v, want %v", got, want)
		}
		before := r.db.Stats().Commits
		r.wait(time.Minute)
		if after := r.db.Stats().Commits; after != before {
			t.Errorf("a minute without a change cost %d commits, want none", after-before)
		}
		if told := r.told(); len(told) != 7 || slices.ContainsFunc(told, func(e string) bool { return e[:len("deviceOnline")] != "deviceOnline" }) {
			t.Errorf("told %q, want each of 7 devices online once", told)
		}
	})
}

func TestBrokenDeviceIsOfflineWithinThreePollsAndHurtsNobody(t *testing.T) {
	for _, fault := range []string{"hang", "panic", "lie", "vanish", "flaky"} {
		t.Run(fault, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startRig(t, rigOptions{})
				r.wait(time.Second)
				r.bench["light-1"].Set(fault)
				r.wait(3 * 3 * time.Second) // three polls of 2 s, each up to its time-out
				if got := r.status(room, drivers.TypeLight, ""); got.Status != Offline || got.Value != "off" {
					t.Errorf("light is %v, want offline with its last value", got)
				}
				for _, other := range []Record{r.status(room, drivers.TypeO3, ""), r.status(otherRoom, drivers.TypeLight, "")} {
					if other.Status != Online {
						t.Errorf("%v suffers too", other)
					}
				}
				polled := r.bench["light-2"].Polls()
				r.wait(20 * time.Second)
				if pace := r.bench["light-2"].Polls() - polled; pace != 10 {
					t.Errorf("the other light was polled %d times in 20 s, want 10", pace)
				}
				r.bench["light-1"].Set("")
				close(r.bench["light-1"].Release)
				r.wait(2 * maxPause)
				if got := r.status(room, drivers.TypeLight, ""); got.Status != Online {
					t.Errorf("light is %v after the fault, want online", got)
				}
				if told := r.told(); !slices.Contains(told, "deviceOffline light") || told[len(told)-1] != "deviceOnline light" {
					t.Errorf("told %q, want light offline, then online", told)
				}
			})
		})
	}
}

func TestDeviceThatAppearsLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := devicetest.NewBench()
		b["light-1"].Set("vanish")
		r := startRig(t, rigOptions{bench: b})
		r.wait(time.Second)
		if !r.ready() {
			t.Error("a missing device keeps the building from being ready")
		}
		if _, err := r.Do(t.Context(), Command{Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn}); AsError(err).Code != problem.Unavailable {
			t.Errorf("command to a missing device: %v, want %s", err, problem.Unavailable)
		}
		b["light-1"].Set("")
		r.wait(2 * maxPause)
		if got := r.status(room, drivers.TypeLight, ""); got.Status != Online {
			t.Errorf("light is %v, want online", got)
		}
	})
}

func TestStaleStatusIsNeverShownAsFresh(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		r.stop() // nobody renews it any more
		r.wait(time.Minute)
		if got := r.status(room, drivers.TypeLight, ""); got.Status != Offline {
			t.Errorf("light is %v a minute after its last observation, want offline", got)
		}
	})
}

func TestReadingsSurviveARestartWithoutPretending(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := devicetest.NewBench()
		r := startRig(t, rigOptions{bench: b})
		r.wait(time.Second)
		r.stop()
		b["light-1"].Show("", drivers.On) // somebody presses the switch meanwhile
		r = openRig(t, r.o)
		if got, want := r.status(room, drivers.TypeLight, ""), (Record{"light", "off", "offline"}); got != want {
			t.Errorf("before the first poll light is %v, want %v", got, want)
		}
		r.run()
		r.wait(time.Second)
		told := r.told()
		if len(told) != 8 || told[7] != "statusChanged light" {
			t.Errorf("told %q, want only the changed light after the restart", told)
		}
	})
}

func TestTemperatureAlerts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		from := len(r.told())
		for _, step := range []struct{ value, status string }{
			{"28.0", Normal}, {"28.1", High}, {"27.7", High}, {"27.5", Normal}, {"15.9", Low}, {"16.4", Low}, {"16.5", Normal}, {"16.8", Normal},
		} {
			r.bench["hub-1"].Show(drivers.SubTemperature, step.value)
			r.wait(2 * time.Second)
			if got := r.status(room, drivers.TypeO3, drivers.SubTemperature); got.Status != step.status || got.Value != step.value {
				t.Errorf("at %s °C: %v, want %s", step.value, got, step.status)
			}
		}
		want := []string{"statusChanged", "temperatureAlert", "statusChanged", "temperatureNormal", "statusChanged", "temperatureAlert", "statusChanged", "temperatureNormal"}
		var got []string
		for _, e := range r.told()[from:] {
			got = append(got, e[:len(e)-len(" temperature")])
		}
		if !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestSubDeviceFailsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		r.bench["hub-1"].Drop(drivers.SubOccupancy)
		r.wait(3 * 2 * time.Second)
		if got := r.status(room, drivers.TypeO3, drivers.SubOccupancy); got.Status != Offline {
			t.Errorf("occupancy is %v, want offline", got)
		}
		if got := r.status(room, drivers.TypeO3, drivers.SubTemperature); got.Status != Normal {
			t.Errorf("temperature is %v, want normal", got)
		}
	})
}

func TestStuckDeviceDoesNotKeepTheBuildingFromStopping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		r.bench["light-1"].Set("hang")
		r.wait(3 * time.Second)
		begin := time.Now()
		r.stop()
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("stopping took %v beside a hanging device", took)
		}
		close(r.bench["light-1"].Release)
	})
}
