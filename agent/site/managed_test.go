package site

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	managedSpaces  = `[{"id":"` + newRoom + `","name":"Corvus"},{"id":"` + room + `","capacity":12}]`
	managedDevices = `[{"id":"door-3","meeting_space_id":"` + newRoom + `","type":"lock","driver":"scripted-lock","poll":"2s","options":{"name":"door-3"}}]`
)

// What the cloud manages comes, stays over a restart, and goes when it is not named
// any more; a kind that is not there stays as it is.
func TestManagedByTheCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		r.wait(3 * time.Second)
		light := r.Now().Device("light-1")
		if err := r.manage(managedSpaces, managedDevices); err != nil {
			t.Fatal(err)
		}
		if s := r.Find(room); s.Config.Capacity != 12 || s.Name != "Aurora" || s.Devices[0] != light {
			t.Errorf("the space of the file is %+v", s.Config)
		}
		r.wait(3 * time.Second)
		if got := r.status(newRoom, drivers.TypeLock, ""); got.Status != device.Online {
			t.Errorf("its door is %+v", got)
		}
		told := r.told()
		for _, want := range []string{"deviceCreated lock", "spaceCreated", "spaceChanged"} {
			if n := len(slices.DeleteFunc(slices.Clone(told), func(s string) bool { return s != want })); n != 1 {
				t.Errorf("%q was told %d times: %v", want, n, told)
			}
		}
		r.refuses("removed here", problem.Forbidden, "device_id", r.RemoveDevice(t.Context(), "door-3", "test"))
		if one := r.overrides[deviceKey("door-3")]; one == nil || !one.Cloud {
			t.Errorf("door-3 is added as %+v", one)
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir})
		if r.Find(newRoom) == nil || r.Find(room).Config.Capacity != 12 {
			t.Error("it is gone after a restart")
		}
		if err := r.manage("", `[]`); err != nil || r.Find(newRoom) == nil || r.Now().Device("door-3") != nil {
			t.Errorf("without devices: %v, the space is %v, the door %v", err, r.Find(newRoom), r.Now().Device("door-3"))
		}
		if err := r.manage(`[]`, ""); err != nil || r.Find(newRoom) != nil || r.Find(room).Config.Capacity != 0 {
			t.Errorf("without spaces: %v", err)
		}
	})
}

// A refusal names the item, and nothing has changed.
func TestManagedThatIsRefused(t *testing.T) {
	t.Parallel()
	r := openRig(t, rigOptions{})
	hub := json.RawMessage(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`)
	if _, err := r.AddDevice(t.Context(), otherRoom, "hub-2", hub, "test"); err != nil {
		t.Fatal(err)
	}
	before := r.Now()
	twice := `{"id":"` + room + `","capacity":1}`
	for _, test := range []struct {
		spaces, devices string
		code            problem.Code
		field           string
	}{
		{`[1]`, "", problem.Invalid, "spaces[0]"},
		{`[null]`, "", problem.Invalid, "spaces[0]"},
		{`[{"name":"x"}]`, "", problem.Invalid, "spaces[0].id"},
		{`[` + twice + `,` + twice + `]`, "", problem.Invalid, "spaces[1].id"},
		{`[{"id":"` + room + `","capacity":"many"}]`, "", problem.Invalid, "spaces[0].capacity"},
		{`[{"id":"` + room + `","name":"` + strings.Repeat("x", maxOverride) + `"}]`, "", problem.Invalid, "spaces[0]"},
		{"", `[{"id":"x"}]`, problem.Invalid, "devices[0].meeting_space_id"},
		{"", `[{"id":"hub-2","meeting_space_id":"` + otherRoom + `","poll":"9s"}]`, problem.Conflict, "devices[0].id"},
		{"", `[{"id":"x","meeting_space_id":"` + room + `","type":"lock","driver":"none"}]`, problem.Invalid, "devices[0].driver"},
	} {
		r.refuses(test.spaces+test.devices, test.code, test.field, r.manage(test.spaces, test.devices))
	}
	if r.Now() != before {
		t.Error("a refusal has changed the site")
	}
	if err := r.manage(managedSpaces, managedDevices); err != nil {
		t.Errorf("after the refusals: %v", err) // they hold no room
	}
}

// A commit that fails leaves the site and its rooms as they are.
func TestChangeThatIsNotStored(t *testing.T) {
	t.Parallel()
	r := openRig(t, rigOptions{})
	turn, err := r.Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, file := r.Now(), turn.File()
	c, err := turn.StageFile(t.Context(), r.parse(strings.Replace(building, "Borealis", "Corvus", 1)), "test")
	if err != nil {
		t.Fatal(err)
	}
	failing := c.Stage()
	failing.Write = func(*store.Tx) error { return store.ErrFull }
	r.refuses("not stored", problem.Full, "", r.Site.o.Events.Commit(t.Context(), failing))
	if r.Now() != before || turn.File() != file || r.Find(otherRoom).Room.Name() != "Borealis" {
		t.Error("it has taken effect")
	}
	if c, err = turn.StageFile(t.Context(), r.parse(strings.Replace(building, "Borealis", "Corvus", 1)), "test"); err != nil {
		t.Fatal(err)
	}
	if err := r.Site.o.Events.Commit(t.Context(), c.Stage()); err != nil {
		t.Fatal(err)
	}
	if file = turn.File(); file.Spaces[1].Name != "Corvus" {
		t.Errorf("the file in force says %q", file.Spaces[1].Name)
	}
	turn.End()
	if r.Now() != c.Next || r.Find(otherRoom).Room.Name() != "Corvus" || r.Find(room) != before.Find(room) {
		t.Errorf("the other space is %+v", r.Find(otherRoom).Config)
	}
}

func FuzzManaged(f *testing.F) {
	f.Add([]byte(`{"id":"door-3","meeting_space_id":"` + newRoom + `","options":{"name":"door-3"}}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"id":1}`))
	f.Fuzz(func(t *testing.T, item []byte) {
		for _, device := range []bool{true, false} {
			if one, err := managed(item, device); err == nil && (one.ID == "" || device && one.SpaceID == "" || len(one.Data) > maxOverride) {
				t.Errorf("%s is taken as %+v", item, one)
			}
		}
	})
}
