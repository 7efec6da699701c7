package agent

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// reread gives the building another file.
func (r *rig) reread(yaml string) error {
	r.t.Helper()
	c, err := config.Parse("test.yaml", []byte(yaml), r.bench.kinds())
	if err != nil {
		r.t.Fatal(err)
	}
	return r.Reload(r.t.Context(), c)
}

func TestReload(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{bench: moreHardware()})
		r.wait(3 * time.Second)
		light := r.Site.Now().Device("light-1")
		if got := r.configure("m1", 1, wholeConfig); got != "done" {
			t.Fatal(got)
		}
		changed := strings.ReplaceAll(building, "Borealis", "Corvus") + "users: [{id: eve, email: eve@example.com, name: Eve}]\n"
		changed = strings.Replace(changed, "id: light-2, type: light", "id: lamp-2, type: light", 1)
		if err := r.reread(changed); err != nil {
			t.Fatal(err)
		}
		r.wait(3 * time.Second)
		if got := r.Site.Find(otherRoom); got.Name != "Corvus" || got.OfType(drivers.TypeLight).ID != "lamp-2" {
			t.Errorf("the other room is %+v", got.Config)
		}
		if got := r.status(otherRoom, drivers.TypeLight, ""); got.Status != device.Online {
			t.Errorf("its new light is %+v", got)
		}
		if r.Site.Now().Device("light-1") != light {
			t.Error("a light that stayed was opened again")
		}
		if r.Site.Find(newRoom) == nil || len(r.Access.Users()) != 2 {
			t.Errorf("what the cloud manages is gone, users %+v", r.Access.Users())
		}

		before := r.managed()
		err := r.reread(strings.Replace(changed, "events: 500", "events: 501", 1))
		r.refuses("another budget", problem.NotNow, "store.events", err)
		if after := r.managed(); !reflect.DeepEqual(after, before) {
			t.Error("it has changed something")
		}
		clash := strings.Replace(changed, otherRoom, newRoom, 1) // which the cloud has given another name
		clash = strings.Replace(clash, "id: lamp-2, type: light, driver: scripted", "id: lamp-2, type: lock, driver: scripted-lock", 1)
		if err := r.reread(clash); device.AsError(err).Code != problem.Invalid {
			t.Errorf("a file that contradicts what was added: %v", err)
		}
		if after := r.managed(); !reflect.DeepEqual(after, before) {
			t.Error("it has changed something")
		}
	})
}
