package agent

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/store"
	"roomgate/store/storetest"
)

// send publishes a message down as it is.
func (h *heaven) send(topic string, retained bool, payload []byte) {
	h.t.Helper()
	if err := h.link.Publish(h.t.Context(), cloud.Message{Topic: topic, Payload: payload, QoS: 1, Retained: retained}); err != nil {
		h.t.Fatal(err)
	}
}

// fill leaves the database no room, until mend. It has free pages, so that it fails as a full disk does.
func (r *rig) fill() (mend func()) {
	r.t.Helper()
	ballast := store.NewTable[[]byte]("ballast")
	for _, change := range []func(*store.Tx) error{ // leaves free pages, so that the file need not grow
		func(tx *store.Tx) error { return ballast.Put(tx, "x", make([]byte, 256<<10)) },
		func(tx *store.Tx) error { return ballast.Delete(tx, "x") },
		func(tx *store.Tx) error { return ballast.Put(tx, "y", nil) },
	} {
		if err := r.db.Update(r.t.Context(), change); err != nil {
			r.t.Fatal(err)
		}
	}
	return storetest.Fill(r.t, filepath.Join(r.options.DataDir, Database))
}

// fullDown are messages of each level, by the level and what the cloud hears of them on a full disk.
func fullDown() []struct{ level, id, data, want string } {
	return []struct{ level, id, data, want string }{
		{"command", "light", commandTo("light", "on", `"ttl_s":3600`), "rejected storage_full the"},
		{"command", "light", commandTo("light", "on", `"ttl_s":3600`), "rejected storage_full the"},
		{"command", "unread", `[1]`, "rejected invalid data"},
		{"command", "unknown", commandTo("light", "explode"), "rejected invalid action"},
		{"schedule", "schedule", scheduleOf(2, "snapshot"), "rejected storage_full the"},
		{"schedule", "broken", `{"revision":"x"}`, "rejected invalid revision"},
		{"config", "config", `{"revision":1,"reconnect_spread_s":5}`, "rejected storage_full the"},
		{"config", "vain", `{}`, "rejected invalid revision"},
		{"claim", "claim", `{}`, "rejected invalid sealed"},
		{"ack", "ack", `{}`, "rejected invalid sequence"},
		{"replay", "replay", `{}`, "rejected invalid data"},
	}
}

// scheduleOf is the data of a schedule of nothing.
func scheduleOf(revision int, kind string) string {
	return fmt.Sprintf(`{"meeting_space_id":%q,"revision":%d,"kind":%q,"bookings":[],"removed":[]}`, room, revision, kind)
}

// plain is an unsigned message as it travels.
func plain(level, id, data string) []byte {
	payload, err := cloud.Envelope{ID: id, Source: "backend", Type: cloud.TypeOf(level), Time: time.Now().UTC(), Data: json.RawMessage(data)}.Encode()
	if err != nil {
		panic(err)
	}
	return payload
}

// TestFullDiskHoldsNoDoorBack: whatever comes down and cannot be stored is answered, and the signed command after it
// opens the door on the same connection. Once there is room everything goes on, by the ids that were refused.
func TestFullDiskHoldsNoDoorBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r, h := startGuardedCloudy(t, rigOptions{dir: dir, yaml: withDoor})
		r.hold(publicKey("cloud"))
		topics := r.topics()
		counter := uint64(0)
		opens := func(after string) {
			t.Helper()
			counter++
			id := fmt.Sprint("door", counter)
			h.send(topics.Down("command"), false, openDoor(id, counter).payload(topics.Down("command")))
			r.wait(time.Second)
			if got := h.last(id); got != "done" || r.opened() != int(counter) {
				t.Fatalf("a door after %s: %s, opened %d times, want %d", after, got, r.opened(), counter)
			}
		}
		h.send(topics.Down("schedule"), false, plain("schedule", "applied", scheduleOf(1, "snapshot")))
		opens("nothing")
		mend := r.fill()
		r.wait(time.Minute)
		births := len(h.taken("presence"))
		opens("the disk was full")
		for _, c := range fullDown() {
			before := len(h.undurable(c.id))
			h.send(topics.Down(c.level), c.id == "config", plain(c.level, c.id, c.data))
			r.wait(time.Second)
			if got := h.last(c.id); got != c.want || len(h.undurable(c.id)) != before+1 {
				t.Errorf("%s: %q, want %q; %d receipts more", c.id, got, c.want, len(h.undurable(c.id))-before)
			}
			opens(c.id)
		}
		h.send(topics.Down("schedule"), false, plain("schedule", "twice", scheduleOf(1, "delta")))
		opens("a delta that came twice")
		if got := h.last("twice"); h.last("applied") != "done" || got != "" {
			t.Errorf("a delta that was applied before: %q, want no word that it was not", got)
		}
		used := openDoor("used", 2).payload(topics.Down("command"))
		h.send(topics.Down("command"), false, used)
		again := openDoor("door2", 2).payload(topics.Down("command"))
		h.send(topics.Down("command"), false, again)
		r.wait(time.Second)
		if got, same := h.last("used"), h.last("door2"); got != "rejected conflict counter" || same != "done" {
			t.Errorf("a used counter: %q, a known id: %q", got, same)
		}
		opens("a replay")
		if more := len(h.taken("presence")) - births; more != 0 {
			t.Errorf("connected %d times more: what was answered came again", more)
		}
		if all := r.bench["light-1"].effects(); len(all) != 0 {
			t.Errorf("the light took effect %q", all)
		}
		mend()
		r.wait(2 * time.Minute)
		opens("there was room")
		for _, c := range fullDown() {
			if c.want != "rejected storage_full the" {
				continue // would be no better now
			}
			if c.level == "config" {
				h.cut(false) // the broker has kept it
			} else {
				h.send(topics.Down(c.level), false, plain(c.level, c.id, c.data))
			}
			r.wait(time.Minute)
			if got := h.last(c.id); got != "done" {
				t.Errorf("%s once there is room: %q", c.id, got)
			}
		}
		opens("all")
		if all := r.bench["light-1"].effects(); len(all) != 1 {
			t.Errorf("the light took effect %q, want it once", all)
		}
	})
}
