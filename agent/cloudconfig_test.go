package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	newRoom   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a03"
	cloudOrg  = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac9"
	cloudKey  = "a-secret-that-the-cloud-has-made"
	wholeSite = `"spaces":[{"id":"` + newRoom + `","name":"Corona","timezone":"Europe/Berlin","organization_id":"` + cloudOrg + `"},{"id":"` + room + `","capacity":12}],
		"devices":[{"id":"door-3","meeting_space_id":"` + newRoom + `","type":"lock","driver":"scripted-lock","options":{"name":"door-3"}}]`
)

var wholeConfig = wholeSite + `,
	"permissions":[{"device_id":"light-1","action":"on","allow":["admin"]}],
	"users":[{"id":"ada","email":"ada@example.com","name":"Ada","role":"admin"}],
	"keys":[{"id":"app","name":"App","hash":"` + hashOf(cloudKey) + `","prefix":"rgorg_ab","organization_id":"` + cloudOrg + `","permissions":["devices:read"]}],
	"unlock_codes":[{"meeting_space_id":"` + newRoom + `","name":"Cleaning","code":"483920"}],
	"rules":[{"id":"warm","name":"warm","trigger":{"event":"temperatureAlert"},"actions":[{"meeting_space_id":"` + room + `","device_type":"light","action":"on"}]}]`

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// configure gives the building a configuration, and returns the receipt's
// state, reason and field.
func (r *rig) configure(id string, revision int, parts string) string {
	r.t.Helper()
	return r.deliver(cloud.Envelope{ID: id, Source: "backend", Type: "roomgate.config", Time: time.Now(),
		Data: json.RawMessage(fmt.Sprintf(`{"revision":%d,%s}`, revision, parts))}, true)
}

// deliver brings a message on down/config, as configure does.
func (r *rig) deliver(e cloud.Envelope, retained bool) string {
	r.t.Helper()
	payload, err := e.Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	before := len(r.logged(eventlog.LevelReceipt))
	if err := r.Cloud.Receive(r.t.Context(), cloud.Message{Topic: r.topics().Down("config"), Payload: payload, Retained: retained}); err != nil {
		r.t.Fatalf("%s was not taken: %v", e.ID, err)
	}
	all := r.logged(eventlog.LevelReceipt)
	if len(all) == before {
		return "no receipt"
	}
	var last device.Receipt
	if err := json.Unmarshal(all[len(all)-1].Data, &last); err != nil || last.CommandID != e.ID {
		r.t.Errorf("the last receipt is %+v, %v", last, err)
	}
	return strings.TrimSpace(string(last.State) + " " + last.Reason)
}

// managed is all that a configuration may change, to be compared.
func (r *rig) managed() (all []any) {
	r.t.Helper()
	infos := r.Site.SpaceInfos()
	for i, s := range r.Site.Spaces() {
		c := s.Config
		c.Devices = nil
		all = append(all, infos[i].Devices, c)
		if codes, err := r.Unlock.List(s.ID); err == nil {
			all = append(all, codes)
		}
	}
	keys := r.Access.Keys()
	organizations, err := r.Access.Organizations()
	for _, o := range organizations {
		of, e := r.Access.OrgKeys(o.ID)
		keys, err = append(keys, of...), errors.Join(err, e)
	}
	for i := range keys {
		keys[i].LastUsed = time.Time{}
	}
	var stored []string
	err = errors.Join(err, r.db.View(func(tx *store.Tx) error {
		for key := range store.NewTable[json.RawMessage]("additions").All(tx) {
			stored = append(stored, key)
		}
		for key, code := range store.NewTable[json.RawMessage]("unlock-codes").All(tx) {
			stored = append(stored, key+string(code))
		}
		return nil
	}))
	if err != nil {
		r.t.Fatal(err)
	}
	return append(all, keys, r.Access.Users(), r.Rules.List(), stored)
}

func TestConfigurationOfTheCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, hardware := t.TempDir(), moreHardware()
		o := rigOptions{dir: dir, bench: hardware}
		r := startRig(t, o)
		r.wait(3 * time.Second)
		if err := r.Access.KeyShown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.configure("m1", 1, wholeConfig); got != "done" {
			t.Fatalf("receipt %q", got)
		}
		check := func(when string) {
			t.Helper()
			r.wait(5 * time.Second)
			if got := r.status(newRoom, drivers.TypeLock, ""); got.Value != drivers.Closed {
				t.Errorf("%s the door is %+v", when, got)
			}
			if c := r.Site.Find(room).Config.Capacity; c != 12 || r.Site.Find(room).Name != "Aurora" {
				t.Errorf("%s Aurora has room for %d", when, c)
			}
			if p, ok := r.AuthenticateKey(cloudKey); !ok || p.OrganizationID != cloudOrg || len(p.Permissions.Names()) != 1 {
				t.Errorf("%s the key is %+v, %v", when, p, ok)
			}
			if err := r.Site.Permits(access.Principal{Kind: access.KindUser}, room, drivers.TypeLight, "", drivers.ActOn); err == nil {
				t.Errorf("%s everybody may switch the light on", when)
			}
			codes, err := r.Unlock.List(newRoom)
			if err != nil || len(codes) != 1 || r.Unlock.WhyNot(codes[0]) != "" {
				t.Errorf("%s the codes are %+v, %v", when, codes, err)
			}
			if users, all := r.Access.Users(), r.Rules.List(); len(users) != 1 || !users[0].Enabled || len(all) != 1 || !all[0].Enabled {
				t.Errorf("%s users %+v, rules %+v", when, users, all)
			}
		}
		check("at once")
		if got := r.configure("m1", 1, wholeConfig); got != "no receipt" {
			t.Errorf("the same message again: %q", got)
		}
		if got := r.configure("m0", 1, wholeConfig); !strings.HasPrefix(got, "rejected") {
			t.Errorf("an old revision: %q", got)
		}
		before := r.managed()
		r.stop()
		r = startRig(t, o)
		check("after a restart")
		if after := r.managed(); !reflect.DeepEqual(after, before) {
			t.Errorf("after a restart\n%+v\nbefore\n%+v", after, before)
		}
		r.book("mine", on(9, 0), on(10, 0))
		if _, _, err := r.Bookings.Create(t.Context(), booking.Booking{ID: "theirs", SpaceID: newRoom, Start: on(9, 0), End: on(10, 0)}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}

		if got := r.configure("m2", 2, `"spaces":[],"devices":[],"permissions":[],"users":[],"keys":[],"unlock_codes":[],"rules":[]`); got != "done" {
			t.Fatalf("all taken back: %q", got)
		}
		r.wait(5 * time.Second)
		if _, ok := r.AuthenticateKey(cloudKey); ok {
			t.Error("the key is not revoked")
		}
		if r.Site.Find(newRoom) != nil || r.Site.Find(room).Config.Capacity != 0 || len(r.Access.Users())+len(r.Rules.List()) > 0 || r.Site.Permits(access.Principal{Kind: access.KindUser}, room, drivers.TypeLight, "", drivers.ActOn) != nil {
			t.Errorf("something stays: %+v", r.managed())
		}
		if told := r.toldUp(); !slices.Contains(told, "theirs cancelled") || slices.Contains(told, "mine cancelled") {
			t.Errorf("told %v", told)
		}
		if _, err := r.Bookings.Get("mine"); err != nil {
			t.Error(err)
		}
	})
}

