package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store/storetest"
)

// bringUnstored hands a signed message in that must not be acknowledged, and says what the cloud hears of it last.
func (r *rig) bringUnstored(h *heaven, s signed) string {
	r.t.Helper()
	return r.bringRawUnstored(h, s.id, s.payload(r.topics().Down(s.level)))
}

func (r *rig) bringRawUnstored(h *heaven, id string, payload []byte) string {
	r.t.Helper()
	before := len(h.undurable(id))
	err := r.Cloud.Receive(r.t.Context(), cloud.Message{Topic: r.topics().Down("command"), Payload: payload, QoS: 1})
	if !errors.Is(err, cloud.ErrUnacknowledged) {
		r.t.Errorf("%s is acknowledged: %v", id, err)
	}
	r.wait(time.Second)
	if len(h.undurable(id)) == before {
		return "silence"
	}
	return h.last(id)
}

// last is the last receipt of an id that came up, as "rejected conflict counter".
func (h *heaven) last(id string) (last string) {
	h.t.Helper()
	for _, m := range h.taken("receipt") {
		var r device.Receipt
		if err := json.Unmarshal(m.Data, &r); err != nil {
			h.t.Error(err)
		}
		if r.CommandID == id {
			word, _, _ := strings.Cut(r.Reason, " ")
			last = strings.TrimSpace(fmt.Sprint(r.State, " ", r.Code, " ", word))
		}
	}
	return last
}

// startGuardedCloudy starts the building with the lock, the key cloud, and a cloud that hears.
func startGuardedCloudy(t *testing.T, o rigOptions) (*rig, *heaven) {
	t.Helper()
	h, _ := openHeaven(t)
	o.dial = h.dial
	r := startRig(t, o)
	r.wait(5 * time.Second)
	return r, h
}

// allowed is the building with the lock that would take an unsigned command.
var allowed = withDoor + "\ndoors: {unsigned: allow}\n"

// TestSignedDoorOnAFailingDisk: a door opens once for what is signed, by a counter in memory, also after the next start.
func TestSignedDoorOnAFailingDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r, h := startGuardedCloudy(t, rigOptions{dir: dir, yaml: allowed})
		r.hold(publicKey("cloud"))
		r.bring(openDoor("stored", 2))
		mend := storetest.Break(t, filepath.Join(dir, Database))
		r.wait(time.Minute)
		genuine := openDoor("genuine", 10).payload(r.topics().Down("command"))
		ahead := openDoor("ahead", 11)
		ahead.at = time.Now().Add(15 * time.Second) // of which some pass before its turn
		unsigned := []byte(`{"specversion":"1.0","id":"unsigned","source":"b","type":"roomgate.command","time":"` + time.Now().UTC().Format(time.RFC3339) + `","data":` + commandTo("lock", "open", `"ttl_s":30`) + `}`)
		light := []byte(strings.Replace(strings.Replace(string(unsigned), "unsigned", "light", 1), commandTo("lock", "open", `"ttl_s":30`), commandTo("light", "on", `"ttl_s":3600`), 1))
		for i, c := range []struct {
			id      string
			payload []byte
			want    string
			opened  int
		}{
			{"genuine", genuine, "done", 2},
			{"genuine", genuine, "done", 2}, // the receipt again
			{"other", openDoor("other", 10).payload(r.topics().Down("command")), "rejected conflict counter", 2},
			{"before", openDoor("before", 2).payload(r.topics().Down("command")), "rejected conflict counter", 2},
			{"unsigned", unsigned, "rejected not_now the", 2},
			{"ahead", ahead.payload(r.topics().Down("command")), "rejected not_now time", 2},
			{"far", openDoor("far", 80).payload(r.topics().Down("command")), "done", 3},
			{"behind", openDoor("behind", 3).payload(r.topics().Down("command")), "rejected conflict counter", 3},
			{"light", light, "done", 3},
			{"between", openDoor("between", 20).payload(r.topics().Down("command")), "done", 4},
		} {
			if got := r.bringRawUnstored(h, c.id, c.payload); got != c.want || r.opened() != c.opened {
				t.Errorf("%d: %s: %s, want %s; opened %d times, want %d", i, c.id, got, c.want, r.opened(), c.opened)
			}
		}
		mend() // what was not acknowledged comes again to the next process, whose disk is good
		r.stop()
		r = startRig(t, rigOptions{dir: dir, yaml: allowed, bench: r.bench, dial: noCloud})
		r.wait(5 * time.Second)
		for id, payload := range map[string][]byte{"genuine": genuine, "light": light} {
			r.bringRaw(payload, false)
			if got := r.outcome(id); got != "done" || r.opened() != 4 || len(r.bench["light-1"].effects()) != 1 {
				t.Errorf("%s after the next start: %s, opened %d times, the light took effect %q", id, got, r.opened(), r.bench["light-1"].effects())
			}
		}
		r.wantCounters("next", 81, 10, 20, 80)
		r.stop()
		r = startRig(t, rigOptions{dir: dir, yaml: allowed, bench: r.bench, dial: noCloud})
		r.wait(5 * time.Second)
		r.wantCounters("last", 82, 10, 20, 80, 81)
		if n := len(r.db.Reserve().Kept()); n != 0 {
			t.Errorf("%d commands are in the reserve still", n)
		}
	})
}

