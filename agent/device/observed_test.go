package device

import (
	"errors"
	"slices"
	"testing"
	"time"

	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

func TestWhatIsKnownOfADevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		hub := r.byID("hub-1")
		if d := hub.Describe(); hub.Opened() || d.Type != drivers.TypeO3 || len(d.Subs) > 0 {
			t.Errorf("before it was opened: %+v", d)
		}
		hub.Excuse()
		if !hub.Seen() {
			t.Error("somebody still waits for it")
		}
		r.wait(time.Second)
		if all := hub.Readings(); len(all) != 5 || all[0].SubDevice != "" || slices.ContainsFunc(all, Reading.Offline) {
			t.Errorf("readings %+v", all)
		}
		if _, ok := hub.Reading("bulb"); ok {
			t.Error("it has a bulb")
		}
		if _, err := hub.Status("bulb"); problem.As(err) == nil || problem.As(err).Field != "sub_device" {
			t.Errorf("status of a bulb: %v", err)
		}
		temperature, _ := hub.Reading(drivers.SubTemperature)
		plain, wrapped := temperature.Encoded()
		if want := `{"device":"temperature","value":"21.5","status":"normal"}`; string(plain) != want || string(wrapped) != `{"response":`+want+`}` {
			t.Errorf("encoded %s and %s", plain, wrapped)
		}
		if d := hub.Describe(); !hub.Opened() || len(d.Subs) != 4 {
			t.Errorf("once it was opened: %+v", d)
		}
		r = r.again()
		if light := r.byID("light-1"); light.Before() != drivers.Off || light.Last() != nil {
			t.Errorf("of the run before: %q, %+v", light.Before(), light.Last())
		}
		if err := r.db.Update(t.Context(), func(tx *store.Tx) error { return Delete(tx, "light-1") }); err != nil {
			t.Fatal(err)
		}
		_ = r.db.View(func(tx *store.Tx) error {
			if _, err := readings.Get(tx, "light-1"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("what was forgotten is there: %v", err)
			}
			return nil
		})
	})
}

func TestPicture(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.stop()
		light := r.byID("light-1")
		if _, _, ok := light.Picture(); ok {
			t.Error("there is a picture already")
		}
		if err := light.KeepPicture(&drivers.Picture{ContentType: "image/png"}); err != nil {
			t.Fatal(err)
		}
		if p, at, ok := light.Picture(); !ok || p.ContentType != "image/png" || !at.Equal(time.Now()) {
			t.Errorf("the picture is %+v of %v", p, at)
		}
		r.setDevice("light-1", Settings{Enabled: new(bool)})
		if err := light.KeepPicture(&drivers.Picture{}); AsError(err).Code != problem.NotNow {
			t.Errorf("a picture of a disabled device: %v", err)
		}
	})
}

// TestWhatTheHardwareSays: a code goes to whoever judges codes and into no event;
// anything else that happens is told, and leads to a look at the device.
func TestWhatTheHardwareSays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		light, typed := r.byID("light-1"), ""
		light.entered = func(code drivers.Secret) bool { typed += string(code); return code != "card" }
		polls, from := r.bench["light-1"].Polls(), len(r.told())
		for _, e := range []drivers.Event{
			{Type: drivers.EventCodeEntered, Code: "4839", Time: time.Now()},
			{Type: drivers.EventCodeEntered, Code: "card", Time: time.Now()},
			{Type: drivers.EventChanged, Time: time.Now()},
		} {
			light.report(e)
		}
		r.wait(1500 * time.Millisecond)
		if told := r.told()[from:]; typed != "4839card" || !slices.Equal(told, []string{drivers.EventCodeEntered + " light"}) {
			t.Errorf("typed %q, told %q", typed, told)
		}
		if r.bench["light-1"].Polls() == polls {
			t.Error("nobody looked at the device")
		}
		r.setDevice("light-1", Settings{Enabled: new(bool)})
		typed, from = "", len(r.told())
		light.report(drivers.Event{Type: drivers.EventCodeEntered, Code: "4839"})
		r.wait(2 * time.Second)
		if typed != "" || len(r.told()) != from {
			t.Errorf("a disabled device: typed %q, told %q", typed, r.told()[from:])
		}
	})
}

// TestRemovedDeviceRefusesWhatWaits, also what comes when its loop has ended.
func TestRemovedDeviceRefusesWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.stop()
		waits, err := r.Begin(t.Context(), lightOn("c1"))
		if err != nil {
			t.Fatal(err)
		}
		r.byID("light-1").Remove()
		late, err := r.Begin(t.Context(), lightOn("c2"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Pending{waits, late} {
			<-p.Done()
			if receipt, err := p.Result(); err != nil || receipt.State != Rejected || receipt.Code != problem.NotFound || p.Command().Space != room {
				t.Errorf("%s: %+v, %v", p.Command().ID, receipt, err)
			}
		}
		if last := r.byID("light-1").Last(); last == nil || last.Command.ID != "c2" {
			t.Errorf("the last is %+v", last)
		}
	})
}

func TestPermissionsThatMeanNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		hub := r.byID("hub-1")
		for name, p := range map[string]Permission{
			"sub-device": {SubDevice: "bulb", Action: drivers.ActOn},
			"action":     {SubDevice: drivers.SubRing, Action: "explode"},
			"who":        {SubDevice: drivers.SubRing, Action: drivers.ActOn, Allow: []string{"everybody"}},
		} {
			if err := hub.CheckPermissions([]Permission{p}); AsError(err) == nil || AsError(err).Field != "permissions" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := hub.CheckPermissions(make([]Permission, MaxPermissions+1)); AsError(err) == nil {
			t.Error("there are too many")
		}
		good := []Permission{{SubDevice: drivers.SubRing, Action: drivers.ActOn, Allow: []string{AllowAdmin, AllowUser, AllowOrganization}}}
		if info := r.setDevice("hub-1", Settings{Permissions: &good}); len(info.Permissions) != 1 || len(hub.Live().Permissions()) != 1 {
			t.Errorf("it is %+v", info)
		}
		if r = r.again(); len(r.byID("hub-1").Live().Permissions()) != 1 {
			t.Error("a restart loses them")
		}
	})
}
