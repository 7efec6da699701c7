package agent

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/claim"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/doorsign"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/store"
)

// signingKey is a key of the cloud by its name.
func signingKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func publicKey(name string, may ...string) doorsign.Key {
	return doorsign.Key{Public: signingKey(name).Public().(ed25519.PublicKey), May: may}
}

// hold makes those the keys of the building.
func (r *rig) hold(all ...doorsign.Key) {
	r.t.Helper()
	s, err := r.Claim.Signers().Stage(all)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.Events.Commit(r.t.Context(), s); err != nil {
		r.t.Fatal(err)
	}
}

// signed is a signed message to be changed before it is sent.
type signed struct {
	level, id, data string
	topic, subject  string // empty: the right ones
	counter         uint64
	at              time.Time // zero: now
	by              string    // the key's name; empty: cloud
	retained        bool
	spoil           func([]byte) []byte // the payload
}

// openDoor opens the lock within half a minute, by a counter.
func openDoor(id string, counter uint64) signed {
	return signed{level: "command", id: id, counter: counter,
		data: commandTo("lock", "open", `"expires_at":"`+time.Now().Add(30*time.Second).UTC().Format(time.RFC3339)+`"`)}
}

// payload is the message as it travels.
func (s signed) payload(topic string) []byte {
	if s.at.IsZero() {
		s.at = time.Now()
	}
	if s.subject == "" {
		s.subject = topic
	}
	if s.by == "" {
		s.by = "cloud"
	}
	body, err := cloud.Envelope{ID: s.id, Source: "backend", Type: cloud.TypeOf(s.level), Subject: s.subject, Time: s.at.UTC(),
		Counter: s.counter, Data: json.RawMessage(s.data)}.Encode()
	if err != nil {
		panic(err)
	}
	payload := cloud.Sign(signingKey(s.by), body)
	if s.spoil != nil {
		payload = s.spoil(payload)
	}
	return payload
}

// bring hands a signed message in, and waits for what comes of it.
func (r *rig) bring(s signed) {
	r.t.Helper()
	topic := r.Cloud.Topics().Down(s.level)
	r.bringRaw(s.payload(topic), s.retained)
}

func (r *rig) bringRaw(payload []byte, retained bool) {
	r.t.Helper()
	m := cloud.Message{Topic: r.Cloud.Topics().Down("command"), Payload: payload, QoS: 1, Retained: retained}
	if strings.Contains(string(payload), "payloadType") { // else it is a command
		if s, err := cloud.ReadSigned(payload); err == nil && strings.Contains(string(s.Body), `"roomgate.config"`) {
			m.Topic = r.Cloud.Topics().Down("config")
		}
	}
	if err := r.Cloud.Receive(r.t.Context(), m); err != nil {
		r.t.Fatalf("it is not acknowledged: %v", err)
	}
	r.wait(time.Second)
}

// outcome is the last receipt of an id, as "rejected forbidden keyid".
func (r *rig) outcome(id string) string {
	r.t.Helper()
	all := r.receipts(id)
	if len(all) == 0 {
		return "none"
	}
	last := all[len(all)-1]
	field, _, _ := strings.Cut(last.Reason, " ")
	return strings.TrimSpace(fmt.Sprint(last.State, " ", last.Code, " ", field))
}

// opened is how often the door was opened.
func (r *rig) opened() int { return len(r.bench["door-1"].effects()) }

// startGuarded starts the building with the lock, which holds the key cloud.
func startGuarded(t *testing.T, yaml string) *rig {
	t.Helper()
	r := startDoor(t, yaml)
	r.hold(publicKey("cloud"))
	return r
}

func TestSignedCommandOpensTheDoorOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		first := openDoor("first", 42)
		payload := first.payload(r.Cloud.Topics().Down("command"))
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
		r.hold(publicKey("cloud"), publicKey("configures", doorsign.Configuration), later, over)
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
		stolen, err := cloud.ReadSigned(genuine.payload(r.Cloud.Topics().Down("command")))
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
		payload := s.payload(r.Cloud.Topics().Down("command"))
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
		payload := s.payload(r.Cloud.Topics().Down("command"))
		before = r.db.Stats().Commits
		if err := r.Cloud.Receive(t.Context(), cloud.Message{Topic: r.Cloud.Topics().Down("command"), Payload: payload, QoS: 1}); err != nil {
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

// configured brings a signed configuration and returns what came of it.
func (r *rig) configured(id string, revision int, parts, by string) string {
	r.t.Helper()
	r.bring(signed{level: "config", id: id, data: fmt.Sprintf(`{"revision":%d%s}`, revision, parts), by: by, retained: true})
	return r.outcome(id)
}

const (
	doorCode = `,"unlock_codes":[{"meeting_space_id":"` + otherRoom + `","name":"Cleaning","code":"483920"}]`
	doorRule = `,"rules":[{"id":"warm","name":"warm","allow_door":true,"trigger":{"event":"temperatureAlert"},"actions":[{"meeting_space_id":"` + otherRoom + `","device_type":"lock","action":"open"}]}]`
)

// TestWhatLetsPeopleInIsSigned goes through the parts of a configuration.
func TestWhatLetsPeopleInIsSigned(t *testing.T) {
	lamp := `,"devices":[{"id":"light-2","meeting_space_id":"` + otherRoom + `","poll":"9s"}]`
	for name, c := range map[string]struct{ parts, field string }{
		"codes":               {doorCode, "unlock_codes"},
		"a rule for a door":   {doorRule, "rules"},
		"API keys":            {`,"keys":[{"id":"app","name":"App","hash":"` + hashOf("x") + `","prefix":"rgorg_ab","organization_id":"` + cloudOrg + `","permissions":["devices:write"]}]`, "keys"},
		"a user":              {`,"users":[{"id":"eve","email":"eve@example.com","role":"admin"}]`, "users"},
		"a space with a lock": {`,"spaces":[{"id":"` + otherRoom + `","organization_id":"` + cloudOrg + `"}]`, "spaces"},
		"who may open":        {`,"permissions":[{"device_id":"door-1","action":"open","allow":["admin"]}]`, "permissions"},
		"a device":            {lamp, "devices"},
		"another lock":        {`,"devices":[{"id":"door-1","meeting_space_id":"` + otherRoom + `","poll":"9s"}]`, "devices"},
		"signing keys":        {`,"signing_keys":[{"key":"` + "Qw8YwI9NaH/RhL/H4JMZ6796jQWGc5KqWCfFKZMntGM=" + `"}]`, "signing_keys"},
		"nothing":             {``, ""},
		"a space without":     {`,"spaces":[{"id":"` + room + `","capacity":12}]`, ""},
		"a rule for a light":  {`,"rules":[{"id":"warm","name":"warm","trigger":{"event":"temperatureAlert"},"actions":[{"meeting_space_id":"` + room + `","device_type":"light","action":"on"}]}]`, ""},
		"who may use a light": {`,"permissions":[{"device_id":"light-1","action":"on","allow":["admin"]}]`, ""},
		"no codes, no keys":   {`,"unlock_codes":[],"keys":[],"users":[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startGuarded(t, withDoor)
				r.down("config", "plain", `{"revision":1`+c.parts+`}`, time.Now())
				r.wait(time.Second)
				want := "done"
				if c.field != "" {
					want = "rejected forbidden " + c.field
				}
				if got := r.outcome("plain"); got != want {
					t.Errorf("unsigned: %s, want %s", got, want)
				}
				if c.field == "" {
					return
				}
				parts := c.parts
				if c.field == "signing_keys" {
					parts = strings.Replace(parts, "[", `[{"keyid":"`+cloud.KeyID(publicKey("cloud").Public)+`"},`, 1)
				}
				if got := r.configured("signed", 1, parts, "cloud"); got != "done" {
					t.Errorf("signed: %s, %+v", got, r.receipts("signed"))
				}
			})
		})
	}
}

// TestSignedConfigurationIsTheNewest: an earlier one, which was signed as well, takes
// nothing back.
func TestSignedConfigurationIsTheNewest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		steps := []struct {
			id, parts, by, want string
			revision            int
		}{
			{"c5", doorCode, "cloud", "done", 5},
			{"c5", doorCode, "cloud", "done", 5}, // quietly: it is in force
			{"c5", doorRule, "cloud", "rejected conflict revision", 5},
			{"c4", doorRule, "cloud", "rejected conflict revision", 4},
			{"c6", doorCode, "stranger", "rejected forbidden keyid", 6},
			{"c7", doorCode, "cloud", "done", 7},
		}
		for i, s := range steps {
			if got := r.configured(s.id, s.revision, s.parts, s.by); got != s.want {
				t.Errorf("%d: %s: %s, want %s", i, s.id, got, s.want)
			}
		}
		if n := len(r.receipts("c5")); n != 2 {
			t.Errorf("c5 has %d receipts, want one for what was applied and one for the other", n)
		}
	})
}

// TestKeysAreRotatedByTheCloud: by the one before, and with it gone nothing of it
// counts.
func TestKeysAreRotatedByTheCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		item := func(name string) string {
			text, _ := json.Marshal(publicKey(name))
			return string(text)
		}
		part := func(names ...string) string {
			var all []string
			for _, n := range names {
				all = append(all, strings.Replace(item(n), `"keyid":"",`, "", 1))
			}
			return `,"signing_keys":[` + strings.Join(all, ",") + `]`
		}
		for i, s := range []struct{ parts, by, want string }{
			{part("cloud", "next"), "next", "rejected forbidden keyid"},
			{part("cloud", "next"), "cloud", "done"},
			{part("a", "b", "c", "d", "e"), "cloud", "rejected invalid signing_keys"},
			{`,"signing_keys":[]`, "cloud", "rejected invalid signing_keys"},
			{part("next"), "next", "done"},
			{part("cloud", "next"), "cloud", "rejected forbidden keyid"},
		} {
			if got := r.configured(fmt.Sprint("k", i), i+1, s.parts, s.by); got != s.want {
				t.Errorf("%d: %s, want %s: %+v", i, got, s.want, r.receipts(fmt.Sprint("k", i)))
			}
		}
		r.bring(openDoor("old", 1))
		last := openDoor("new", 1)
		last.by = "next"
		r.bring(last)
		if old, now := r.outcome("old"), r.outcome("new"); old != "rejected forbidden keyid" || now != "done" || r.opened() != 1 {
			t.Errorf("by the old key: %s, by the new one: %s", old, now)
		}
	})
}

// TestFirstKeyComesWithTheClaim: and goes with it.
func TestFirstKeyComesWithTheClaim(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := startClaimRig(t)
		code := c.wantState("new", claim.Waiting).Code
		wrong := acmeClaim
		wrong.SigningKeys = []backend.SigningKey{{Key: []byte("short")}}
		if got := c.bring("wrong", code, wrong); got.State != device.Rejected || !strings.HasPrefix(got.Reason, "signing_keys[0].key ") {
			t.Errorf("a key that is none: %+v", got)
		}
		whose := acmeClaim
		whose.SigningKeys = []backend.SigningKey{{Key: publicKey("cloud").Public}}
		if h := c.Health.Report(); h.DoorOrders != health.DoorsUnsigned {
			t.Errorf("before: %s", h.DoorOrders)
		}
		if got := c.bring("m1", code, whose); got.State != device.Done {
			t.Fatalf("receipt %+v", got)
		}
		for range 2 {
			if h := c.Health.Report(); h.DoorOrders != health.DoorsSigned || !slices.Equal(h.SigningKeys, []string{cloud.KeyID(publicKey("cloud").Public)}) {
				t.Errorf("claimed: %s, %q", h.DoorOrders, h.SigningKeys)
			}
			c.stop()
			c.start(t)
		}
		// A repair that loses the keys opens nothing.
		if err := c.db.Update(t.Context(), func(tx *store.Tx) error { return doorsign.Forget(tx) }); err != nil {
			t.Fatal(err)
		}
		c.stop()
		c.start(t)
		if h := c.Health.Report(); h.DoorOrders != health.DoorsSigned || len(h.SigningKeys) > 0 {
			t.Errorf("lost: %s, %q", h.DoorOrders, h.SigningKeys)
		}
		if err := c.Claim.Release(t.Context(), "me"); err != nil {
			t.Fatal(err)
		}
		if h := c.Health.Report(); h.DoorOrders != health.DoorsUnsigned {
			t.Errorf("released: %s", h.DoorOrders)
		}
	})
}

// TestSignedMessagesThatCannotBeRead are answered if they can be.
func TestSignedMessagesThatCannotBeRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		before := len(r.logged(eventlog.LevelReceipt))
		r.bringRaw([]byte(`{"payloadType":"x","payload":"!","signatures":[{}]}`), false)
		if n := len(r.logged(eventlog.LevelReceipt)); n != before {
			t.Errorf("%d receipts for nobody", n-before)
		}
		s := openDoor("typo", 1)
		s.data = strings.Replace(s.data, "expires_at", "expire_at", 1)
		r.bring(s)
		if got := r.outcome("typo"); got != "rejected invalid expire_at" {
			t.Errorf("a typo that is signed: %s", got)
		}
	})
}

// TestNoMessageVouchesForAJump: a broker that moves the gateway's clock back to the
// time of a command that it has kept would else make that command fresh.
func TestNoMessageVouchesForAJump(t *testing.T) {
	for name, held := range map[string]bool{"no key": false, "a key": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startDoor(t, strings.Replace(withDoor, "trust: always", "trust: auto", 1))
				if held {
					r.hold(publicKey("cloud"))
				}
				r.clock.Confirm()
				r.clock.Jump(-48 * time.Hour)
				if r.clock.Trust() == clock.Trusted {
					t.Fatal("the clock has not jumped")
				}
				at := r.clock.Verdict().Wall
				r.down("command", "plain", commandTo("light", "on"), at)
				if held {
					r.bring(signed{level: "command", id: "signed", counter: 1, data: commandTo("light", "on"), at: at})
				}
				r.wait(time.Second)
				if got := r.clock.Trust() == clock.Trusted; got == held {
					t.Errorf("afterwards the clock is trusted: %v", got)
				}
			})
		})
	}
}