// TestBadConfigurationChangesNothing spoils one part at a time.
func TestBadConfigurationChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{bench: moreHardware()})
		r.wait(3 * time.Second)
		if _, _, err := r.Access.CreateKey(t.Context(), "mine", time.Time{}); err != nil {
			t.Fatal(err)
		}
		before := r.managed()
		for i, test := range []struct{ old, spoilt, field string }{
			{`"name":"Corona"`, `"name":""`, "spaces[0].name"},
			{`"capacity":12`, `"capacity":-1`, "spaces[1].capacity"},
			{`"name":"Corona"`, `"name":"Cor\u202eona"`, "spaces[0].name"},
			{`"name":"Cleaning"`, `"name":"Clean\u009bing"`, "unlock_codes[0].name"},
			{`"capacity":12`, `"devices":[]`, "spaces[1].devices"},
			{`"type":"lock"`, `"type":"lok"`, "devices[0].type"},
			{`"meeting_space_id":"` + newRoom + `","type"`, `"meeting_space_id":"x","type"`, "devices[0]"},
			{`"options":{"name":"door-3"}`, `"options":{"nme":"door-3"}`, "devices[0].options.nme"},
			{`"device_id":"light-1"`, `"device_id":"light-9"`, "permissions[0].device_id"},
			{`"allow":["admin"]`, `"allow":["cat"]`, "permissions[0]"},
			{`ada@example.com`, `ada`, "users[0].email"},
			{`"role":"admin"`, `"role":"king"`, "users[0].role"},
			{`"hash":"`, `"hash":"zz`, "keys[0].hash"},
			{`"devices:read"`, `"devices:eat"`, "keys[0].permissions"},
			{`"id":"app"`, `"id":"system"`, "keys[0].id"},
			{`"code":"483920"`, `"code":"4"`, "unlock_codes[0].code"},
			{`"rules":`, `"update":{"url":"http://example.org/x"},"rules":`, "update.url"},
			{`"code":"483920"`, `"code":""`, "unlock_codes[0].code"},
			{`"rules":`, `"reconnect_spread_s":61,"rules":`, "reconnect_spread_s"},
			{`"rules":`, `"reconnect_spread_s":-1,"rules":`, "reconnect_spread_s"},
			{`{"meeting_space_id":"` + newRoom + `","name":"Cleaning"`, `{"meeting_space_id":"` + room + `","name":"Cleaning"`, "unlock_codes[0].meeting_space_id"},
			{`"event":"temperatureAlert"`, `"event":"x"`, "rules[0].trigger"},
			{`"id":"warm"`, `"id":"War m"`, "rules[0].id"},
			{`"action":"on"}]}]`, `"action":"fly"}]}]`, "rules[0].actions[0]"},
			{`"permissions":[{`, `"permisions":[{`, "permisions"},
			{`"revision"`, `"revision"`, ""},
		} {
			parts := strings.Replace(wholeConfig, test.old, test.spoilt, 1)
			if test.field != "" && parts == wholeConfig {
				t.Fatalf("%s is not spoilt", test.old)
			}
			if test.field == "" {
				parts = `"spaces":5`
			}
			got := r.configure(fmt.Sprint("bad", i), i+1, parts)
			if !strings.HasPrefix(got, "rejected") || !strings.Contains(got, test.field) {
				t.Errorf("%s: %q, want %s", test.spoilt, got, test.field)
			}
			if after := r.managed(); !reflect.DeepEqual(after, before) {
				t.Fatalf("%s changed something:\n%+v\nbefore\n%+v", test.spoilt, after, before)
			}
		}
		if got := r.configure("good", 1, wholeConfig); got != "done" {
			t.Errorf("the good one after all that: %q", got)
		}
	})
}

// TestRefusedConfigurationIsAnsweredOnce: the broker keeps it, and brings it
// with each connection.
func TestRefusedConfigurationIsAnsweredOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir(), bench: moreHardware()}
		r := startRig(t, o)
		r.wait(3 * time.Second)
		const bad, other = `"devices":[{"id":"hub-2"}]`, `"devices":[{"id":"hub-3"}]`
		for i, c := range []struct{ id, parts, want string }{
			{"m1", bad, "rejected devices[0].meeting_space_id"}, {"m1", bad, "no receipt"}, {"m1", other, "rejected"}, {"m1", other, "no receipt"},
			{"m2", other, "rejected"}, {"m3", `"devices":5`, "rejected devices"}, {"m3", `"devices":5`, "no receipt"},
		} {
			if got := r.configure(c.id, 7, c.parts); !strings.HasPrefix(got, c.want) {
				t.Errorf("%d. %s %s: %q, want %s", i, c.id, c.parts, got, c.want)
			}
		}
		r.stop()
		r = startRig(t, o)
		r.wait(3 * time.Second)
		if got := r.configure("m3", 7, `"devices":5`); got != "no receipt" {
			t.Errorf("after a restart: %q", got)
		}
		if got := r.deliver(cloud.Envelope{ID: "m3", Source: "backend", Type: "roomgate.config", Data: json.RawMessage(`{"revision":7,"devices":5}`)}, false); !strings.HasPrefix(got, "rejected") {
			t.Errorf("sent again, not kept: %q", got)
		}
		if got := r.configure("m3", 7, `"devices":[]`); got != "done" {
			t.Errorf("put right: %q", got)
		}
		if got := r.configure("m1", 7, other); !strings.HasPrefix(got, "rejected") {
			t.Errorf("an old one: %q", got)
		}
		if got := r.configure("m1", 7, other); got != "no receipt" {
			t.Errorf("the old one again: %q", got)
		}
		for _, want := range []string{"rejected type", "no receipt"} {
			if got := r.deliver(cloud.Envelope{ID: "m4", Source: "backend", Type: "roomgate.command"}, true); !strings.HasPrefix(got, want) {
				t.Errorf("of another type: %q, want %s", got, want)
			}
		}
	})
}

