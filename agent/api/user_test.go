package api

import (
	"strings"
	"testing"
)

// TestUsersAreManaged: an admin keeps the people of his organization out, lets them in
// and signs them out, by either version, and nobody of another.
func TestUsersAreManaged(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ann, bob, system := b.by(t, "ann@example.com"), b.by(t, "bob@example.com"), "X-API-Key: "+systemKey
		for _, root := range []string{"/gateway/users", "/v2.0/users"} {
			all, own := b.net.do(t, "GET", root, system), b.net.do(t, "GET", root, ann)
			if all.StatusCode != 200 || !strings.Contains(all.body, `"id":"ada","email":"ada@example.com","name":"Ada","role":"admin","organization_id":null,"enabled":true`) ||
				!strings.Contains(own.body, `"id":"mel"`) || strings.Contains(own.body, "bob@") || strings.Contains(own.body, "ada@") {
				t.Errorf("%s: %s, of the organization %s", root, all.body, own.body)
			}
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
