package edge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/store"
)

func TestDevicesSurviveARestart(t *testing.T) {
	inTime(t, func(r *rig) {
		d, secret, err := r.register(Device{Kind: Display, Serial: "A1"})
		if err != nil || d.Name != "A1" || d.SpaceID != room {
			t.Fatalf("registered %+v, %v", d, err)
		}
		code := r.code(room)
		r.open()
		if got, err := r.Get(d.ID); err != nil || got.Serial != "A1" || !got.Registered.Equal(d.Registered) {
			t.Errorf("after a restart it is %+v, %v", got, err)
		}
		if who, ok := r.ByKey(secret); !ok || who.ID != d.ID || who.SpaceID != room {
			t.Errorf("after a restart its key is of %+v", who)
		}
		_, _, err = r.Register(t.Context(), code, Device{}, here)
		r.refused("a pairing code of before the restart", err, problem.Forbidden, "claim_code")
		if err := r.db.View(func(tx *store.Tx) error {
			if words := Words(tx); !slices.Equal(words, []string{"A1", "A1"}) {
				t.Errorf("words %q", words)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := r.Delete(t.Context(), d.ID, "test"); err != nil {
			t.Fatal(err)
		}
		r.refused("deleted twice", r.Delete(t.Context(), d.ID, "test"), problem.NotFound, "edge_id")
		if _, ok := r.ByKey(secret); ok {
			t.Error("the key of a deleted one is good")
		}
		if told := r.told(); !slices.Equal(told, []string{"edgeRegistered", "edgeDeleted"}) {
			t.Errorf("told %q", told)
		}
		r.open()
		if all := r.List(); len(all) != 0 {
			t.Errorf("a deleted one is back: %+v", all)
		}
	})
}

func TestDevicesAreBounded(t *testing.T) {
	inTime(t, func(r *rig) {
		for i := range maxDevices {
			if _, _, err := r.register(Device{Serial: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		code := r.code(room)
		_, _, err := r.Register(t.Context(), code, Device{}, here)
		r.refused("one too many", err, problem.Full, "")
		if _, _, err := r.Register(t.Context(), code, Device{Serial: "7"}, here); err != nil {
			t.Errorf("one that is known, with the code that was not used up: %v", err)
		}
		if n := len(r.List()); n != maxDevices {
			t.Errorf("there are %d", n)
		}
		for range 200 {
			r.code(otherRoom)
		}
		if n := len(r.codes); n > 2 {
			t.Errorf("%d codes of two spaces are open", n)
		}
	})
}

// TestCodes: a code is good once, for one device, for a while, and until its space
// has another.
func TestCodes(t *testing.T) {
	inTime(t, func(r *rig) {
		_, _, err := r.NewCode("nowhere")
		r.refused("a code of no space", err, problem.NotFound, "meeting_space_id")
		try := func(code string) error {
			_, _, err := r.Register(t.Context(), code, Device{}, here)
			return err
		}
		replaced, other := r.code(room), r.code(otherRoom)
		good := r.code(room)
		r.refused("one that was replaced", try(replaced), problem.Forbidden, "claim_code")
		if err := try(strings.ToLower(strings.ReplaceAll(good, "-", " "))); err != nil {
			t.Errorf("as somebody types it: %v", err)
		}
		r.refused("a used one", try(good), problem.Forbidden, "claim_code")
		time.Sleep(codeLife - time.Second)
		if err := try(other); err != nil {
			t.Errorf("in the last second: %v", err)
		}
		late := r.code(room)
		time.Sleep(codeLife)
		r.refused("one that is too old", try(late), problem.Forbidden, "claim_code")
	})
}

// TestCodeOfASpaceThatGoes lets nobody in who would have a place once a space of that id is set up again.
func TestCodeOfASpaceThatGoes(t *testing.T) {
	inTime(t, func(r *rig) {
		code := r.code(room)
		r.gone = room
		_, _, err := r.Register(t.Context(), code, Device{Kind: Display, Serial: "A1"}, here)
		r.refused("gone", err, problem.Forbidden, "claim_code")
		if all := r.List(); len(all) != 0 {
			t.Errorf("registered: %+v", all)
		}
	})
}

func TestWrongCodesAreLimited(t *testing.T) {
	inTime(t, func(r *rig) {
		code := r.code(room)
		for i := range wrongCodes.Burst {
			_, _, err := r.Register(t.Context(), "wrong", Device{}, here)
			r.refused(fmt.Sprint(i), err, problem.Forbidden, "claim_code")
		}
		_, _, err := r.Register(t.Context(), "wrong", Device{}, here)
		r.refused("after too many", err, problem.TooMany, "")
		if _, _, err := r.Register(t.Context(), code, Device{}, here); err != nil {
			t.Errorf("a neighbour with the right code: %v", err)
		}
		time.Sleep(wrongCodes.Every)
		if _, _, err := r.register(Device{}); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

func TestKnownAgainByItsSerialNumber(t *testing.T) {
	inTime(t, func(r *rig) {
		old, key, _ := r.register(Device{Serial: "A1"})
		if _, err := r.Beat(old.ID, "192.0.2.7", 7, "1.0"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		next, _, err := r.Register(t.Context(), r.code(otherRoom), Device{Serial: "A1", Name: " Door "}, here)
		if all := r.List(); err != nil || len(all) != 1 {
			t.Errorf("registered again, there are %+v, %v", all, err)
		} else {
			goldentest.Values(t, "registered again, there are", goldentest.Pairs{"ID": {all[0].ID, next.ID},
				"Name": {all[0].Name, "Door"}, "SpaceID": {all[0].SpaceID, otherRoom}, "UptimeS": {all[0].UptimeS, 0}})
		}
		if _, ok := r.ByKey(key); ok {
			t.Error("its former key is good")
		}
		_, err = r.Beat(old.ID, "192.0.2.7", 7, "")
		r.refused("its former id beats", err, problem.NotFound, "device_id")
	})
}

// TestSerialNumberOfAnotherTenant: a device of another organization with the same
// number puts nobody's out, nor does one of the same organization as a space that is
// gone was of.
func TestSerialNumberOfAnotherTenant(t *testing.T) {
	inTime(t, func(r *rig) {
		r.owners = map[string]string{room: "one", otherRoom: "two"}
		victim, key, _ := r.register(Device{Kind: Display, Serial: "A1"})
		in := func(space string) Device {
			d, _, err := r.Register(t.Context(), r.code(space), Device{Kind: Display, Serial: "A1"}, here)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		theirs := in(otherRoom)
		if who, ok := r.ByKey(key); !ok || who.ID != victim.ID || len(r.List()) != 2 {
			t.Errorf("the display of another tenant is put out: %+v", r.List())
		}
		again := in(otherRoom)
		if r.Holds(theirs.ID) || !r.Holds(again.ID) || !r.Holds(victim.ID) {
			t.Errorf("in its own organization it is not known again: %+v", r.List())
		}
		r.gone = room
		if in(otherRoom); len(r.List()) != 2 {
			t.Errorf("one of a space that is gone is put out: %+v", r.List())
		}
	})
}

func TestWhatADeviceSays(t *testing.T) {
	inTime(t, func(r *rig) {
		d, _, _ := r.register(Device{})
		time.Sleep(time.Second)
		if now, err := r.Beat(d.ID, "192.0.2.7", 7, "1.0"); err != nil {
			t.Errorf("beat %+v, %v", now, err)
		} else {
			goldentest.Values(t, "beat", goldentest.Pairs{"UptimeS": {now.UptimeS, 7}, "Address": {now.Address, "192.0.2.7"},
				"Version": {now.Version, "1.0"}, "LastSeen": {now.LastSeen.Equal(time.Now()), true}, "Kind": {now.Kind, Board}})
		}
		_, err := r.Beat(d.ID, "", -1, "")
		r.refused("up since tomorrow", err, problem.Invalid, "uptime_s")
		_, err = r.Beat(d.ID, "", 1, strings.Repeat("x", 101))
		r.refused("a long version", err, problem.Invalid, "version")
		for field, bad := range map[string]Device{"kind": {Kind: "fridge"}, "name": {Name: "a\u202eb"}, "serial": {Serial: "\xff"}} {
			code := r.code(room)
			_, _, err := r.Register(t.Context(), code, bad, here)
			r.refused(field, err, problem.Invalid, field)
			if _, _, err := r.Register(t.Context(), code, Device{}, here); err != nil {
				t.Errorf("%s: the code is used up: %v", field, err)
			}
		}
	})
}

// TestOneOrganizationLeavesRoomForDevices: one that pairs without end takes no place of
// another organization.
func TestOneOrganizationLeavesRoomForDevices(t *testing.T) {
	inTime(t, func(r *rig) {
		r.owners = map[string]string{room: "one", otherRoom: "two"}
		for i := range maxOfOrg {
			if _, _, err := r.register(Device{Serial: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := r.register(Device{})
		r.refused("one too many", err, problem.Full, "meeting_space_id")
		if _, _, err := r.register(Device{Serial: "7"}); err != nil {
			t.Errorf("one that is known: %v", err)
		}
		if _, _, err := r.Register(t.Context(), r.code(otherRoom), Device{Serial: "7"}, here); err != nil {
			t.Errorf("one of another organization: %v", err)
		}
	})
}
