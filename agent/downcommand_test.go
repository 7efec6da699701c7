package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/drivers"
)

// withDoor is the building below a cloud, with a lock in the second room.
var withDoor = strings.Replace(withCloud(cloud.AcksBackend), "    name: Borealis\n    devices:\n",
	"    name: Borealis\n    devices:\n      - {id: door-1, type: lock, driver: scripted-lock, poll: 2s, timeout: 1s, options: {name: door-1}}\n", 1)

// untrusted is that building with a clock that nobody set.
var untrusted = strings.Replace(withDoor, "trust: always", "trust: never", 1)

// noCloud is a cloud that cannot be reached: what comes down is handed in by down.
func noCloud(context.Context, string, string) (net.Conn, error) { return nil, fmt.Errorf("no route") }

// startDoor starts the building with the lock, and waits until it was observed.
func startDoor(t *testing.T, yaml string) *rig {
	t.Helper()
	r := startRig(t, rigOptions{yaml: yaml, dial: noCloud})
	r.wait(5 * time.Second)
	return r
}

// commandTo is the data of a command with more members, as JSON.
func commandTo(device, action string, more ...string) string {
	space := room
	if device == drivers.TypeLock {
		space = otherRoom
	}
	return `{"meeting_space_id":"` + space + `","device_type":"` + device + `","action":"` + action + `"` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// topics are those of the gateway.
func (r *rig) topics() cloud.Topics { return cloud.Topics{Gateway: r.options.Config.Gateway.ID} }

// down brings a message with that data; at is its time, zero: none.
func (r *rig) down(level, id, data string, at time.Time) {
	r.t.Helper()
	r.downAs(level, id, cloud.TypeOf(level), data, at, false)
}

func (r *rig) downAs(level, id, kind, data string, at time.Time, retained bool) {
	r.t.Helper()
	payload := `{"specversion":"1.0","id":"` + id + `","source":"backend","type":"` + kind + `","data":` + data
	if !at.IsZero() {
		payload += `,"time":"` + at.UTC().Format(time.RFC3339Nano) + `"`
	}
	m := cloud.Message{Topic: r.topics().Down(level), Payload: []byte(payload + "}"), QoS: 1, Retained: retained}
	if err := r.Cloud.Receive(r.t.Context(), m); err != nil {
		r.t.Fatalf("%s %s is not acknowledged: %v", level, id, err)
	}
}

// receipts are those in the log of one id.
func (r *rig) receipts(id string) (all []device.Receipt) {
	r.t.Helper()
	for _, line := range r.logged(eventlog.LevelReceipt) {
		var got device.Receipt
		if err := json.Unmarshal(line.Data, &got); err != nil {
			r.t.Fatal(err)
		}
		if got.CommandID == id {
			all = append(all, got)
		}
	}
	return all
}

func states(all []device.Receipt) (out []device.State) {
	for _, r := range all {
		out = append(out, r.State)
	}
	return out
}

// refusedFor checks that a message has one receipt, rejected for a field.
func (r *rig) refusedFor(id, field string) {
	r.t.Helper()
	all := r.receipts(id)
	if len(all) != 1 || all[0].State != device.Rejected || all[0].Code != problem.Invalid || !strings.HasPrefix(all[0].Reason, field+" ") {
		r.t.Errorf("%s: receipts %+v, want one, rejected for %s", id, all, field)
	}
}

// TestCommandOutOfRangeNamesItsField: no number and no time is taken for one that
// was not said, whatever the clock is worth.
func TestCommandOutOfRangeNamesItsField(t *testing.T) {
	wrong := map[string][]string{
		"ttl_s": {`0`, `-0`, `-5`, `-0.001`, `1e-9`, `0.0009`, `86400.1`, `1e300`, `1e400`, `"NaN"`, `"5"`, `null`, `true`, `[]`, `{}`},
		"expires_at": {`"0001-01-01T00:00:00Z"`, `"0000-01-01T00:00:00Z"`, `"1969-12-31T23:59:59Z"`, `"9999-12-31T23:59:59Z"`, `"10000-01-01T00:00:00Z"`,
			`"soon"`, `""`, `1700000000`, `null`, `"2026-11-21 09:30"`, `{}`},
		"expire_at": {`"1999-01-01T00:00:00Z"`}, "ttl": {`5`}, "expiresAt": {`null`},
	}
	for trust, yaml := range map[string]string{"trusted": withDoor, "untrusted": untrusted} {
		t.Run(trust, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startDoor(t, yaml)
				for _, target := range []string{commandTo("lock", "open", "%s"), commandTo("light", "on", "%s")} {
					for field, values := range wrong {
						for i, value := range values {
							id := fmt.Sprint(target[60:80], field, i)
							id = strings.NewReplacer(`"`, "", ",", "").Replace(id)
							r.down("command", id, fmt.Sprintf(target, `"`+field+`":`+value), time.Now())
							r.refusedFor(id, field)
						}
					}
				}
				r.down("command", "twice", commandTo("lock", "open", `"ttl_s":5`, `"ttl_s":6`), time.Now())
				r.refusedFor("twice", "ttl_s")
				r.wait(time.Second)
				if done := append(r.bench["door-1"].effects(), r.bench["light-1"].effects()...); len(done) > 0 {
					t.Errorf("took effect: %q", done)
				}
			})
		})
	}
}

