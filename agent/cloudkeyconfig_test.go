package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/claim"
	"roomgate/agent/clock"
	"roomgate/agent/cloudkey"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/store"
)

// configured brings a signed configuration and returns its outcome.
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
		"codes":                   {doorCode, "unlock_codes"},
		"a rule for a door":       {doorRule, "rules"},
		"API keys":                {`,"keys":[{"id":"app","name":"App","hash":"` + hashOf("x") + `","prefix":"rgorg_ab","organization_id":"` + cloudOrg + `","permissions":["devices:write"]}]`, "keys"},
		"a user":                  {`,"users":[{"id":"eve","email":"eve@example.com","role":"admin"}]`, "users"},
		"a space with a lock":     {`,"spaces":[{"id":"` + otherRoom + `","organization_id":"` + cloudOrg + `"}]`, "spaces"},
		"the zone of one without": {`,"spaces":[{"id":"` + room + `","timezone":"Asia/Shanghai"}]`, "spaces"},
		"what follows in one":     {`,"spaces":[{"id":"` + room + `","follow":{"light":true}}]`, "spaces"},
		"a calendar of one":       {`,"spaces":[{"id":"` + room + `","calendar":{"url":"https://evil.example/feed.ics"}}]`, "spaces"},
		"the name of one":         {`,"spaces":[{"id":"` + room + `","name":"Corona"}]`, "spaces"},
		"another space":           {`,"spaces":[{"id":"5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec1","name":"New","timezone":"Asia/Shanghai"}]`, "spaces"},
		"who may open":            {`,"permissions":[{"device_id":"door-1","action":"open","allow":["admin"]}]`, "permissions"},
		"a device":                {lamp, "devices"},
		"another lock":            {`,"devices":[{"id":"door-1","meeting_space_id":"` + otherRoom + `","poll":"9s"}]`, "devices"},
		"signing keys":            {`,"signing_keys":[{"key":"` + "Qw8YwI9NaH/RhL/H4JMZ6796jQWGc5KqWCfFKZMntGM=" + `"}]`, "signing_keys"},
		"a release":               {`,"update":{"url":"https://192.168.1.10/admin"}`, "update.url"},
		"nothing":                 {``, ""},
		"a space without":         {`,"spaces":[{"id":"` + room + `","capacity":12}]`, ""},
		"what describes one":      {`,"spaces":[{"id":"` + room + `","floor":"2","logo":"https://example.com/logo.png"}]`, ""},
		"a rule for a light":      {`,"rules":[{"id":"warm","name":"warm","trigger":{"event":"temperatureAlert"},"actions":[{"meeting_space_id":"` + room + `","device_type":"light","action":"on"}]}]`, ""},
		"who may use a light":     {`,"permissions":[{"device_id":"light-1","action":"on","allow":["admin"]}]`, ""},
		"no codes, no keys":       {`,"unlock_codes":[],"keys":[],"users":[],"update":{"url":""}`, ""},
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
		if err := c.db.Update(t.Context(), func(tx *store.Tx) error { return cloudkey.Forget(tx) }); err != nil {
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
