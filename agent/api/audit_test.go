package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"roomgate/agent/eventlog"
)

// change is a request that changes something, by an operation of V1.0, and the event
// of it. In paths and bodies a name in braces stands for what an earlier one has kept.
type change struct {
	operation, path, body string // no path: that of the operation
	event                 string
	keep                  string // "name=a.b" of the answer
}

// everyChange is a change by every operation that makes one, in an order in which all
// of them can be.
func everyChange() []change {
	const org, space, user, hook = "/api/v1/organizations/{organization_id}/api-keys", "/meetingspace/{meeting_space_id}", "/gateway/users/{user_id}", "/api/v1/webhooks"
	return []change{
		{"POST /api/v1/organizations", "", `{"name":"Third"}`, "organizationCreated", "made_org=data.id"},
		{"PATCH /api/v1/organizations/{organization_id}", "/api/v1/organizations/{made_org}", `{"name":"Fourth"}`, "organizationRenamed", ""},
		{"DELETE /api/v1/organizations/{organization_id}", "/api/v1/organizations/{made_org}", "", "organizationDeleted", ""},
		{"POST /gateway/users", "", `{"email":"uma@example.com","role":"member"}`, "userCreated", "user_id=data.id"},
		{"PATCH " + user, "", `{"role":"operator"}`, "userChanged", ""},
		{"POST " + org, "", `{"name":"app","permissions":["bookings:read"]}`, "apiKeyCreated", "key_id=data.id"},
		{"DELETE " + org + "/{key_id}", "", "", "apiKeyRevoked", ""},
		{"POST /gateway/keys", "", `{"name":"second"}`, "apiKeyCreated", "key_id=key.id"},
		{"DELETE /gateway/keys/{key_id}", "", "", "apiKeyRevoked", ""},
		{"POST " + user + "/disable", "", "", "userDisabled", ""},
		{"POST " + user + "/enable", "", "", "userEnabled", ""},
		{"POST " + user + "/sign-out", "", "", "userSignedOut", ""},
		{"POST /gateway/users/sign-out", "", `{"everybody":true}`, "everybodySignedOut", ""},
		{"DELETE " + user, "", "", "userDeleted", ""},

		{"POST " + hook, "", `{"organization_id":"{organization_id}","url":"https://hook.example/in","events":["booking.created"]}`, "webhookCreated", "webhook_id=data.id"},
		{"PATCH " + hook + "/{webhook_id}", "", `{"state":"disabled"}`, "webhookChanged", ""},
		{"POST " + hook + "/{webhook_id}/rotate-secret", "", `{}`, "webhookSecretRotated", ""},
		{"DELETE " + hook + "/{webhook_id}", "", "", "webhookDeleted", ""},
		{"POST /rules", "", `{"name":"hot","trigger":{"event":"temperatureAlert"},"actions":[{"meeting_space_id":"{borealis}","device_type":"fan","action":"on"}]}`, "ruleCreated", "rule_id=id"},
		{"PATCH /rules/{rule_id}", "", `{"enabled":false}`, "ruleChanged", ""},
		{"DELETE /rules/{rule_id}", "", "", "ruleDeleted", ""},

		{"POST " + space + "/state", "", `{"status":"disabled","from":"2000-01-05T10:00:00Z","until":"2000-01-05T11:00:00Z"}`, "stateScheduled", ""},
		{"GET " + space + "/state/disable", "/meetingspace/{borealis}/state/disable", "", "stateDisabled", ""},
		{"POST " + space + "/availability", "", `{"slot_size":30}`, "availabilityChanged", ""},
		{"POST " + space + "/calendar", "", `{"url":"https://calendar.example/a.ics"}`, "calendarLinked", ""},
		{"DELETE " + space + "/calendar", "", "", "calendarUnlinked", ""},
		{"POST " + space + "/calendar/feed", "", "{}", "calendarFeedCreated", ""},
		{"DELETE " + space + "/calendar/feed", "", "", "calendarFeedRevoked", ""},
		{"POST " + space + "/claim-code", "", "", "claimCodeCreated", ""},
		{"POST /console/pair/{meeting_space_id}", "/console/pair/{meeting_space_id}", "", "claimCodeCreated", ""},

		{"PUT " + space + "/unlock-codes", "", `{"name":"Cleaning","code":"483920"}`, "unlockCodeCreated", "code_id=response.id"},
		{"DELETE " + space + "/unlock-codes/{code_id}", "", "", "unlockCodeDeleted", ""},
		{"POST /devices", "", `{"meeting_space_id":"{borealis}","id":"borealis-o3","device_type":"o3-sensor","driver":"o3-room","options":{"occupancy":{"dialect":"zigbee2mqtt","topic":"z/motion"}}}`, "deviceCreated", ""},
		{"POST /devices/{device_id}/sensors", "/devices/borealis-o3/sensors", `{"sub_device":"temprature","options":{"dialect":"zigbee2mqtt","topic":"z/heat"}}`, "deviceChanged", ""},
		{"DELETE /devices/{device_id}/sensors/{sub_device}", "/devices/borealis-o3/sensors/temprature", "", "deviceChanged", ""},
		{"PATCH /devices/{device_id}", "/devices/aurora-light", `{"permissions":[{"action":"on","allow":["admin"]}]}`, "deviceChanged", ""},
		{"POST /devices/{device_id}/disable", "/devices/aurora-light/disable", "", "deviceDisabled", ""},
		{"POST /devices/{device_id}/enable", "/devices/aurora-light/enable", "", "deviceEnabled", ""},
		{"POST /edge/enable", "", `{"device_id":"aurora-light","enabled":false}`, "deviceDisabled", ""},
		{"DELETE /devices/{device_id}", "/devices/borealis-o3", "", "deviceRemoved", ""},
		{"DELETE /gateway/edge/{edge_id}", "", "", "edgeDeleted", ""},
		{"POST /bookings", "", `{"id":"b1","meeting_space_id":"{meeting_space_id}","start_time":"2000-01-01T00:00:00Z","minutes":30}`, "booking.created", ""},
		{"PATCH /bookings/{booking_id}", "", `{"title":"Review"}`, "booking.updated", ""},
		{"POST /bookings/{booking_id}/check-in", "", "", "booking.checked_in", ""},
		{"POST /bookings/{booking_id}/extend", "", `{"minutes":30}`, "booking.updated", ""},
		{"POST /bookings/{booking_id}/end", "", "", "booking.end", ""},
		{"POST /bookings", "", `{"id":"b2","meeting_space_id":"{meeting_space_id}","start_time":"2000-01-02T00:00:00Z","minutes":30}`, "booking.created", ""},
		{"POST /bookings/bulk", "", `{"operations":[{"operation":"update","id":"b2","title":"Bulk"}]}`, "booking.updated", ""},
		{"DELETE /bookings/{booking_id}", "/bookings/b2", "", "booking.cancelled", ""},
	}
}

