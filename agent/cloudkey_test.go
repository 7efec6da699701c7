package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/health"
	"roomgate/cloud"
)

func TestSignedCommandOpensTheDoorOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		first := openDoor("first", 42)
		payload := first.payload(r.topics().Down("command"))
		r.bringRaw(payload, false)
		if got := r.outcome("first"); got != "done" || r.opened() != 1 {
			t.Fatalf("%s, opened %d times", got, r.opened())
		}
		r.bringRaw(payload, false)
		r.bringRaw(payload, true)
		if got := states(r.receipts("first")); !slices.Equal(got, []device.State{device.Accepted, device.Done, device.Done, device.Done}) || r.opened() != 1 {
			t.Errorf("the same again: %q, opened %d times", got, r.opened())
		}
		for i, c := range []struct {
			counter uint64
			want    string
		}{{42, "rejected conflict counter"}, {41, "done"}, {41, "rejected conflict counter"}, {43, "done"}, {200, "done"}, {135, "rejected conflict counter"}, {136, "done"}} {
			id, before := fmt.Sprint("next", i), r.opened()
			r.bring(openDoor(id, c.counter))
			if got := r.outcome(id); got != c.want || (r.opened() > before) != (c.want == "done") {
				t.Errorf("%d: counter %d: %s, want %s; opened %d times more", i, c.counter, got, c.want, r.opened()-before)
			}
		}
	})
}

// TestForgedDoorCommandsOpenNothing plays the broker between cloud and building.
func TestForgedDoorCommandsOpenNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startDoor(t, withDoor)
		later, over := publicKey("later"), publicKey("over")
		later.NotBefore, over.NotAfter = time.Now().Add(time.Hour), time.Now()
		r.hold(publicKey("revoked"))
		r.hold(publicKey("cloud"), publicKey("configures", cloud.LevelConfig), later, over)
		soon := func(d time.Duration) string {
			return commandTo("lock", "open", `"expires_at":"`+time.Now().Add(d).UTC().Format(time.RFC3339)+`"`)
		}
		replace := func(from, to string) func([]byte) []byte {
			return func(b []byte) []byte {
				if !strings.Contains(string(b), from) {
					t.Errorf("%s has no %s", b, from)
				}
				return []byte(strings.Replace(string(b), from, to, 1))
			}
		}
		genuine := openDoor("genuine", 7)
		stolen, err := cloud.ReadSigned(genuine.payload(r.topics().Down("command")))
		if err != nil {
			t.Fatal(err)
		}
		cases := map[string]struct {
			change func(*signed)
			want   string
		}{
			"another gateway":   {func(s *signed) { s.subject = "roomgate/v1/other/down/command" }, "rejected forbidden subject"},
			"another level":     {func(s *signed) { s.subject = "roomgate/v1/test/down/config" }, "rejected forbidden subject"},
			"another type":      {func(s *signed) { s.spoil = replace("application/cloudevents+json", "application/json") }, "rejected invalid payloadType"},
			"another signature": {func(s *signed) { s.spoil = func(b []byte) []byte { return resigned(b, stolen.Signature) } }, "rejected forbidden sig"},
			"another key's name": {func(s *signed) {
				s.spoil = replace(cloud.KeyID(publicKey("cloud").Public), cloud.KeyID(publicKey("over").Public))
			}, "rejected forbidden sig"},
			"a stranger's key":       {func(s *signed) { s.by = "stranger" }, "rejected forbidden keyid"},
			"a revoked key":          {func(s *signed) { s.by = "revoked" }, "rejected forbidden keyid"},
			"a key for other things": {func(s *signed) { s.by = "configures" }, "rejected forbidden keyid"},
			"a key not yet valid":    {func(s *signed) { s.by = "later" }, "rejected forbidden keyid"},
			"a key not valid now":    {func(s *signed) { s.by = "over" }, "rejected forbidden keyid"},
			"no counter":             {func(s *signed) { s.counter = 0 }, "rejected invalid counter"},
			"a ttl only":             {func(s *signed) { s.data = commandTo("lock", "open", `"ttl_s":30`) }, "rejected invalid expires_at"},
			"expired":                {func(s *signed) { s.data, s.at = soon(-time.Second), time.Now().Add(-30*time.Second) }, "expired expired the"},
			"far ahead":              {func(s *signed) { s.data, s.at = soon(62*time.Second), time.Now().Add(10*time.Second) }, "rejected invalid expires_at"},
			"not yet sent":           {func(s *signed) { s.data, s.at = soon(100*time.Second), time.Now().Add(90*time.Second) }, "rejected invalid expires_at"},
			"retained":               {func(s *signed) { s.retained = true }, "rejected invalid a"},
		}
		for what, c := range cases {
			s := openDoor(what, 50)
			c.change(&s)
			r.bring(s)
			if got := r.outcome(what); got != c.want {
				t.Errorf("%s: %s, want %s", what, got, c.want)
			}
		}
		if r.opened() != 0 {
			t.Errorf("the door was opened %d times", r.opened())
		}
		r.bring(openDoor("then", 50)) // nothing of that has used the counter
		if got := r.outcome("then"); got != "done" || r.opened() != 1 {
			t.Errorf("a good one then: %s, opened %d times", got, r.opened())
		}
	})
}

// resigned puts another signature under a payload.
func resigned(payload, signature []byte) []byte {
	var v map[string]any
	if json.Unmarshal(payload, &v) != nil {
		return nil
	}
	v["signatures"].([]any)[0].(map[string]any)["sig"] = signature
	payload, _ = json.Marshal(v)
	return payload
}

