package agent

import (
	"slices"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

func (r *rig) setDevice(id string, s DeviceSettings) DeviceInfo {
	r.t.Helper()
	info, err := r.SetDevice(r.t.Context(), id, s, false, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	return info
}

func TestDisabledDeviceRestsAndRecovers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, hardware := t.TempDir(), newBench()
		r := startRig(t, rigOptions{dir: dir, bench: hardware})
		r.wait(time.Second)
		if info := r.setDevice("light-1", DeviceSettings{Enabled: new(bool)}); info.Enabled {
			t.Errorf("it says %+v", info)
		}
		light := func(when string) {
			t.Helper()
			got, err := r.Status(room, drivers.TypeLight, "")
			if err != nil || got.Status != Offline || got.Value != drivers.Off || got.Reason != disabledReason {
				t.Errorf("%s it is %+v, %v", when, got, err)
			}
		}
		light("at once")
		if _, err := r.Do(t.Context(), lightOn("c1")); AsError(err).Code != NotNow {
			t.Errorf("an order: %v", err)
		}
		r.wait(time.Second)
		polls := hardware["light-1"].polls()
		r.wait(time.Hour)
		light("an hour later")
		if n := hardware["light-1"].polls(); n != polls {
			t.Errorf("it was polled %d times while disabled", n-polls)
		}
		if err := r.Progress(); err != nil {
			t.Errorf("it counts as stuck: %v", err)
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir, bench: hardware})
		r.wait(time.Minute)
		light("after a restart")
		if err := r.Ready(); err != nil {
			t.Errorf("the building waits for it: %v", err)
		}
		hardware["light-1"].show("", drivers.On)
		on := true
		r.setDevice("light-1", DeviceSettings{Enabled: &on})
		if err := r.Progress(); err != nil {
			t.Errorf("right after it was enabled: %v", err)
		}
		r.wait(time.Second)
		if got := r.status(room, drivers.TypeLight, ""); got != (Record{"light", "on", "online"}) {
			t.Errorf("after it was enabled it is %v", got)
		}
		if receipt, err := r.Do(t.Context(), lightOn("c2")); err != nil || receipt.State != Done {
			t.Errorf("an order after it was enabled: %+v, %v", receipt, err)
		}
		want := []string{"deviceDisabled light", "deviceEnabled light", "deviceOnline light", "statusChanged light", "commandCompleted light"}
		if told := r.told(); !slices.Equal(told[len(told)-len(want):], want) {
			t.Errorf("told %q, want %q at the end", told, want)
		}
	})
}

// What a call under way still brings is not shown, and orders that wait are
// refused.
func TestDisabledInTheMiddleOfACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		light := r.bench["light-1"]
		light.set("hang")
		first, _, err := r.accept(t.Context(), lightOn("c1"))
		if err != nil {
			t.Fatal(err)
		}
		r.wait(100 * time.Millisecond)
		second, _, err := r.accept(t.Context(), lightOn("c2"))
		if err != nil {
			t.Fatal(err)
		}
		r.setDevice("light-1", DeviceSettings{Enabled: new(bool)})
		light.set("")
		close(light.release)
		<-first.done
		<-second.done
		if got, _ := r.Status(room, drivers.TypeLight, ""); got.Status != Offline || got.Reason != disabledReason {
			t.Errorf("after the call came back it is %+v", got)
		}
		if second.receipt.State == Done && len(light.effects()) < 2 {
			t.Errorf("the order behind it: %+v", second.receipt)
		}
		r.wait(time.Minute)
		if got, _ := r.Status(room, drivers.TypeLight, ""); got.Reason != disabledReason {
			t.Errorf("a minute later it is %+v", got)
		}
	})
}

func TestOrderInTheLaneOfADisabledDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{}) // nobody serves the lane yet
		d := r.find(room).byType[drivers.TypeLight]
		description := (&scriptDriver{r.bench["light-1"]}).Describe()
		d.description.Store(&description)
		o, _, err := r.accept(t.Context(), lightOn("c1"))
		if err != nil {
			t.Fatal(err)
		}
		r.setDevice("light-1", DeviceSettings{Enabled: new(bool)})
		r.run()
		<-o.done
		if o.receipt.State != Rejected || o.receipt.Code != NotNow || len(r.bench["light-1"].effects()) > 0 {
			t.Errorf("it ended as %+v", o.receipt)
		}
	})
}

func TestSettingsOverTheConfiguration(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, hardware := t.TempDir(), newBench()
		r := startRig(t, rigOptions{dir: dir, bench: hardware})
		r.wait(time.Second)
		poll, high := 10*time.Second, 20.0
		r.setDevice("hub-1", DeviceSettings{Poll: &poll, AlertHigh: &high})
		r.wait(time.Second)
		if got := r.status(room, drivers.TypeO3, drivers.SubTemperature); got.Status != High {
			t.Errorf("21.5 °C with a limit of 20 is %v", got)
		}
		polls := hardware["hub-1"].polls()
		r.wait(time.Minute)
		if n := hardware["hub-1"].polls() - polls; n != 6 {
			t.Errorf("it was polled %d times in a minute, want each 10 s", n)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir, bench: hardware})
		r.wait(time.Second)
		all, _ := r.Devices(room)
		if hub := all[1]; hub.Poll != "10s" || hub.Alert != (AlertRange{16, 20, 0.5}) || !hub.Enabled {
			t.Errorf("after a restart it is %+v", hub)
		}
		if info, err := r.SetDevice(t.Context(), "hub-1", DeviceSettings{}, true, "test"); err != nil || info.Poll != "2s" || info.Alert.High != 28 {
			t.Errorf("as configured again: %+v, %v", info, err)
		}
		r.wait(5 * time.Second)
		if got := r.status(room, drivers.TypeO3, drivers.SubTemperature); got.Status != Normal {
			t.Errorf("as configured again it is %v", got)
		}
	})
}

func TestSettingsThatNoDeviceCanRunWith(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		at := func(d time.Duration) *time.Duration { return &d }
		degrees := func(c float64) *float64 { return &c }
		for field, s := range map[string]DeviceSettings{
			"poll":             {Poll: at(time.Millisecond)},
			"alert.low":        {AlertLow: degrees(-41)},
			"alert.high":       {AlertHigh: degrees(15)},
			"alert.hysteresis": {AlertHysteresis: degrees(7)},
		} {
			if _, err := r.SetDevice(t.Context(), "hub-1", s, false, "test"); AsError(err).Code != Invalid || AsError(err).Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		if _, err := r.SetDevice(t.Context(), "nothing", DeviceSettings{}, false, "test"); AsError(err).Field != "device_id" {
			t.Errorf("a device that is not there: %v", err)
		}
		if all, _ := r.Devices(room); all[1].Alert != (AlertRange{16, 28, 0.5}) {
			t.Errorf("something was changed: %+v", all[1])
		}
	})
}

// A device follows its schedule again once it is enabled, also one that the
// configuration disables.
func TestDisabledDeviceFollowsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: followed})
		r.wait(5 * time.Second)
		r.setDevice("light-1", DeviceSettings{Enabled: new(bool)})
		if _, _, err := r.Bookings.Create(t.Context(), booking.Booking{SpaceID: room, Source: booking.WalkUp}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Minute)
		if done := r.bench["light-1"].effects(); len(done) > 0 {
			t.Errorf("it was told to %q while disabled", done)
		}
		on := true
		r.setDevice("light-1", DeviceSettings{Enabled: &on})
		r.wait(time.Minute)
		if done := r.bench["light-1"].effects(); !slices.Equal(done, []string{"on"}) {
			t.Errorf("after it was enabled it was told to %q", done)
		}
	})
}
