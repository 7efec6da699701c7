package api

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
)

// TestUsersAreManaged: an admin keeps the people of his organization out, lets them in
// and signs them out, by either version, and nobody of another.
func TestUsersAreManaged(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ann, bob, system := b.by(t, "ann@example.com"), b.by(t, "bob@example.com"), "X-API-Key: "+systemKey
		for _, root := range []string{"/gateway/users", "/v2.0/users"} {
			all, own := b.net.do(t, "GET", root, system), b.net.do(t, "GET", root, ann)
			goldentest.Values(t, root, goldentest.Pairs{"StatusCode": {all.StatusCode, 200},
				"ada":        {strings.Contains(all.body, `"id":"ada","email":"ada@example.com","name":"Ada","role":"admin","organization_id":null,"enabled":true,"made_here":false`), true},
				`"id":"mel"`: {strings.Contains(own.body, `"id":"mel"`), true}, "bob@": {strings.Contains(own.body, "bob@"), false},
				"ada@ of the organization": {strings.Contains(own.body, "ada@"), false}})
			for _, what := range []string{"enable", "disable", "sign-out"} {
				checkProblem(t, what+" of another's", b.net.do(t, "POST", root+"/mel/"+what, bob), 404, "not_found", "user_id")
				checkProblem(t, what+" of nobody", b.net.do(t, "POST", root+"/nobody/"+what, system), 404, "not_found", "user_id")
				checkProblem(t, what+" by a member", b.net.do(t, "POST", root+"/mel/"+what, b.by(t, "mel@example.com")), 403, "forbidden", "")
			}
			mel := b.by(t, "mel@example.com")
			sees := func(when string, want int) {
				t.Helper()
				if got := b.net.do(t, "GET", "/bookings", mel); got.StatusCode != want {
					t.Errorf("%s: %d %s", when, got.StatusCode, got.body)
				}
			}
			sees("signed in", 200)
			if got := b.net.do(t, "POST", root+"/mel/sign-out", ann); got.StatusCode != 204 {
				t.Errorf("signed out: %d %s", got.StatusCode, got.body)
			}
			sees("signed out", 401)
			mel = b.by(t, "mel@example.com")
			if got := b.net.do(t, "POST", root+"/mel/disable", ann); got.StatusCode != 200 || !strings.Contains(got.body, `"enabled":false`) {
				t.Errorf("disabled: %d %s", got.StatusCode, got.body)
			}
			sees("disabled", 401)
			if got := b.net.do(t, "POST", root+"/mel/enable", ann); got.StatusCode != 200 || !strings.Contains(got.body, `"enabled":true`) {
				t.Errorf("enabled: %d %s", got.StatusCode, got.body)
			}
			sees("enabled, with the token from before", 401)
			mel = b.by(t, "mel@example.com")
			checkProblem(t, "everybody, by an organization", b.net.do(t, "POST", root+"/sign-out", ann, `{"everybody":true}`), 403, "forbidden", "")
			checkProblem(t, "everybody, unsaid", b.net.do(t, "POST", root+"/sign-out", system, `{"everybody":false}`), 422, "invalid", "everybody")
			sees("still", 200)
			if got := b.net.do(t, "POST", root+"/sign-out", system, `{"everybody":true}`); got.StatusCode != 204 {
				t.Errorf("everybody signed out: %d %s", got.StatusCode, got.body)
			}
			sees("after everybody was signed out", 401)
			ann, bob = b.by(t, "ann@example.com"), b.by(t, "bob@example.com")
		}
	}, tenants)
}

