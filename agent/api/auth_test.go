package api

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/console"
)

// caller is one kind of credential, and what it opens.
type caller struct {
	name, header  string
	good          bool
	permissions   auth.Set
	admin, system bool
	foreign       bool // of another organization than what the paths name
	edge          bool
}

// may is the rule of the table, told a second time.
func (c caller) may(p permission) bool {
	name, edge := strings.CutSuffix(string(p), " or edge")
	if c.edge {
		return edge
	}
	switch p {
	case permitAny:
		return true
	case permitLook:
		return c.permissions.Has(console.Sees)
	case permitAdmin:
		return c.admin
	case permitSystem:
		return c.system
	}
	return slices.Contains(c.permissions.Names(), name)
}

// callers are every kind of credential that there is.
func (b *building) callers(t *testing.T) []caller {
	t.Helper()
	_, all := b.orgKey(t, auroraOrg, auth.All.Names()...)
	_, foreign := b.orgKey(t, borealisOrg, auth.All.Names()...)
	gone, revoked := b.orgKey(t, auroraOrg, auth.All.Names()...)
	_, fewer := b.orgKey(t, auroraOrg, "devices:read", "spaces:read")
	_, expired, err := b.agent.Access.CreateOrgKey(t.Context(), auroraOrg, "old", auth.All.Names(), time.Now().Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	_, old, err := b.agent.Access.CreateKey(t.Context(), "old", time.Now().Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(token string) string { return "Authorization: Bearer " + token }
	out := b.signIn(t, "mel@example.com")
	if err := b.agent.Access.SignOut(t.Context(), "mel"); err != nil {
		t.Fatal(err)
	}
	member := auth.RoleMember.Permissions()
	ann := b.signIn(t, "ann@example.com")
	bought := b.buy(t, fewer, `{"permissions":["devices:read"]}`)
	brief := b.buy(t, "X-API-Key: "+systemKey, `{"expires_in":1}`)
	ofRevoked := b.buy(t, revoked, `{}`)
	if err := b.agent.Access.RevokeOrgKey(t.Context(), auroraOrg, gone.ID); err != nil {
		t.Fatal(err)
	}
	list := []caller{
		{name: "nobody", header: ""},
		{name: "a wrong system key", header: "X-API-Key: guess"},
		{name: "a wrong key of an organization", header: "X-Org-Api-Key: guess"},
		{name: "a wrong token", header: "Authorization: Bearer guess"},
		{name: "a forged token", header: "Authorization: Bearer " + ann[:len(ann)-3] + "AAA"},
		{name: "a token without a signature", header: "Authorization: Bearer eyJhbGciOiJub25lIn0" + ann[strings.Index(ann, "."):strings.LastIndex(ann, ".")+1]},
		{name: "a password", header: "Authorization: Basic YWRhOmFkYQ=="},
		{name: "a revoked key", header: revoked},
		{name: "a token of a revoked key", header: bearer(ofRevoked)},
		{name: "an expired key of an organization", header: "X-Org-Api-Key: " + expired},
		{name: "an expired system key", header: "X-API-Key: " + old},
		{name: "an expired token", header: bearer(brief)},
		{name: "a token of a user who was signed out", header: bearer(out)},
		{name: "the system key as that of an organization", header: "X-Org-Api-Key: " + systemKey},
		{name: "a key of an organization as a system key", header: strings.Replace(all, "X-Org-Api-Key", "X-API-Key", 1)},

		{"the system key", "X-API-Key: " + systemKey, true, auth.All, true, true, false, false},
		{"a token for the system key", bearer(b.buy(t, "X-API-Key: "+systemKey, `{"expires_in":3600}`)), true, auth.All, true, true, false, false},
		{"a key with all permissions", all, true, auth.All, false, false, false, false},
		{"a key of another organization", foreign, true, auth.All, false, false, true, false},
		{"a token for less", bearer(bought), true, auth.DevicesRead, false, false, false, false},
		{"an admin of the building", bearer(b.signIn(t, "ada@example.com")), true, auth.All, true, true, false, false},
		{"an admin of the organization", bearer(ann), true, auth.All, true, false, false, false},
		{"an admin of another organization", bearer(b.signIn(t, "bob@example.com")), true, auth.All, true, false, true, false},
		{"a member", bearer(b.signIn(t, "mel@example.com")), true, member, false, false, false, false},
	}
	list = append(list, caller{name: "an edge device", header: "X-API-Key: " + b.edgeKey(aurora), good: true, edge: true},
		caller{name: "a key of an edge device as that of an organization", header: "X-Org-Api-Key: " + b.edgeKey(aurora)})
	for _, name := range auth.All.Names() {
		set, _ := auth.ParseSet([]string{name})
		_, header := b.orgKey(t, auroraOrg, name)
		list = append(list, caller{"a key with " + name, header, true, set, false, false, false, false})
	}
	time.Sleep(2 * time.Second) // what is brief has expired
	return list
}

// buy buys a token for a key.
func (b *building) buy(t *testing.T, header, body string) string {
	t.Helper()
	got := b.net.do(t, "POST", "/api/v1/auth/token", header, body)
	found := regexp.MustCompile(`"access_token":"([^"]+)","token_type":"Bearer"`).FindStringSubmatch(got.body)
	if got.StatusCode != 200 || found == nil {
		t.Fatalf("token for %s: %d %s", body, got.StatusCode, got.body)
	}
	return found[1]
}

// owned says whether a path names something of an organization.
func owned(path string) bool {
	for value := range scopes {
		if strings.Contains(path, value) {
			return true
		}
	}
	return false
}

// TestEveryRouteAndEveryCredential walks the table.
func TestEveryRouteAndEveryCredential(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		n := 0
		for _, who := range b.callers(t) {
			for _, r := range signingOutLast() {
				if r.permission == permitAll {
					continue
				}
				n++
				name := who.name + ": " + r.method + " " + r.path
				parts := []string{who.header, "{}"}[map[bool]int{true: 0, false: 1}[who.header != ""]:]
				got := b.from(n, r.method, concrete(r.path), parts...)
				status := got.Code
				switch {
				case !who.good:
					if status != 401 || len(got.Header()["Www-Authenticate"]) != 3 || !strings.Contains(got.Body.String(), `"code":"unauthorized"`) {
						t.Errorf("%s: %d %s", name, status, got.Body)
					}
				case !who.may(r.permission):
					if status != 403 {
						t.Errorf("%s without the permission: %d %s", name, status, got.Body)
					}
				case who.foreign && owned(r.path):
					missing := b.from(n, r.method, placeholder.ReplaceAllString(r.path, "none"), parts...)
					if status != 404 || got.Body.String() != missing.Body.String() {
						t.Errorf("%s of another organization: %d %s, but what is not there %s", name, status, got.Body, missing.Body)
					}
				case status == 401 || status == 403 && !strings.HasSuffix(r.path, "/auth/token") || status >= 500:
					t.Errorf("%s: %d %s", name, status, got.Body)
				}
			}
		}
		if n < 2000 {
			t.Errorf("only %d requests", n)
		}
	}, tenants)
}

