package site

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// TestSpaceMadeWhileTheBuildingRuns: it has devices like any other, stays over a restart,
// and goes with them.
func TestSpaceMadeWhileTheBuildingRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir(), bench: moreHardware()}
		r := startRig(t, o)
		r.wait(time.Second)
		made := json.RawMessage(`{"name":"Corona","timezone":"Europe/Berlin"}`)
		if err := r.AddSpace(t.Context(), newRoom, made, "test"); err != nil {
			t.Fatal(err)
		}
		r.refuses("once more", problem.Conflict, "name", r.AddSpace(t.Context(), newRoom, made, "test"))
		r.refuses("its name", problem.Invalid, "name", r.AddSpace(t.Context(), "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a04", json.RawMessage(`{"name":"Aurora"}`), "test"))
		if _, err := r.AddDevice(t.Context(), newRoom, "hub-2", json.RawMessage(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`), "test"); err != nil {
			t.Fatal(err)
		}
		r.wait(3 * time.Second)
		r.stop()
		r = startRig(t, o)
		r.wait(3 * time.Second)
		if got := r.status(newRoom, drivers.TypeO3, drivers.SubTemperature); got.Value != "20" {
			t.Errorf("after a restart it is %+v", got)
		}
		spaces, devices, err := r.Origins(t.Context())
		if err != nil || spaces[newRoom] != FromHere || devices["hub-2"] != FromHere || spaces[room] != FromFile {
			t.Errorf("they are from %v, %v, %v", spaces, devices, err)
		}
		r.refuses("one of the file", problem.NotNow, "meeting_space_id", r.RemoveSpace(t.Context(), room, "test"))
		if err := r.RemoveSpace(t.Context(), newRoom, "test"); err != nil {
			t.Fatal(err)
		}
		r.stop()
		r = startRig(t, o)
		if r.Find(newRoom) != nil || r.Now().Device("hub-2") != nil {
			t.Error("it is there again after a restart")
		}
	})
}

// TestRoomUserStays: the user of the room broker that was made with a device is there
// after a restart, is stored under the device secret, and is no word of a support bundle.
func TestRoomUserStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir(), bench: moreHardware()}
		r := startRig(t, o)
		one := &override{ID: "hub-2", SpaceID: otherRoom, User: &RoomUser{"bridge", "canary-of-a-bridge"},
			Data: json.RawMessage(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`)}
		turn, err := r.Turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = turn.change(t.Context(), map[string]*override{one.key(): one}, "test")
		turn.End()
		if err != nil {
			t.Fatal(err)
		}
		r.stop()
		r = startRig(t, o)
		if password, known := r.RoomPassword("bridge"); !known || password != "canary-of-a-bridge" {
			t.Errorf("it is %q, %t", password, known)
		}
		var words []string
		err = r.Site.o.DB.View(func(tx *store.Tx) error {
			words = Words(tx, r.Site.o.Keys)
			for _, s := range overrides.All(tx) {
				if s.User == nil || bytes.Contains(s.User, []byte("canary")) {
					t.Error("it is stored in the clear, or not at all")
				}
			}
			return nil
		})
		if err != nil || !slices.Contains(words, "canary-of-a-bridge") {
			t.Errorf("a support bundle may hold it: %v, %v", words, err)
		}
		if err := r.RemoveDevice(t.Context(), "hub-2", "test"); err != nil {
			t.Fatal(err)
		}
		if _, known := r.RoomPassword("bridge"); known {
			t.Error("it stays when its device has gone")
		}
	})
}

// TestAnAdditionThatCannotBeRead is said to be that, and nothing else is.
func TestAnAdditionThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	err := r.Site.o.DB.Update(t.Context(), func(tx *store.Tx) error {
		return store.NewTable[string]("additions").Put(tx, "space/x", "not an addition")
	})
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	var said bytes.Buffer
	openRig(t, rigOptions{dir: dir, log: slog.New(slog.NewTextHandler(&said, nil))})
	if text := said.String(); strings.Count(text, "cannot read") != 1 || !strings.Contains(text, "cannot read the changes") {
		t.Errorf("it says\n%s", text)
	}
}