// wantCounters wants a door to open by a counter, and not by those.
func (r *rig) wantCounters(id string, fresh uint64, used ...uint64) {
	r.t.Helper()
	before := r.opened()
	for _, n := range used {
		again := fmt.Sprint(id, n)
		if r.bring(openDoor(again, n)); r.outcome(again) != "rejected conflict counter" {
			r.t.Errorf("%s: %s", again, r.outcome(again))
		}
	}
	if r.bring(openDoor(id, fresh)); r.outcome(id) != "done" || r.opened() != before+1 {
		r.t.Errorf("%s: %s, opened %d times more", id, r.outcome(id), r.opened()-before)
	}
}

// TestSignedDoorAfterAStartOnAReadOnlyDisk: nobody knows what was carried out before the start, so only what was sent
// after it opens, by a clock that is trusted.
func TestSignedDoorAfterAStartOnAReadOnlyDisk(t *testing.T) {
	dir, remount := mountedDisk(t)
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{dir: dir, yaml: withDoor, dial: noCloud})
		r.wait(5 * time.Second)
		r.hold(publicKey("cloud"))
		r.stop()
		remount(syscall.MS_RDONLY)
		bench := r.bench
		r, h := startGuardedCloudy(t, rigOptions{dir: dir, yaml: withDoor, bench: bench})
		r.wait(time.Second)
		topic := r.topics().Down("command")
		first := openDoor("first", 1).payload(topic)
		if got := r.bringRawUnstored(h, "first", first); got != "done" || r.opened() != 1 {
			t.Errorf("one from after the start: %s, opened %d times", got, r.opened())
		}
		r.stop()
		r, h = startGuardedCloudy(t, rigOptions{dir: dir, yaml: withDoor, bench: bench})
		if got := r.bringRawUnstored(h, "first", first); got != "rejected not_now time" || r.opened() != 1 {
			t.Errorf("the same after another start: %s, opened %d times", got, r.opened())
		}
		hasty := openDoor("hasty", 2)
		hasty.at = time.Now().Add(-2 * time.Second) // 4 s after the start
		if got := r.bringUnstored(h, hasty); got != "rejected not_now time" {
			t.Errorf("one that may have been sent before the start: %s", got)
		}
		if got := r.bringUnstored(h, openDoor("second", 3)); got != "done" || r.opened() != 2 {
			t.Errorf("one from after the other start: %s, opened %d times", got, r.opened())
		}
		r.stop()
		r, h = startGuardedCloudy(t, rigOptions{dir: dir, yaml: untrusted, bench: bench})
		r.wait(time.Minute)
		for id, data := range map[string]string{"timeless": openDoor("", 4).data, "light": commandTo("light", "on")} {
			s := signed{level: "command", id: id, counter: 4, data: data}
			if got := r.bringUnstored(h, s); got != "rejected not_now the" || r.opened() != 2 {
				t.Errorf("%s without trust of the clock: %s, opened %d times", id, got, r.opened())
			}
		}
	})
}

// TestSignedDoorOnAFullDisk: the counter is in the reserve before the door moves, and in the database once that has room.
func TestSignedDoorOnAFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r, h := startGuardedCloudy(t, rigOptions{dir: dir, yaml: withDoor})
		r.hold(publicKey("cloud"))
		mend := r.fill()
		r.bring(openDoor("full", 9)) // it is acknowledged
		if r.opened() != 1 || len(r.db.Reserve().Kept()) == 0 {
			t.Errorf("opened %d times, %d records in the reserve", r.opened(), len(r.db.Reserve().Kept()))
		}
		r.bring(openDoor("same", 9)) // the refusal cannot be stored
		if got := h.last("same"); got != "rejected conflict counter" || len(h.undurable("same")) != 1 || r.opened() != 1 {
			t.Errorf("its counter again: %s, opened %d times", got, r.opened())
		}
		cut := filepath.Join(t.TempDir(), "cut") // the power is cut here, and then there is room
		if err := os.CopyFS(cut, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		mend()
		r.wait(2 * time.Minute)
		r.wantCounters("room", 10, 9)
		bench := r.bench
		r.stop()
		r = openRig(t, rigOptions{dir: cut, yaml: withDoor, bench: bench, dial: noCloud}) // nothing of the reserve is written yet
		used := device.Count{Key: cloud.KeyID(publicKey("cloud").Public), N: 9}
		if err := r.signers.Counters().Hold(used, func() error { return nil }); problem.As(err) == nil || problem.As(err).Code != problem.Conflict {
			t.Errorf("its counter right after the start: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for _, look := range []bool{false, true} { // whatever comes between
			r = startRig(t, rigOptions{dir: cut, yaml: withDoor, bench: bench, dial: noCloud})
			r.wait(5 * time.Second)
			if look {
				r.wantCounters("cut", 20, 9)
			}
			r.stop()
		}
		if all := r.bench["door-1"].effects(); len(all) != 3 {
			t.Errorf("took effect %q", all)
		}
	})
}
