package api

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"roomgate/agent/webhook"
)

// A webhook is registered, shown without its secret, changed and deleted; what
// is wrong is named.
func TestWebhooks(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		o, err := b.agent.Access.CreateOrganization(t.Context(), "", "Tenant")
		if err != nil {
			t.Fatal(err)
		}
		const path = "/api/v1/webhooks"
		good := `{"organization_id":"` + o.ID + `","url":"https://hooks.example/a","events":["booking.created","booking.end"],"secret":"whsec-of-the-tenant-32-characters"}`
		for body, field := range map[string]string{
			`{}`:                                     "organization_id",
			strings.Replace(good, "https", "ftp", 1): "url",
			strings.Replace(good, "hooks.example", "127.0.0.1", 1):             "url",
			strings.Replace(good, "booking.end", "booking.ended", 1):           "events[1]",
			strings.Replace(good, `"booking.end"`, `7`, 1):                     "events",
			strings.Replace(good, o.ID, "nobody", 1):                           "organization_id",
			strings.Replace(good, `"secret"`, `"shared_secret"`, 1):            "shared_secret",
			strings.Replace(good, "whsec-of-the-tenant-32-characters", "x", 1): "secret",
		} {
			checkProblem(t, body, b.ask("POST", path, body), 422, "invalid", field)
		}
		made := b.ask("POST", path, good)
		var w struct{ Data webhookAnswer }
		if err := json.Unmarshal([]byte(made.body), &w); err != nil || made.StatusCode != 201 || strings.Contains(made.body, "whsec-of") {
			t.Fatalf("registered: %d %s", made.StatusCode, made.body)
		}
		one := path + "/" + w.Data.ID
		for _, get := range []string{path, path + "?organization_id=" + o.ID, one} {
			if got := b.ask("GET", get, ""); got.StatusCode != 200 || !strings.Contains(got.body, w.Data.ID) || strings.Contains(got.body, "whsec-of") {
				t.Errorf("GET %s: %d %s", get, got.StatusCode, got.body)
			}
		}
		if got := b.ask("PATCH", one, `{"state":"disabled","events":["booking.end"]}`); !strings.Contains(got.body, `"state":"disabled"`) {
			t.Errorf("changed: %s", got.body)
		}
		if got := b.ask("POST", one+"/rotate-secret", `{}`); got.StatusCode != 200 || !strings.Contains(got.body, `"secret":"`) {
			t.Errorf("rotated: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("GET", one+"/deliveries", ""); got.StatusCode != 200 || got.body != `{"data":[]}` {
			t.Errorf("deliveries: %d %s", got.StatusCode, got.body)
		}
		checkProblem(t, "redeliver", b.ask("POST", one+"/deliveries/none/redeliver", ""), 404, "not_found", "delivery_id")
		if got := b.ask("DELETE", one, ""); got.StatusCode != 204 {
			t.Errorf("deleted: %d %s", got.StatusCode, got.body)
		}
		checkProblem(t, "gone", b.ask("GET", one, ""), 404, "not_found", "id")
	})
}

// TestForeignOrganizationIsNoOrganization: a key of another does not learn that
// it is there.
func TestForeignOrganizationIsNoOrganization(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, key := b.orgKey(t, auroraOrg, "webhooks:read", "webhooks:write")
		for _, id := range []string{borealisOrg, nowhere} {
			body := `{"organization_id":"` + id + `","url":"https://hooks.example/a","events":["booking.end"]}`
			for what, got := range map[string]answer{"made": b.net.do(t, "POST", "/api/v1/webhooks", key, body),
				"listed": b.net.do(t, "GET", "/api/v1/webhooks?organization_id="+id, key)} {
				if p := checkProblem(t, what, got, 404, "not_found", "organization_id"); p.Detail != "organization_id is not an organization of this gateway" {
					t.Errorf("%s: %q", what, p.Detail)
				}
			}
		}
	}, tenants)
}

// TestOverlapIsDescribed: the description says the overlap of a rotation that the webhooks have.
func TestOverlapIsDescribed(t *testing.T) {
	s := parseSpec(t, false)
	overlap := s.at(s.root, "paths", "/api/v1/webhooks/{webhook_id}/rotate-secret", "post", "requestBody", "content", "application/json", "schema", "properties", "overlap_hours")
	for key, want := range map[string]time.Duration{"default": webhook.Overlap, "maximum": webhook.MaxOverlap} {
		if got := fmt.Sprint(s.at(overlap, key)); got != strconv.Itoa(int(want/time.Hour)) {
			t.Errorf("%s: %s, want %v", key, got, want)
		}
	}
}