// TestUsersAreMadeHere: an admin makes, promotes and removes people of his organization,
// by either version, and nobody of another.
func TestUsersAreMadeHere(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ann, bob, system := b.by(t, "ann@example.com"), b.by(t, "bob@example.com"), "X-API-Key: "+systemKey
		for _, root := range []string{"/gateway/users", "/v2.0/users"} {
			made := b.net.do(t, "POST", root, ann, `{"email":"uma@example.com","name":"Uma"}`)
			id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(made.body)
			if made.StatusCode != 201 || id == nil || !strings.Contains(made.body, `"role":"member","organization_id":"`+auroraOrg+`","enabled":true,"made_here":true`) {
				t.Fatalf("%s: %d %s", root, made.StatusCode, made.body)
			}
			uma := b.by(t, "uma@example.com")
			if got := b.net.do(t, "GET", "/gateway/users", uma); got.StatusCode != 403 {
				t.Errorf("a member lists: %d", got.StatusCode)
			}
			checkProblem(t, "for another organization", b.net.do(t, "POST", root, bob, `{"email":"x@example.com","organization_id":"`+auroraOrg+`"}`), 404, "not_found", "organization_id")
			checkProblem(t, "twice", b.net.do(t, "POST", root, system, `{"email":"UMA@example.com","organization_id":"`+auroraOrg+`"}`), 409, "conflict", "email")
			checkProblem(t, "changed by another's", b.net.do(t, "PATCH", root+"/"+id[1], bob, `{"role":"admin"}`), 404, "not_found", "user_id")
			checkProblem(t, "removed by another's", b.net.do(t, "DELETE", root+"/"+id[1], bob), 404, "not_found", "user_id")
			checkProblem(t, "herself", b.net.do(t, "PATCH", root+"/"+id[1], uma, `{"role":"admin"}`), 403, "forbidden", "")
			checkProblem(t, "of the configuration", b.net.do(t, "PATCH", root+"/mel", ann, `{"role":"admin"}`), 409, "not_now", "user_id")
			checkProblem(t, "no role", b.net.do(t, "PATCH", root+"/"+id[1], ann, `{"role":"boss"}`), 422, "invalid", "role")
			if got := b.net.do(t, "PATCH", root+"/"+id[1], ann, `{"role":"admin"}`); got.StatusCode != 200 || !strings.Contains(got.body, `"role":"admin"`) {
				t.Errorf("promoted: %d %s", got.StatusCode, got.body)
			}
			if got := b.net.do(t, "GET", "/gateway/users", uma); got.StatusCode != 200 || strings.Contains(got.body, "bob@") {
				t.Errorf("an admin of the organization lists: %d %s", got.StatusCode, got.body)
			}
			if got := b.net.do(t, "DELETE", root+"/"+id[1], ann); got.StatusCode != 204 {
				t.Errorf("removed: %d %s", got.StatusCode, got.body)
			}
			if got := b.net.do(t, "GET", "/gateway/users", uma); got.StatusCode != 401 {
				t.Errorf("removed, and still in: %d", got.StatusCode)
			}
		}
	}, tenants)
}

// TestOrganizationsEnd: one that has anything stays, and is told what.
func TestOrganizationsEnd(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		system := "X-API-Key: " + systemKey
		for _, root := range []string{"/api/v1/organizations", "/v2.0/organizations"} {
			made := b.net.do(t, "POST", root, system, `{"name":"Third floor"}`)
			id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(made.body)
			if made.StatusCode != 201 || id == nil {
				t.Fatalf("%d %s", made.StatusCode, made.body)
			}
			checkProblem(t, "twice", b.net.do(t, "POST", root, system, `{"name":"third floor"}`), 409, "conflict", "name")
			if got := b.net.do(t, "PATCH", root+"/"+id[1], system, `{"name":"Fourth floor"}`); got.StatusCode != 200 || !strings.Contains(got.body, `"name":"Fourth floor"`) {
				t.Errorf("renamed: %d %s", got.StatusCode, got.body)
			}
			hook := b.net.do(t, "POST", "/api/v1/webhooks", system, `{"organization_id":"`+id[1]+`","url":"https://hooks.example.com/in","events":["booking.created"]}`)
			start := time.Now().UTC().Truncate(24 * time.Hour).Add(33 * time.Hour).Format(time.RFC3339)
			booked := b.net.do(t, "POST", "/bookings", system, `{"meeting_space_id":"`+aurora+`","organization_id":"`+id[1]+`","start_time":"`+start+`","minutes":30}`)
			if hook.StatusCode != 201 || booked.StatusCode != 201 {
				t.Fatalf("%d %s, %d %s", hook.StatusCode, hook.body, booked.StatusCode, booked.body)
			}
			refused := b.net.do(t, "DELETE", root+"/"+id[1], system)
			if checkProblem(t, "with a webhook and a booking", refused, 409, "conflict", "organization_id"); !strings.Contains(refused.body, "still has 1 webhook, 1 booking") {
				t.Errorf("refused with %s", refused.body)
			}
			for _, own := range []struct{ path, body string }{{"/api/v1/webhooks/", hook.body}, {"/bookings/", booked.body}} {
				one := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(own.body)
				if got := b.net.do(t, "DELETE", own.path+one[1], system); got.StatusCode >= 300 {
					t.Fatalf("%d %s", got.StatusCode, got.body)
				}
			}
			refused = b.net.do(t, "DELETE", root+"/"+auroraOrg, system)
			if checkProblem(t, "with spaces", refused, 409, "conflict", "organization_id"); !strings.Contains(refused.body, "1 meeting space, ") && !strings.Contains(refused.body, "user") {
				t.Errorf("refused with %s", refused.body)
			}
			if got := b.net.do(t, "DELETE", root+"/"+id[1], system); got.StatusCode != 204 {
				t.Errorf("removed: %d %s", got.StatusCode, got.body)
			}
			checkProblem(t, "gone", b.net.do(t, "PATCH", root+"/"+id[1], system, `{"name":"x"}`), 404, "not_found", "organization_id")
		}
	}, tenants)
}