// elsewhere are operations whose events other tests look for: they need a keypad, a
// cloud, a board or a page. An action leaves a receipt with the id of its command.
var elsewhere = map[string]string{
	"DELETE /meetingspace/{meeting_space_id}/unlock-codes/lockout": "TestLockoutIsLifted", "DELETE /claim": "TestReleasedAndClaimedAgain",
	"POST /edge/register": "TestEdgeDeviceClaimsItsSpace", "POST /devices/{meeting_space_id}/action": "TestReceipts", "POST /edge/control": "TestReceipts",
	"POST /display/{meeting_space_id}/pair": "TestDoorPage", "POST /display/{meeting_space_id}/do/{action}": "TestDoorPage", "POST /console/accept/{action}": "TestConsoleProvesARoom",
	"POST /console/setup/{action}": "TestConsoleSetsUp", "POST /console/made/{file}": "TestConsoleMakesABackup", "POST /console/update/{action}": "TestConsoleUpdates",
	"POST /console/session": "TestConsoleSessionIsAudited", "DELETE /console/session": "TestConsoleSessionIsAudited",
}

// TestEveryChangeSaysWhoMadeIt: each operation that changes something leaves an event
// that names who did it, once, and a refusal leaves none.
func TestEveryChangeSaysWhoMadeIt(t *testing.T) {
	tried := map[string]bool{}
	inBuilding(t, func(t *testing.T, b *building) {
		known := map[string]string{"meeting_space_id": aurora, "borealis": borealis, "organization_id": auroraOrg, "user_id": "mel", "booking_id": "b1"}
		known["edge_id"], _ = b.registered(borealis, "")
		for _, c := range everyChange() {
			tried[c.operation] = true
			method, path, _ := strings.Cut(c.operation, " ")
			if c.path != "" {
				path = c.path
			}
			if c.body != "" {
				b.refused(t, method, filled(path, known))
			}
			synctest.Wait()
			_, from, err := b.agent.Events.Latest(eventlog.Filter{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			parts := []string{}
			if c.body != "" {
				parts = append(parts, filled(c.body, known))
			}
			got := b.ask(method, filled(path, known), parts...)
			if got.StatusCode/100 != 2 {
				t.Errorf("%s: %d %s", c.operation, got.StatusCode, got.body)
				continue
			}
			if name, at, ok := strings.Cut(c.keep, "="); ok {
				var v any
				_ = json.Unmarshal([]byte(got.body), &v)
				known[name], _ = reach(v, at).(string)
			}
			b.wantAudit(t, c, from, known)
		}
	}, tenants)
	for _, r := range literalRoutes() {
		why, none := unaudited[r.name()]
		_, other := elsewhere[r.name()]
		if r.audit() == plainAudit {
			t.Errorf("%s: its event has no name: give it one in audited, or say in unaudited why it has none", r.name())
		}
		if r.changes() && (!none || why == tells) && !tried[r.name()] && !other {
			t.Errorf("%s is not tried: add it to everyChange", r.name())
		}
	}
	for _, r := range routes() {
		i := slices.IndexFunc(literalRoutes(), func(l route) bool { return l.name() == r.literal() })
		if i < 0 || r.changes() && r.audit() != literalRoutes()[i].audit() {
			t.Errorf("%s leaves %q, unlike %s", r.name(), r.audit(), r.literal())
		}
	}
}

// refused sends a body that is refused, and wants no event of it.
func (b *building) refused(t *testing.T, method, path string) {
	t.Helper()
	_, from, _ := b.agent.Events.Latest(eventlog.Filter{Limit: 1})
	if got := b.ask(method, path, `{"no":"such member"}`); got.StatusCode/100 == 2 {
		return // it takes none
	}
	found, _, err := b.agent.Events.Find(eventlog.Filter{After: from})
	for _, e := range found {
		if strings.Contains(string(e.Record), `"by":"system key"`) {
			t.Errorf("%s %s was refused, and leaves %s", method, path, e.Record)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// wantAudit wants one event of a change after a cursor.
func (b *building) wantAudit(t *testing.T, c change, from uint64, known map[string]string) {
	t.Helper()
	found, _, err := b.agent.Events.Find(eventlog.Filter{After: from, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, e := range found {
		var r struct{ Details map[string]any }
		if err := json.Unmarshal(e.Record, &r); err != nil {
			t.Fatal(err)
		}
		if r.Details["by"] != "system key" {
			continue
		}
		named = append(named, e.Type)
		for _, name := range []string{"key_id", "user_id", "webhook_id", "rule_id"} {
			if strings.Contains(c.operation+c.keep, name) && r.Details[name] != known[name] {
				t.Errorf("%s: the event names %v as %s, want %s", c.operation, r.Details[name], name, known[name])
			}
		}
		if strings.Contains(string(e.Record), "secret") || strings.Contains(string(e.Record), "483920") {
			t.Errorf("%s: the event tells a secret: %s", c.operation, e.Record)
		}
	}
	if !slices.Equal(named, []string{c.event}) {
		t.Errorf("%s leaves the events %q of the caller, want %s", c.operation, named, c.event)
	}
}

// TestNoChangeWithoutItsAuditEvent: a change whose audit event cannot be written is not made,
// as both are in one transaction. So no power cut leaves one without the other: what could
// not be made at first can be made afterwards, with its event, in the same order.
func TestNoChangeWithoutItsAuditEvent(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		broken := false
		for _, p := range b.server.network.router.patterns() {
			for _, o := range p.routes {
				r, handle := *o.route, o.handle
				o.route, r.handle = &r, func(s *Server, c *call) error {
					if broken && o.audit != "" { // what no JSON can say
						c.r = c.r.WithContext(s.agent.Events.WithAudit(c.r.Context(), eventlog.Record{Type: o.audit, Details: map[string]any{"by": func() {}}}))
					}
					return handle(s, c)
				}
			}
		}
		known := map[string]string{"meeting_space_id": aurora, "borealis": borealis, "organization_id": auroraOrg, "user_id": "mel", "booking_id": "b1"}
		for _, c := range everyChange() {
			if unaudited[c.operation] != "" {
				continue
			}
			method, path, _ := strings.Cut(c.operation, " ")
			if c.path != "" {
				path = c.path
			}
			parts := []string{}
			if c.body != "" {
				parts = append(parts, filled(c.body, known))
			}
			broken = true
			if got := b.ask(method, filled(path, known), parts...); got.StatusCode != 500 {
				t.Errorf("%s without its event: %d %s", c.operation, got.StatusCode, got.body)
			}
			broken = false
			_, from, err := b.agent.Events.Latest(eventlog.Filter{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			got := b.ask(method, filled(path, known), parts...)
			if got.StatusCode/100 != 2 {
				t.Errorf("%s afterwards: %d %s", c.operation, got.StatusCode, got.body)
			}
			if name, at, ok := strings.Cut(c.keep, "="); ok {
				var v any
				_ = json.Unmarshal([]byte(got.body), &v)
				known[name], _ = reach(v, at).(string)
			}
			b.wantAudit(t, c, from, known)
		}
	}, tenants)
}

// TestTwinIsFoundQuickly: the table of twins is not made for each route.
func TestTwinIsFoundQuickly(t *testing.T) {
	r := route{method: "GET", path: v2Prefix + "/devices/types"}
	if got := r.literal(); got != "GET /devices/types" {
		t.Fatalf("it is the twin of %s", got)
	}
	if n := testing.AllocsPerRun(10, func() { _ = r.literal() }); n > 2 {
		t.Errorf("%v allocations to find a twin", n)
	}
}