func TestOneCredentialOnly(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, org := b.orgKey(t, auroraOrg, "devices:read")
		system := "X-API-Key: " + systemKey
		for i, c := range []struct {
			parts  []string
			status int
			field  string
		}{
			{[]string{system, org}, 401, "X-Org-Api-Key"},
			{[]string{system, "Authorization: Bearer x"}, 401, "Authorization"},
			{[]string{system, "X-Org-Api-Key: "}, 200, ""},
			{[]string{"Authorization: bearer " + b.buy(t, system, "{}")}, 200, ""},
			{[]string{"Authorization: Bearer"}, 401, "Authorization"},
			{[]string{"X-API-Key: rgsys_aaaa_00000000"}, 401, "X-API-Key"},
		} {
			got := b.from(i, "GET", "/devices/types", c.parts...)
			if got.Code != c.status || c.field != "" && !strings.Contains(got.Body.String(), `"field":"`+c.field+`"`) {
				t.Errorf("%v: %d %s", c.parts, got.Code, got.Body)
			}
		}
		if got := b.from(9, "GET", "/devices/types", "X-API-Key: rgsys_aaaa_00000000"); !strings.Contains(got.Body.String(), "copy it again") {
			t.Errorf("a typing error: %s", got.Body)
		}
	}, tenants)
}

// TestLostAccessEndsStreamsAndPolls takes each kind of credential away.
func TestLostAccessEndsStreamsAndPolls(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		key, header := b.orgKey(t, auroraOrg, "events:read")
		second, other := b.orgKey(t, auroraOrg, "events:read")
		token := "Authorization: Bearer " + b.signIn(t, "mel@example.com")
		for _, c := range []struct {
			name, header string
			end          func() error
		}{
			{"brief token", "Authorization: Bearer " + b.buy(t, "X-API-Key: "+systemKey, `{"expires_in":30}`), func() error { time.Sleep(29 * time.Second); return nil }},
			{"key", header, func() error { return b.agent.Access.RevokeOrgKey(t.Context(), auroraOrg, key.ID) }},
			{"token of a key", "Authorization: Bearer " + b.buy(t, other, "{}"), func() error { return b.agent.Access.RevokeKey(t.Context(), second.ID) }},
			{"user", token, func() error { return b.agent.Access.EnableUser(t.Context(), "mel", false) }},
		} {
			s := b.stream(t, "/devices/events", c.header)
			polled := make(chan answer, 1)
			go func() { polled <- b.net.do(t, "GET", "/devices/events?event_type=none&cursor=0&wait=60s", c.header) }()
			time.Sleep(time.Second / 2)
			if err := c.end(); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			for s.block() != "" {
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("%s: the stream ended after %v", c.name, took)
			}
			if got := <-polled; got.StatusCode != 401 {
				t.Errorf("%s: the poll answers %d", c.name, got.StatusCode)
			}
			s.close()
		}
	}, tenants)
}

// signingOutLast are the routes, with that at the end which ends the session that asks.
func signingOutLast() []route {
	all := routes()
	slices.SortStableFunc(all, func(x, y route) int {
		return strings.Compare(strconv.FormatBool(x.ends()), strconv.FormatBool(y.ends()))
	})
	return all
}

func (r route) ends() bool { return r.name() == "DELETE /console/session" }
