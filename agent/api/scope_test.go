package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/schedule"
)

// TestOrganizationsSeeOnlyTheirOwn looks everywhere where a body, a query or a
// list could show what is another's.
func TestOrganizationsSeeOnlyTheirOwn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, key := b.orgKey(t, auroraOrg, auth.All.Names()...)
		start := time.Now().UTC().Truncate(24 * time.Hour).Add(34 * time.Hour)
		theirs, _, err := b.agent.Bookings.Create(t.Context(), booking.Booking{ID: "theirs", SpaceID: borealis, Start: start, End: start.Add(time.Hour)}, schedule.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(method, path string, body ...string) answer {
			t.Helper()
			return b.net.do(t, method, path, append(body, key)...)
		}
		hidden := func(method, path, body string) {
			t.Helper()
			got := ask(method, path, body)
			missing := ask(method, strings.Replace(path, borealis, nowhere, 1), strings.Replace(body, borealis, nowhere, 1))
			if got.StatusCode != 404 || got.body != missing.body {
				t.Errorf("%s %s %s: %d %s, but what is not there %s", method, path, body, got.StatusCode, got.body, missing.body)
			}
		}
		hidden("GET", "/devices/events?meeting_space_id="+borealis, "")
		hidden("GET", "/devices/types?meeting_space_id="+borealis, "")
		hidden("GET", "/bookings?meeting_space_id="+borealis, "")
		hidden("POST", "/edge/heartbeat", `{"meeting_space_id":"`+borealis+`"}`)
		hidden("POST", "/bookings", `{"meeting_space_id":"`+borealis+`","start_time":"2000-01-03T10:00:00Z","minutes":30}`)
		for _, path := range []string{"events", "devices", "devices/types", "bookings"} {
			hidden("GET", "/v2.0/"+path+"?meeting_space_id="+borealis, "")
		}
		hidden("GET", "/v2.0/meeting-spaces/"+borealis, "")
		hidden("POST", "/v2.0/edge-devices/heartbeat", `{"meeting_space_id":"`+borealis+`"}`)
		hidden("POST", "/v2.0/bookings", `{"meeting_space_id":"`+borealis+`","start_time":"2000-01-03T10:00:00Z","minutes":30}`)
		for _, path := range []string{"/devices/types", "/devices/events?limit=200", "/meetingspace/get_meeting_space", "/bookings", "/api/v1/organizations",
			"/v2.0/devices", "/v2.0/devices/types", "/v2.0/events?limit=200", "/v2.0/meeting-spaces", "/v2.0/bookings", "/v2.0/organizations"} {
			all, own := b.ask("GET", path), ask("GET", path)
			if own.StatusCode != 200 || !strings.Contains(all.body, "6b1e4a02") && !strings.HasSuffix(path, "/organizations") ||
				strings.Contains(own.body, borealis) || strings.Contains(own.body, borealisOrg) {
				t.Errorf("%s: %d %s", path, own.StatusCode, own.body)
			}
		}
		used := ask("POST", "/bookings", `{"id":"theirs","meeting_space_id":"`+aurora+`","start_time":"2000-01-03T10:00:00Z","minutes":30}`)
		checkProblem(t, "the id of another's booking", used, 409, "conflict", "id")
		another := ask("POST", "/bookings", `{"meeting_space_id":"`+aurora+`","organization_id":"`+borealisOrg+`","start_time":"2000-01-03T10:00:00Z","minutes":30}`)
		checkProblem(t, "for another organization", another, 422, "invalid", "organization_id")
		var bulk struct{ Results []bulkResult }
		got := ask("POST", "/bookings/bulk", `{"operations":[{"operation":"cancel","id":"theirs"},{"operation":"update","id":"theirs","title":"x"},`+
			`{"operation":"create","meeting_space_id":"`+borealis+`","start_time":"2000-01-03T10:00:00Z","minutes":30},`+
			`{"operation":"create","meeting_space_id":"`+aurora+`","start_time":"2000-01-03T10:00:00Z","minutes":30}]}`)
		if err := json.Unmarshal([]byte(got.body), &bulk); err != nil || len(bulk.Results) != 4 {
			t.Fatalf("bulk: %d %s", got.StatusCode, got.body)
		}
		for i, want := range []int{404, 404, 404, 201} {
			if bulk.Results[i].Status != want {
				t.Errorf("bulk item %d: %+v", i, bulk.Results[i])
			}
		}
		if now, err := b.agent.Bookings.Get("theirs"); err != nil || now.Revision != theirs.Revision {
			t.Errorf("another's booking was changed: %+v, %v", now, err)
		}
		b.checkStream(t, key)
	}, tenants)
}

