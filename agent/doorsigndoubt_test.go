package agent

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestSignedDoorOnADiskThatHeals: a gateway that was killed on a read-only disk has opened a door, and the next one began on
// the same disk. So nobody knows of it once the disk takes writes again, and what was sent before opens nothing.
func TestSignedDoorOnADiskThatHeals(t *testing.T) {
	dir, remount := mountedDisk(t)
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: dir, yaml: allowed, dial: noCloud}
		r := startRig(t, o)
		r.wait(5 * time.Second)
		r.hold(publicKey("cloud"))
		topic := r.topics().Down("command")
		o.bench = r.bench
		r.stop()

		remount(syscall.MS_RDONLY)
		r, h := startGuardedCloudy(t, o)
		r.wait(time.Second)
		first, never := openDoor("first", 1).payload(topic), openDoor("never", 2).payload(topic)
		light := lightCommand("light")
		for id, payload := range map[string][]byte{"first": first, "light": light} {
			if got := r.bringRawUnstored(h, id, payload); got != "done" {
				t.Errorf("%s: %s", id, got)
			}
		}
		r.stop() // as a kill: what was carried out cannot be stored
		r, h = startGuardedCloudy(t, o)
		for id, payload := range map[string][]byte{"first": first, "light": light} {
			if got := r.bringRawUnstored(h, id, payload); got != "rejected not_now time" {
				t.Errorf("%s after the start on the same disk: %s", id, got)
			}
		}
		r.wait(6 * time.Second)
		waits := lightCommand("waits")
		remount(0)
		r.stop()

		for run, payloads := range []map[string][]byte{{"first": first, "light": light}, {"never": never}} {
			r = startRig(t, o)
			r.wait(5 * time.Second)
			for id, payload := range payloads {
				r.bringRaw(payload, false)
				if got := r.outcome(id); got != "rejected conflict id" {
					t.Errorf("run %d: %s on the disk that is well: %s", run, id, got)
				}
			}
			r.bringRaw(waits, false)
			if got := r.outcome("waits"); got != "done" {
				t.Errorf("run %d: what was sent after the start on the bad disk: %s", run, got)
			}
			r.stop()
		}
		r = startRig(t, o)
		r.wait(5 * time.Second)
		if r.bring(openDoor("fresh", 3)); r.outcome("fresh") != "done" {
			t.Errorf("a new one: %s", r.outcome("fresh"))
		}
		if all := o.bench["light-1"].effects(); r.opened() != 2 || len(all) != 2 {
			t.Errorf("opened %d times, the light took effect %q", r.opened(), all)
		}
		r.stop()
	})
}

// lightCommand switches a light on, sent now and good for an hour.
func lightCommand(id string) []byte {
	return fmt.Appendf(nil, `{"specversion":"1.0","id":%q,"source":"b","type":"roomgate.command","time":%q,"data":%s}`,
		id, time.Now().UTC().Format(time.RFC3339Nano), commandTo("light", "on", `"ttl_s":3600`))
}
