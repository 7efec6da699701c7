package device

import (
	"slices"
	"testing"
	"time"

	"roomgate/agent/device/devicetest"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

func TestDisabledDeviceRestsAndRecovers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hardware := devicetest.NewBench()
		r := startRig(t, rigOptions{bench: hardware})
		r.wait(time.Second)
		if info := r.setDevice("light-1", Settings{Enabled: new(bool)}); info.Enabled {
			t.Errorf("it says %+v", info)
		}
		light := func(when string) {
			t.Helper()
			got, err := r.statusOf(room, drivers.TypeLight, "")
			if err != nil || got.Status != Offline || got.Value != drivers.Off || got.Reason != disabledReason {
				t.Errorf("%s it is %+v, %v", when, got, err)
			}
		}
		light("at once")
		if _, err := r.Do(t.Context(), lightOn("c1")); AsError(err).Code != problem.NotNow {
			t.Errorf("a command: %v", err)
		}
		r.wait(time.Second)
		polls := hardware["light-1"].Polls()
		r.wait(time.Hour)
		light("an hour later")
		if n := hardware["light-1"].Polls(); n != polls {
			t.Errorf("it was polled %d times while disabled", n-polls)
		}
		if r.stuck() {
			t.Error("it counts as stuck")
		}
		r = r.again()
		r.wait(time.Minute)
		light("after a restart")
		if !r.ready() {
			t.Error("the building waits for it")
		}
		hardware["light-1"].Show("", drivers.On)
		on := true
		r.setDevice("light-1", Settings{Enabled: &on})
		if r.stuck() {
			t.Error("right after it was enabled")
		}
		r.wait(time.Second)
		if got := r.status(room, drivers.TypeLight, ""); got != (Record{"light", "on", "online"}) {
			t.Errorf("after it was enabled it is %v", got)
		}
		if receipt, err := r.Do(t.Context(), lightOn("c2")); err != nil || receipt.State != Done {
			t.Errorf("a command after it was enabled: %+v, %v", receipt, err)
		}
		want := []string{"deviceDisabled light", "deviceEnabled light", "deviceOnline light", "statusChanged light", "commandCompleted light"}
		if told := r.told(); !slices.Equal(told[len(told)-len(want):], want) {
			t.Errorf("told %q, want %q at the end", told, want)
		}
	})
}

// What a call under way still brings is not shown, and commands that wait are
// refused.
func TestDisabledInTheMiddleOfACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		light := r.bench["light-1"]
		light.Set("hang")
		first, err := r.Begin(t.Context(), lightOn("c1"))
		if err != nil {
			t.Fatal(err)
		}
		r.wait(100 * time.Millisecond)
		second, err := r.Begin(t.Context(), lightOn("c2"))
		if err != nil {
			t.Fatal(err)
		}
		r.setDevice("light-1", Settings{Enabled: new(bool)})
		light.Set("")
		close(light.Release)
		<-first.done
		<-second.done
		if got, _ := r.statusOf(room, drivers.TypeLight, ""); got.Status != Offline || got.Reason != disabledReason {
			t.Errorf("after the call came back it is %+v", got)
		}
		if second.receipt.State == Done && len(light.Effects()) < 2 {
			t.Errorf("the command behind it: %+v", second.receipt)
		}
		r.wait(time.Minute)
		if got, _ := r.statusOf(room, drivers.TypeLight, ""); got.Reason != disabledReason {
			t.Errorf("a minute later it is %+v", got)
		}
	})
}

func TestCommandInTheLaneOfADisabledDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{}) // nobody serves the lane yet
		d := r.byID("light-1")
		driver, err := d.Options.Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		description := driver.Describe()
		d.description.Store(&description)
		o, err := r.Begin(t.Context(), lightOn("c1"))
		if err != nil {
			t.Fatal(err)
		}
		r.setDevice("light-1", Settings{Enabled: new(bool)})
		r.run()
		<-o.done
		if o.receipt.State != Rejected || o.receipt.Code != problem.NotNow || len(r.bench["light-1"].Effects()) > 0 {
			t.Errorf("it ended as %+v", o.receipt)
		}
	})
}

func TestSettingsOverTheConfiguration(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hardware := devicetest.NewBench()
		r := startRig(t, rigOptions{bench: hardware})
		r.wait(time.Second)
		poll, high := 10*time.Second, 20.0
		r.setDevice("hub-1", Settings{Poll: &poll, AlertHigh: &high})
		r.wait(time.Second)
		if got := r.status(room, drivers.TypeO3, drivers.SubTemperature); got.Status != High {
			t.Errorf("21.5 °C with a limit of 20 is %v", got)
		}
		polls := hardware["hub-1"].Polls()
		r.wait(time.Minute)
		if n := hardware["hub-1"].Polls() - polls; n != 6 {
			t.Errorf("it was polled %d times in a minute, want each 10 s", n)
		}
		r = r.again()
		r.wait(time.Second)
		if hub := r.byID("hub-1").Info(""); hub.Poll != "10s" || hub.Alert != (AlertRange{16, 20, 0.5}) || !hub.Enabled {
			t.Errorf("after a restart it is %+v", hub)
		}
		hub := r.byID("hub-1")
		err := hub.Change(t.Context(), Settings{}, true, "test")
		if info := hub.Info(""); err != nil || info.Poll != "2s" || info.Alert.High != 28 {
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
		for field, s := range map[string]Settings{
			"poll":             {Poll: at(time.Millisecond)},
			"alert.low":        {AlertLow: degrees(-41)},
			"alert.high":       {AlertHigh: degrees(15)},
			"alert.hysteresis": {AlertHysteresis: degrees(7)},
		} {
			if err := r.byID("hub-1").Change(t.Context(), s, false, "test"); AsError(err).Code != problem.Invalid || AsError(err).Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		if info := r.byID("hub-1").Info(""); info.Alert != (AlertRange{16, 28, 0.5}) {
			t.Errorf("something was changed: %+v", info)
		}
	})
}