// TestDoorOpensOnlyForWhatIsFresh: a command that unlocks says until when it is
// wanted, and that is soon.
func TestDoorOpensOnlyForWhatIsFresh(t *testing.T) {
	const none = -1 << 20
	cases := map[string]struct {
		action        string
		time, expires int // seconds from now, none: not there
		ttl           string
		want          string
	}{
		"nothing said":                   {"open", none, none, "", "rejected expires_at"},
		"a ttl from nowhere":             {"open", none, none, "5", "rejected expires_at"},
		"time":                           {"open", 0, none, "", "done"},
		"time, it waited":                {"open", -29, none, "", "done"},
		"time, it waited too long":       {"open", -31, none, "", "expired"},
		"time and ttl":                   {"open", 0, none, "60", "done"},
		"time and ttl, it waited":        {"open", -47, none, "46", "expired"},
		"a long ttl":                     {"open", 0, none, "60.5", "rejected ttl_s"},
		"a long ttl that is nearly over": {"open", -3600, none, "3630", "rejected ttl_s"},
		"time and expiry":                {"open", -10, 45, "", "done"},
		"it waited, expiry is fresh":     {"open", -600, 30, "", "rejected expires_at"},
		"expiry":                         {"open", none, 60, "", "done"},
		"expiry is over":                 {"open", none, -1, "", "expired"},
		"expiry far ahead":               {"open", none, 61, "", "rejected expires_at"},
		"expiry far ahead, short ttl":    {"open", 0, 61, "5", "rejected expires_at"},
		"expiry before time":             {"open", 50, 40, "", "rejected expires_at"},
		"time a little ahead":            {"open", 20, none, "", "done"},
		"time ahead":                     {"open", 40, none, "", "rejected time"},
		"time far ahead":                 {"open", 61, none, "5", "rejected time"},
		"time far ahead, expiry not":     {"open", 7200, 30, "", "rejected expires_at"},
		"time ahead, ttl":                {"open", 40, none, "25", "rejected ttl_s"},
		"locking says nothing":           {"close", none, none, "", "done"},
		"locking far ahead":              {"close", none, 86400 + 60, "", "rejected expires_at"},
		"locking, time far ahead":        {"close", 7200, none, "", "rejected time"},
	}
	for trust, yaml := range map[string]string{"trusted": withDoor, "untrusted": untrusted} {
		t.Run(trust, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startDoor(t, yaml)
				for name, c := range cases {
					var more []string
					now, at := time.Now(), time.Time{}
					if c.time != none {
						at = now.Add(time.Duration(c.time) * time.Second)
					}
					if c.expires != none {
						more = append(more, `"expires_at":"`+now.Add(time.Duration(c.expires)*time.Second).UTC().Format(time.RFC3339Nano)+`"`)
					}
					if c.ttl != "" {
						more = append(more, `"ttl_s":`+c.ttl)
					}
					before := len(r.bench["door-1"].effects())
					r.down("command", name, commandTo("lock", c.action, more...), at)
					r.wait(3 * time.Second)
					all := r.receipts(name)
					last := all[len(all)-1]
					opened := slices.Contains(r.bench["door-1"].effects()[before:], drivers.ActOpen)
					state, field, _ := strings.Cut(c.want, " ")
					if trust == "untrusted" {
						if c.action == "open" && (opened || last.State == device.Done) {
							t.Errorf("%s: the door opens by a clock that is not trusted: %+v", name, last)
						}
						continue
					}
					if last.State != device.State(state) || !strings.HasPrefix(last.Reason, field) || opened != (c.want == "done" && c.action == "open") {
						t.Errorf("%s: %+v, opened %v, want %s", name, last, opened, c.want)
					}
				}
			})
		})
	}
}