// TestConfigurationKeepsWhatTheBuildingMade: the cloud does not take it away,
// and cannot take it over.
func TestConfigurationKeepsWhatTheBuildingMade(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{bench: moreHardware()})
		r.wait(3 * time.Second)
		if _, err := r.Site.AddDevice(t.Context(), otherRoom, "hub-2", json.RawMessage(`{"type":"o3-sensor","driver":"scripted-hub","options":{"name":"hub-2"}}`), "test"); err != nil {
			t.Fatal(err)
		}
		if got := r.configure("m1", 1, wholeConfig); got != "done" {
			t.Fatalf("receipt %q", got)
		}
		taken := `"devices":[{"id":"hub-2","meeting_space_id":"` + otherRoom + `","poll":"9s"}]`
		if got := r.configure("m2", 2, taken); !strings.Contains(got, "devices[0].id") {
			t.Errorf("taken over: %q", got)
		}
		r.refuses("the cloud's, removed here", problem.Forbidden, "device_id", r.Site.RemoveDevice(t.Context(), "door-3", "test"))
		if got := r.configure("m3", 3, `"devices":[]`); got != "done" {
			t.Errorf("receipt %q", got)
		}
		if r.Site.Now().Device("hub-2") == nil {
			t.Error("what was made in the building is gone")
		}
		if r.Site.Now().Device("door-3") != nil {
			t.Error("the cloud's door stays")
		}
		if codes := r.Site.Find(newRoom); codes == nil || len(r.Access.Users()) != 1 {
			t.Error("what was not named is gone")
		}
	})
}

// TestRuleOfTheCloudForWhatComesWithIt: a rule is judged by the building as it
// will be.
func TestRuleOfTheCloudForWhatComesWithIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{bench: moreHardware()})
		r.wait(3 * time.Second)
		const closes = `,"rules":[{"id":"shut","name":"shut","meeting_space_id":"` + newRoom + `","trigger":{"time":"22:00"},"actions":[{"device_type":"lock","action":"close"}]}]`
		if got := r.configure("m1", 1, wholeSite+closes); got != "done" {
			t.Errorf("with its door: %q", got)
		}
		if got := r.configure("m2", 2, `"spaces":[],"devices":[]`+closes); !strings.HasPrefix(got, "rejected rules[0].meeting_space_id") {
			t.Errorf("without its space: %q", got)
		}
	})
}

// Over how long the gateway comes back stays where it is not named, and over a restart.
func TestSpreadOfTheCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir()}
		r := startRig(t, o)
		for i, c := range []struct {
			parts string
			want  time.Duration
		}{{`"users":[]`, 2 * time.Second}, {`"reconnect_spread_s":60`, time.Minute}, {`"users":[]`, time.Minute}, {`"reconnect_spread_s":0`, 2 * time.Second}, {`"reconnect_spread_s":7`, 7 * time.Second}} {
			if got := r.configure(fmt.Sprint("s", i), i+1, c.parts); got != "done" {
				t.Errorf("%s: %q", c.parts, got)
			}
			if have := r.Cloud.Spread(); have != c.want {
				t.Errorf("%s: %v", c.parts, have)
			}
		}
		r.stop()
		if r = startRig(t, o); r.Cloud.Spread() != 7*time.Second {
			t.Errorf("after a restart: %v", r.Cloud.Spread())
		}
	})
}