// TestTwoEnvelopesWithOneID: whatever comes first settles the id.
func TestTwoEnvelopesWithOneID(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		forged := openDoor("one", 1)
		forged.by = "stranger"
		r.bring(forged)
		r.bring(openDoor("one", 2))
		if got := r.outcome("one"); got != "rejected forbidden keyid" || r.opened() != 0 {
			t.Errorf("the forged one first: %s, opened %d times", got, r.opened())
		}
		r.bring(openDoor("two", 3))
		forged.id = "two"
		r.bring(forged)
		r.bring(openDoor("two", 4))
		if got := states(r.receipts("two")); !slices.Equal(got, []device.State{device.Accepted, device.Done, device.Done, device.Done}) || r.opened() != 1 {
			t.Errorf("the good one first: %q, opened %d times", got, r.opened())
		}
		r.bring(openDoor("three", 4)) // was not used: its command had an answer already
		if got := r.outcome("three"); got != "done" {
			t.Errorf("the counter of what was answered: %s", got)
		}
	})
}

// TestUnsignedOpensNothing: what does not unlock needs no signature.
func TestUnsignedOpensNothing(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		held bool
		want string
	}{
		"a key is held":    {withDoor, true, "rejected forbidden is"},
		"none is held":     {withDoor, false, "done"},
		"refused, no key":  {withDoor + "\ndoors: {unsigned: refuse}\n", false, "rejected forbidden is"},
		"allowed, and key": {withDoor + "\ndoors: {unsigned: allow}\n", true, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startDoor(t, c.yaml)
				if c.held {
					r.hold(publicKey("cloud"))
				}
				r.down("command", "open", commandTo("lock", "open"), time.Now())
				r.down("command", "close", commandTo("lock", "close"), time.Now())
				r.down("command", "light", commandTo("light", "on"), time.Now())
				r.wait(time.Second)
				if got := r.outcome("open"); got != c.want {
					t.Errorf("open: %s, want %s", got, c.want)
				}
				for _, id := range []string{"close", "light"} {
					if got := r.outcome(id); got != "done" {
						t.Errorf("%s: %s", id, got)
					}
				}
				want := health.DoorsUnsigned
				if c.want != "done" {
					want = health.DoorsSigned
				}
				if h := r.Health.Report(); h.DoorOrders != want || len(h.SigningKeys) > 0 != c.held {
					t.Errorf("the heartbeat says %s with the keys %q", h.DoorOrders, h.SigningKeys)
				}
			})
		})
	}
}

// TestPowerCutBetweenCounterAndDoor: the counter is in the database before the door
// moves, so nothing that comes afterwards moves it.
func TestPowerCutBetweenCounterAndDoor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{yaml: withDoor, dir: dir, dial: noCloud}) // nobody moves the door
		r.hold(publicKey("cloud"))
		s := openDoor("cut", 9)
		payload := s.payload(r.topics().Down("command"))
		r.bringRaw(payload, false)
		if got := r.outcome("cut"); got != "accepted" {
			t.Fatalf("before: %s", got)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = startRig(t, rigOptions{yaml: withDoor, dir: dir, dial: noCloud})
		r.wait(2 * time.Second)
		r.bringRaw(payload, false)
		if got := r.outcome("cut"); got != "failed internal the" {
			t.Errorf("the same again: %s", got)
		}
		r.bring(openDoor("again", 9))
		if got := r.outcome("again"); got != "rejected conflict counter" || r.opened() != 0 {
			t.Errorf("its counter again: %s, opened %d times", got, r.opened())
		}
		r.bring(openDoor("next", 10))
		if got := r.outcome("next"); got != "done" || r.opened() != 1 {
			t.Errorf("the next: %s, opened %d times", got, r.opened())
		}
	})
}

// TestCounterIsStoredWithItsCommand: a command that cannot be stored uses none.
func TestCounterIsStoredWithItsCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		before := r.db.Stats().Commits
		r.down("command", "plain", commandTo("lock", "close"), time.Now())
		plain := r.db.Stats().Commits - before
		r.wait(time.Second)
		s := openDoor("counted", 1)
		payload := s.payload(r.topics().Down("command"))
		before = r.db.Stats().Commits
		if err := r.Cloud.Receive(t.Context(), cloud.Message{Topic: r.topics().Down("command"), Payload: payload, QoS: 1}); err != nil {
			t.Fatal(err)
		}
		if counted := r.db.Stats().Commits - before; counted != plain {
			t.Errorf("%d transactions before it is accepted, and %d without a counter", counted, plain)
		}
		r.wait(time.Second)
		r.enable("door-1", false)
		r.bring(openDoor("disabled", 2))
		r.enable("door-1", true)
		r.wait(5 * time.Second)
		r.bring(openDoor("enabled", 2))
		if got, then := r.outcome("disabled"), r.outcome("enabled"); got != "rejected not_now the" || then != "done" {
			t.Errorf("%s, then %s", got, then)
		}
	})
}

// TestNoSignatureStandsForTheClock: without trust of the clock nobody can tell for
// how long a command was kept back.
func TestNoSignatureStandsForTheClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, untrusted)
		r.bring(openDoor("open", 1))
		if got := r.outcome("open"); got != "rejected not_now the" || r.opened() != 0 {
			t.Errorf("%s, opened %d times", got, r.opened())
		}
		closing := signed{level: "command", id: "close", counter: 2, data: commandTo("lock", "close")}
		r.bring(closing)
		if got := r.outcome("close"); got != "done" {
			t.Errorf("close: %s", got)
		}
	})
}
