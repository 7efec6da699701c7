package site

import (
	"context"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/store"
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

// What was set of a device goes with it, also for one that comes with its id.
func TestSettingsGoWithTheirDevice(t *testing.T) {
	t.Parallel()
	r := openRig(t, rigOptions{})
	add := func() bool {
		t.Helper()
		info, err := r.AddDevice(t.Context(), otherRoom, "hub-2", []byte(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`), "test")
		if err != nil {
			t.Fatal(err)
		}
		return info.Enabled
	}
	add()
	r.setDevice("hub-2", device.Settings{Enabled: new(bool)})
	if err := r.RemoveDevice(t.Context(), "hub-2", "test"); err != nil {
		t.Fatal(err)
	}
	if !add() {
		t.Error("the new one is disabled like the one before")
	}
}

// A device that cannot be made because of what is stored of it holds up nobody.
func TestDeviceWhoseRowsAreSpoiled(t *testing.T) {
	t.Parallel()
	r := openRig(t, rigOptions{})
	err := r.Site.o.DB.Update(t.Context(), func(tx *store.Tx) error {
		return store.NewTable[string]("readings").Put(tx, "hub-2", "no readings")
	})
	if err != nil {
		t.Fatal(err)
	}
	add := func(id string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // one that holds the room hangs
		defer cancel()
		_, err := r.AddDevice(ctx, otherRoom, id, []byte(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`), "test")
		return err
	}
	if err := add("hub-2"); err == nil {
		t.Error("one with spoiled rows was made")
	}
	if err := add("hub-3"); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// An organization that a space names is known from then on.
func TestOrganizationThatASpaceNames(t *testing.T) {
	t.Parallel()
	r := openRig(t, rigOptions{})
	if err := r.manage(`[{"id":"`+newRoom+`","name":"Corvus","organization_id":"`+org+`"}]`, ""); err != nil {
		t.Fatal(err)
	}
	var known bool
	err := r.Site.o.DB.View(func(tx *store.Tx) error {
		_, err := store.NewTable[map[string]any]("organizations").Get(tx, org)
		known = err == nil
		return nil
	})
	if err != nil || !known {
		t.Errorf("known: %v, %v", known, err)
	}
}
