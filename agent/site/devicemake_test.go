package site

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

func TestDeviceMadeWhileTheBuildingRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, hardware := t.TempDir(), moreHardware()
		r := startRig(t, rigOptions{dir: dir, bench: hardware})
		r.wait(5 * time.Second)
		polled := hardware["light-1"].Polls()
		document := json.RawMessage(`{"type":"o3-sensor","driver":"scripted-hub","poll":"2s","options":{"name":"hub-2"}}`)
		info, err := r.AddDevice(t.Context(), otherRoom, "hub-2", document, "test")
		if err != nil || info.ID != "hub-2" || info.SpaceName != "Borealis" || !info.Enabled {
			t.Fatalf("it is %+v, %v", info, err)
		}
		if d := r.Now().Device("hub-2"); d == nil || !d.Seen() {
			t.Error("it was not observed")
		}
		r.wait(3 * time.Second)
		if got := r.status(otherRoom, drivers.TypeO3, drivers.SubTemperature); got.Value != "20" || got.Status != device.Normal {
			t.Errorf("it is %+v", got)
		}
		ring := device.Command{ID: "c1", Space: otherRoom, DeviceType: drivers.TypeO3, SubDevice: drivers.SubRing, Action: drivers.ActOn}
		if receipt, err := r.Site.o.Commands.Do(t.Context(), ring); err != nil || receipt.State != device.Done {
			t.Errorf("an order: %+v, %v", receipt, err)
		}
		if hardware["light-1"].Opened() != 1 || hardware["light-1"].Polls() == polled {
			t.Errorf("the others were disturbed: opened %d times", hardware["light-1"].Opened())
		}
		if !slices.Contains(r.told(), "deviceCreated o3-sensor") {
			t.Errorf("told %v", r.told())
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir, bench: hardware})
		r.wait(3 * time.Second)
		if got := r.status(otherRoom, drivers.TypeO3, drivers.SubTemperature); got.Value != "20" {
			t.Errorf("after a restart it is %+v", got)
		}
		if err := r.RemoveDevice(t.Context(), "hub-2", "test"); err != nil {
			t.Fatal(err)
		}
		_, err = r.Status(otherRoom, drivers.TypeO3, "")
		r.refuses("removed, its status", problem.NotFound, "device_type", err)
		r.wait(time.Second)
		polls := hardware["hub-2"].Polls()
		r.wait(time.Minute)
		if n := hardware["hub-2"].Polls() - polls; n > 0 {
			t.Errorf("it was polled %d times after it was removed", n)
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir, bench: hardware})
		_, err = r.Status(otherRoom, drivers.TypeO3, "")
		r.refuses("after another restart", problem.NotFound, "device_type", err)
	})
}

func TestDeviceThatCannotBeMade(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{bench: moreHardware()})
		r.wait(time.Second)
		hub := `{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`
		for _, test := range []struct {
			space, id, document string
			code                problem.Code
			field               string
		}{
			{"nowhere", "", hub, problem.NotFound, "meeting_space_id"},
			{otherRoom, "hub-1", hub, problem.Conflict, "id"},
			{otherRoom, "a b", hub, problem.Invalid, "id"},
			{room, "hub-2", hub, problem.Invalid, "type"}, // there is one
			{otherRoom, "", `{"type":"o3-sensor","driver":"scripted"}`, problem.Invalid, "driver"},
			{otherRoom, "", `{"type":"o3-sensor","driver":"scripted-hub","options":{"nam":"x"}}`, problem.Invalid, "options.nam"},
			{otherRoom, "", `{"type":"o3-sensor","driver":"scripted-hub","poll":"1ms"}`, problem.Invalid, "poll"},
		} {
			_, err := r.AddDevice(t.Context(), test.space, test.id, json.RawMessage(test.document), "test")
			r.refuses(test.document, test.code, test.field, err)
		}
		r.refuses("one of the file", problem.NotNow, "device_id", r.RemoveDevice(t.Context(), "light-1", "test"))
		r.refuses("none", problem.NotFound, "device_id", r.RemoveDevice(t.Context(), "nothing", "test"))
		_, err := r.SetSensor(t.Context(), "hub-1", drivers.SubTemperature, json.RawMessage(`{"dialect":"shelly"}`), "test")
		r.refuses("a sensor of a hub that has its own", problem.Invalid, "device_id", err)
		_, err = r.SetSensor(t.Context(), "hub-1", "humidity", json.RawMessage(`{}`), "test")
		r.refuses("a sensor that nothing has", problem.Invalid, "sub_device", err)
		if all, _ := r.Devices(""); len(all) != 3 {
			t.Errorf("there are %d devices", len(all))
		}
	})
}

// TestCommandsForARemovedDevice: one that is under way is carried out, one that
// waits behind it is refused, with a receipt each.
func TestCommandsForARemovedDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hardware := moreHardware()
		r := startRig(t, rigOptions{bench: hardware})
		r.wait(time.Second)
		_, err := r.AddDevice(t.Context(), otherRoom, "hub-2", json.RawMessage(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`), "test")
		if err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		hardware["hub-2"].Set("hang")
		var ids []string
		for _, id := range []string{"c1", "c2", "c3"} {
			c := device.Command{ID: id, Space: otherRoom, DeviceType: drivers.TypeO3, SubDevice: drivers.SubRing, Action: drivers.ActOn, TTL: time.Hour}
			if _, err := r.Site.o.Commands.Accept(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if err := r.RemoveDevice(t.Context(), "hub-2", "test"); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Minute)
		close(hardware["hub-2"].Release)
		r.wait(time.Minute)
		for _, id := range ids {
			if receipt, err := r.Site.o.Commands.Find(id); err != nil || receipt.State == device.Accepted {
				t.Errorf("%s: the receipt is %+v, %v", id, receipt, err)
			}
		}
	})
}

func TestPermissionsOfADevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		only := []device.Permission{{Action: drivers.ActOn, Allow: []string{device.AllowAdmin}}}
		if info := r.setDevice("light-1", device.Settings{Permissions: &only}); len(info.Permissions) != 1 {
			t.Errorf("it is %+v", info)
		}
		person := access.Principal{Kind: access.KindUser}
		for _, test := range []struct {
			who    access.Principal
			action string
			ok     bool
		}{
			{person, drivers.ActOn, false}, {person, drivers.ActOff, true}, {access.Principal{Kind: access.KindUser, Admin: true}, drivers.ActOn, true},
			{access.Principal{Kind: access.KindOrganization}, drivers.ActOn, false}, {access.Principal{Kind: access.KindSystem, Admin: true}, drivers.ActOn, true},
		} {
			err := r.Permits(test.who, room, drivers.TypeLight, "", test.action)
			if (err == nil) != test.ok {
				t.Errorf("%s of %+v: %v", test.action, test.who, err)
			}
		}
		for _, wrong := range []device.Permission{{Action: "fly"}, {Action: drivers.ActOn, Allow: []string{"cat"}}, {SubDevice: "ring-light", Action: drivers.ActOn}} {
			_, err := r.SetDevice(t.Context(), "light-1", device.Settings{Permissions: &[]device.Permission{wrong}}, false, "test")
			r.refuses(wrong.Action, problem.Invalid, "permissions", err)
		}
	})
}
