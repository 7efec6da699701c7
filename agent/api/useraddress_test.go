package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestAddressesOfOthersAreNotTold: the admin of an organization gets one answer for an address
// that nobody has and for one of another organization or of the building, and whose it is
// comes in as before. Somebody of two organizations names the one that he means.
func TestAddressesOfOthersAreNotTold(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ann := b.by(t, "ann@example.com")
		same := regexp.MustCompile(`"id":"[^"]+","email":"[^"]+"`)
		want := ""
		for _, email := range []string{"nobody@example.com", "bob@example.com", "ada@example.com"} {
			for _, root := range []string{"/gateway/users", "/v2.0/users"} {
				got := b.net.do(t, "POST", root, ann, `{"email":"`+email+`","name":"X","role":"member"}`)
				if root != "/gateway/users" {
					checkProblem(t, email+" twice", got, 409, "conflict", "email") // he sees that one
					continue
				}
				plain := same.ReplaceAllString(got.body, "")
				if want == "" {
					want = plain
				}
				if got.StatusCode != 201 || plain != want {
					t.Errorf("%s: %d %s, want %s", email, got.StatusCode, got.body, want)
				}
			}
		}
		for _, c := range []struct{ email, organization, id string }{
			{"bob@example.com", "", "bob"}, {"bob@example.com", borealisOrg, "bob"}, {"bob@example.com", auroraOrg, "made"},
			{"ada@example.com", "", "ada"}, {"ada@example.com", auroraOrg, "made"}, {"ada@example.com", borealisOrg, ""},
		} {
			got := b.net.do(t, "POST", "/api/v1/auth/otp/verify", `{"email":"`+c.email+`","otp":"`+b.code(t, c.email)+`","organization_id":"`+c.organization+`"}`)
			var a struct{ Data signedIn }
			_ = json.Unmarshal([]byte(got.body), &a)
			id, made := a.Data.User.ID, b.agent.Access.User(a.Data.User.ID)
			if c.id == "made" && made != nil && made.Made && made.OrganizationID == c.organization {
				continue
			}
			if id != c.id || (got.StatusCode == 200) != (c.id != "") {
				t.Errorf("%s of %q comes in as %q: %d %s", c.email, c.organization, id, got.StatusCode, got.body)
			}
		}
		// Two organizations have made a user of one address: neither decides where he comes in.
		bob := b.by(t, "bob@example.com")
		for _, who := range []string{ann, bob} {
			if got := b.net.do(t, "POST", "/gateway/users", who, `{"email":"new@example.com","name":"X","role":"member"}`); got.StatusCode != 201 {
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
		}
		verify := func(organization string) answer {
			return b.net.do(t, "POST", "/api/v1/auth/otp/verify", `{"email":"new@example.com","otp":"`+b.code(t, "new@example.com")+`","organization_id":"`+organization+`"}`)
		}
		checkProblem(t, "no organization named", verify(""), 422, "invalid", "organization_id")
		if got := verify(borealisOrg); got.StatusCode != 200 {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
		// The building has a user of that address too: he comes in where no organization is named. Once he is kept out, it is
		// as before.
		building := b.ask("POST", "/gateway/users", `{"email":"new@example.com","name":"X","role":"operator"}`)
		var made struct{ Data userRecord }
		if err := json.Unmarshal([]byte(building.body), &made); err != nil || building.StatusCode != 201 {
			t.Fatalf("the building: %d %s", building.StatusCode, building.body)
		}
		checkProblem(t, "the building twice", b.ask("POST", "/gateway/users", `{"email":"new@example.com","name":"X","role":"operator"}`), 409, "conflict", "email")
		for organization, building := range map[string]bool{"": true, borealisOrg: false} {
			if got := verify(organization); got.StatusCode != 200 || strings.Contains(got.body, made.Data.ID) != building {
				t.Errorf("in %q: %d %s", organization, got.StatusCode, got.body)
			}
		}
		b.ask("POST", "/gateway/users/"+made.Data.ID+"/disable")
		if got := verify(""); got.StatusCode != 422 || strings.Contains(got.body, "one of ,") {
			t.Errorf("while he is kept out: %d %s", got.StatusCode, got.body)
		}
	}, tenants)
}