// checkStream moves both rooms and wants to hear of Aurora only.
func (b *building) checkStream(t *testing.T, key string) {
	t.Helper()
	s := b.stream(t, "/devices/events", key)
	defer s.close()
	fan := b.ask("POST", "/devices/"+borealis+"/action", `{"device_type":"fan","action":"on"}`)
	if fan.StatusCode != 200 {
		t.Fatalf("fan: %d %s", fan.StatusCode, fan.body)
	}
	b.move("aurora", "occupancy", "occupied")
	if _, kind, data := s.event(); kind != "occupancyChanged" || strings.Contains(data, borealis) {
		t.Errorf("the stream tells %s %s", kind, data)
	}
}

// TestOrganizationKeysByTheirAdmin lets the admin of an organization manage
// its keys, and no other's.
func TestOrganizationKeysByTheirAdmin(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ann, bob := "Authorization: Bearer "+b.signIn(t, "ann@example.com"), "Authorization: Bearer "+b.signIn(t, "bob@example.com")
		const keys = "/api/v1/organizations/" + auroraOrg + "/api-keys"
		made := b.net.do(t, "POST", keys, ann, `{"name":"app","permissions":["spaces:read"]}`)
		var key struct {
			Data struct {
				access.Key
				Secret string
			}
		}
		if err := json.Unmarshal([]byte(made.body), &key); err != nil || made.StatusCode != 201 || !strings.HasPrefix(key.Data.Secret, auth.OrganizationPrefix) {
			t.Fatalf("made: %d %s", made.StatusCode, made.body)
		}
		header := "X-Org-Api-Key: " + key.Data.Secret
		if got := b.net.do(t, "GET", "/meetingspace/"+aurora+"/state", header); got.StatusCode != 200 {
			t.Errorf("with the key: %d %s", got.StatusCode, got.body)
		}
		listed := b.net.do(t, "GET", keys, ann)
		if !strings.Contains(listed.body, key.Data.ID) || strings.Contains(listed.body, key.Data.Secret) || !strings.Contains(listed.body, "last_used_at") {
			t.Errorf("listed: %d %s", listed.StatusCode, listed.body)
		}
		checkProblem(t, "listed by another's admin", b.net.do(t, "GET", keys, bob), 404, "not_found", "organization_id")
		checkProblem(t, "revoked by another's admin", b.net.do(t, "DELETE", keys+"/"+key.Data.ID, bob), 404, "not_found", "organization_id")
		own := strings.Replace(keys, auroraOrg, borealisOrg, 1)
		checkProblem(t, "revoked as his own", b.net.do(t, "DELETE", own+"/"+key.Data.ID, bob), 404, "not_found", "id")
		checkProblem(t, "a system key", b.net.do(t, "POST", "/gateway/keys", ann, `{"name":"x"}`), 403, "forbidden", "")
		checkProblem(t, "an organization", b.net.do(t, "POST", "/api/v1/organizations", ann, `{"name":"x"}`), 403, "forbidden", "")
		for body, field := range map[string]string{`{"name":"x"}`: "permissions", `{"name":"x","permissions":["all"]}`: "permissions",
			`{"name":"","permissions":["spaces:read"]}`: "name", `{"name":"x","permissions":["spaces:read"],"expires_at":"1999-01-01T00:00:00Z"}`: "expires_at"} {
			checkProblem(t, body, b.net.do(t, "POST", keys, ann, body), 422, "invalid", field)
		}
		if got := b.net.do(t, "DELETE", keys+"/"+key.Data.ID, ann); got.StatusCode != 204 {
			t.Fatalf("revoked: %d %s", got.StatusCode, got.body)
		}
		checkProblem(t, "with the revoked key", b.net.do(t, "GET", "/meetingspace/"+aurora+"/state", header), 401, "unauthorized", "X-Org-Api-Key")
	}, tenants)
}