// TestOneIDHasOneTruth: whatever comes with the id of a command that was carried
// out is answered with what became of that.
func TestOneIDHasOneTruth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startDoor(t, withDoor)
		now := time.Now()
		on := commandTo("light", "on", `"ttl_s":5`)
		again := map[string]func(id string){
			"the same":        func(id string) { r.down("command", id, on, now) },
			"retained":        func(id string) { r.downAs("command", id, "roomgate.command", on, now, true) },
			"of another type": func(id string) { r.downAs("command", id, "roomgate.schedule", on, now, false) },
			"no command":      func(id string) { r.down("command", id, `[1]`, now) },
			"without data":    func(id string) { r.down("command", id, `null`, now) },
			"out of range":    func(id string) { r.down("command", id, commandTo("light", "on", `"ttl_s":0`), now) },
			"unknown field":   func(id string) { r.down("command", id, commandTo("light", "on", `"expire_at":0`), now) },
			"another content": func(id string) { r.down("command", id, commandTo("light", "off"), now) },
			"another door":    func(id string) { r.down("command", id, commandTo("lock", "open"), time.Time{}) },
			"no such space": func(id string) {
				r.down("command", id, `{"meeting_space_id":"x","device_type":"light","action":"on"}`, now)
			},
			"expired":           func(id string) { r.down("command", id, on, now.Add(-time.Hour)) },
			"a wrong schedule":  func(id string) { r.down("schedule", id, `{"revision":0}`, now) },
			"a wrong replay":    func(id string) { r.down("replay", id, `{"from":0}`, now) },
			"a malformed time":  func(id string) { r.downAs("command", id, "roomgate.command", on+`,"time":"now"`, time.Time{}, false) },
			"an unknown claim":  func(id string) { r.down("claim", id, `{}`, now) },
			"an unknown config": func(id string) { r.down("config", id, `{"x":1}`, now) },
		}
		for name, send := range again {
			id := "done " + name
			now = time.Now()
			r.down("command", id, on, now)
			r.wait(time.Second)
			send(id)
			r.wait(time.Second)
			if got := states(r.receipts(id)); !slices.Equal(got, []device.State{device.Accepted, device.Done, device.Done}) {
				t.Errorf("%s: receipts %q, want accepted, done, and done again", name, got)
			}
		}
		if n := len(r.bench["light-1"].effects()); n != len(again) {
			t.Errorf("took effect %d times, want once for each of %d ids", n, len(again))
		}
		for name, send := range again {
			id := "busy " + name
			r.bench["light-1"].set("hang")
			now = time.Now()
			r.down("command", id, on, now)
			synctest.Wait() // the light hangs in it
			send(id)
			r.bench["light-1"].set("")
			r.bench["light-1"].release <- struct{}{}
			r.wait(2 * time.Second)
			if got := states(r.receipts(id)); !slices.Equal(got, []device.State{device.Accepted, device.Done}) {
				t.Errorf("%s, while it is under way: receipts %q, want accepted and done", name, got)
			}
		}
		for name, send := range again {
			id := "refused " + name
			now = time.Now()
			r.downAs("command", id, "roomgate.command", on, now, true)
			send(id)
			r.wait(time.Second)
			for _, s := range states(r.receipts(id)) {
				if s != device.Rejected {
					t.Errorf("%s: %s after it was rejected", name, s)
				}
			}
		}
	})
}

// TestRetainedCommandThatWasLive is what the broker does with a command that was
// published with retain: it comes live, and again with each connection.
func TestRetainedCommandThatWasLive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, h, publish := startCloudy(t, cloud.AcksBackend)
		publish("command", true, command("c1", nil))
		r.wait(2 * time.Second)
		h.cut(false)
		r.wait(time.Minute)
		got := states(r.receipts("c1"))
		if len(got) < 3 || !slices.Equal(got[:2], []device.State{device.Accepted, device.Done}) || slices.ContainsFunc(got[2:], func(s device.State) bool { return s != device.Done }) {
			t.Errorf("receipts %q, want accepted, and then done whenever it is asked", got)
		}
		if n := len(r.bench["light-1"].effects()); n != 1 {
			t.Errorf("took effect %d times", n)
		}
	})
}

// TestMessageWithUnknownFieldsIsRefused of every kind, with a receipt.
func TestMessageWithUnknownFieldsIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startDoor(t, withDoor)
		for name, c := range map[string]struct{ level, data, field string }{
			"command":            {"command", commandTo("light", "on", `"expire_at":1`), "expire_at"},
			"schedule":           {"schedule", `{"meeting_space_id":"` + room + `","revision":1,"kind":"snapshot","bookings":[],"removd":[]}`, "removd"},
			"a booking":          {"schedule", `{"meeting_space_id":"` + room + `","revision":1,"kind":"snapshot","bookings":[{"id":"a","start":"x"}]}`, "bookings[0].start"},
			"config":             {"config", `{"revision":1,"kees":[]}`, "kees"},
			"ack":                {"ack", `{"sequence":1,"form":2}`, "form"},
			"ack without number": {"ack", `{}`, "sequence"},
			"ack of no number":   {"ack", `{"sequence":-1}`, "sequence"},
			"replay":             {"replay", `{"from":1,"till":2}`, "till"},
			"no object":          {"replay", `7`, "data"},
			"no data":            {"command", `null`, "data"},
		} {
			r.down(c.level, name, c.data, time.Now())
			r.refusedFor(name, c.field)
		}
	})
}

// TestCommandAtTheStartWaitsForItsDevice, and no longer than it is valid.
func TestCommandAtTheStartWaitsForItsDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{yaml: withDoor, dial: noCloud})
		r.bench["light-1"].set("hang")
		now := time.Now()
		r.down("command", "hanging", commandTo("light", "on", `"ttl_s":3`), now)
		r.down("command", "door", commandTo("lock", "open"), now)
		r.down("command", "no action", commandTo("lock", "explode"), now)
		r.down("command", "close", commandTo("lock", "close"), now)
		for _, id := range []string{"hanging", "door", "no action", "close"} {
			if got := states(r.receipts(id)); !slices.Equal(got, []device.State{device.Accepted}) {
				t.Errorf("%s before the start: %q, want accepted", id, got)
			}
		}
		r.run()
		r.wait(time.Second)
		if done := r.bench["door-1"].effects(); !slices.Equal(done, []string{drivers.ActOpen, drivers.ActClose}) {
			t.Errorf("the lock was told %q while another device hangs", done)
		}
		r.wait(4 * time.Second)
		r.bench["light-1"].set("")
		close(r.bench["light-1"].release)
		r.wait(30 * time.Second)
		for id, want := range map[string]device.State{"hanging": device.ExpiredUnused, "door": device.Done, "no action": device.Rejected, "close": device.Done} {
			if got := states(r.receipts(id)); !slices.Equal(got, []device.State{device.Accepted, want}) {
				t.Errorf("%s: receipts %q, want accepted and %s", id, got, want)
			}
		}
		if done := r.bench["light-1"].effects(); len(done) > 0 {
			t.Errorf("took effect late: %q", done)
		}
	})
}

// TestCommandAtTheStartOfADeviceThatIsAway fails with what the device has said.
func TestCommandAtTheStartOfADeviceThatIsAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{yaml: withDoor, dial: noCloud})
		r.bench["light-1"].set("vanish")
		r.down("command", "c1", commandTo("light", "on"), time.Now())
		r.run()
		r.wait(time.Second)
		all := r.receipts("c1")
		if !slices.Equal(states(all), []device.State{device.Accepted, device.Failed}) || all[1].Code != problem.Unavailable || !strings.Contains(all[1].Reason, "wire cut") {
			t.Errorf("receipts %+v, want failed as the wire is cut", all)
		}
	})
}

// TestRefusedIDStaysRefused: whatever was wrong with a command, the same id is
// not another command afterwards.
func TestRefusedIDStaysRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startDoor(t, withDoor)
		for name, data := range map[string]string{
			"out of range": commandTo("lock", "open", `"ttl_s":0`), "no command": `[1]`, "unknown field": commandTo("lock", "open", `"expire_at":0`),
			"expiry beside data": commandTo("lock", "open") + `,"expires_at":"2000-01-01T00:00:00Z"`,
			"ttl beside data":    commandTo("lock", "open") + `,"ttl_s":5`,
			"time twice":         commandTo("lock", "open") + `,"time":"1999-01-01T00:00:00Z"`,
		} {
			r.down("command", name, data, time.Now())
			r.down("command", name, commandTo("lock", "open"), time.Now())
			r.wait(time.Second)
			all := r.receipts(name)
			if len(all) != 2 || all[0].State != device.Rejected || all[1].State != device.Rejected || all[1].Reason != all[0].Reason {
				t.Errorf("%s: receipts %+v, want the same refusal twice", name, all)
			}
		}
		if done := r.bench["door-1"].effects(); len(done) != 0 {
			t.Errorf("the door was moved: %q", done)
		}
	})
}
