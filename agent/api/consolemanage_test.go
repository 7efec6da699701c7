package api

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/agent/web"
)

// TestManagedSections: each page of those who manage shows what there is, to who may, and
// no secret.
func TestManagedSections(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		session := b.atConsole()
		made := b.net.do(t, "POST", "/v2.0/gateway/keys", session, `{"name":"cleaning robot"}`)
		hook := b.net.do(t, "POST", "/v2.0/webhooks", session, `{"organization_id":"`+auroraOrg+`","url":"https://hooks.example.com/aurora","events":["booking.created"]}`)
		code := b.net.do(t, "PUT", "/v2.0/meeting-spaces/"+aurora+"/unlock-codes", session, `{"name":"plumber"}`)
		ruled := b.net.do(t, "POST", "/v2.0/rules", session, `{"name":"lights off","trigger":{"event":"occupancyChanged"},"condition":"occupancy.value == 'vacant'","actions":[{"device_type":"light","action":"off"}]}`)
		b.paired(aurora, b.claim(aurora))
		var secrets []string
		id := map[string]string{}
		for what, got := range map[string]answer{"key": made, "webhook": hook, "code": code, "rule": ruled} {
			var said struct{ ID, Secret, Code string }
			if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.StatusCode/100 != 2 {
				t.Fatalf("%s: %d %s", what, got.StatusCode, got.body)
			}
			id[what] = said.ID
			secrets = append(secrets, said.Secret, said.Code)
		}
		for path, want := range map[string]string{"stream/manage": "/console/webhooks", "stream/keys": "cleaning robot", "stream/keys?of=" + auroraOrg: "api-keys",
			"stream/users": "user-new", "stream/organizations": auroraOrg, "stream/webhooks": "hooks.example.com", "stream/deliveries?webhook=" + id["webhook"]: "rotate-secret",
			"stream/rules": "lights off", "stream/codes?space=" + aurora: "plumber", "stream/displays": "192.0.2.7", "stream/changes": "API key created",
			"panel/rule?rule=" + id["rule"]: "occupancyChanged", "panel/explain?rule=" + id["rule"]: "without acting", "panel/organization?organization=" + auroraOrg: "Rename"} {
			got := b.net.do(t, "GET", "/console/"+path, session)
			if got.StatusCode != 200 || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
			}
			for _, secret := range secrets {
				if secret != "" && strings.Contains(got.body, secret) {
					t.Errorf("%s shows a secret", path)
				}
			}
			if foreign := b.net.do(t, "GET", "/console/"+path); foreign.StatusCode != 401 {
				t.Errorf("%s for a stranger: %d", path, foreign.StatusCode)
			}
		}
		dialog := b.net.do(t, "POST", "/console/pair/"+aurora, session, `{}`)
		link := scanned(t, dialog.body)
		_, typed, _ := strings.Cut(link, "#code=")
		if typed == "" || !strings.Contains(dialog.body, typed) {
			t.Fatalf("pairing: %d %s", dialog.StatusCode, dialog.body)
		}
		if _, kind := b.paired(aurora, typed); kind != "display" {
			t.Errorf("it pairs a %s", kind)
		}
	}, tenants)
}

// TestSectionsOfAnOrganization: whoever manages an organization sees nothing of another
// one, nor what is of the building.
func TestSectionsOfAnOrganization(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		session := b.atConsole()
		hook := b.net.do(t, "POST", "/v2.0/webhooks", session, `{"organization_id":"`+auroraOrg+`","url":"https://hooks.example.com/aurora","events":["booking.created"]}`)
		var w struct{ ID string }
		if err := json.Unmarshal([]byte(hook.body), &w); err != nil || w.ID == "" {
			t.Fatalf("%d %s", hook.StatusCode, hook.body)
		}
		stranger := access.Principal{ID: "x", Kind: access.KindUser, OrganizationID: borealisOrg, Admin: true, Permissions: auth.All}
		member := access.Principal{ID: "m", Kind: access.KindUser, OrganizationID: auroraOrg, Permissions: auth.RoleMember.Permissions()}
		for name, want := range map[string]problem.Code{"keys": "", "users": "", "webhooks": "", "rules": "", "codes": "", "displays": "", "changes": "", "manage": "", "organizations": problem.Forbidden,
			"deliveries?webhook=" + w.ID: problem.NotFound, "keys?of=" + auroraOrg: "", "codes?space=" + aurora: problem.NotFound} {
			section, raw, _ := strings.Cut(name, "?")
			query, _ := url.ParseQuery(raw)
			shown, err := b.server.console.Feed(section, stranger, query)
			var text string
			if err == nil {
				var frame web.Frame
				frame, err = shown.Look("")
				text = string(frame.Events)
			}
			if e := problem.As(err); (e == nil) != (want == "") || e != nil && e.Code != want {
				t.Errorf("%s: %v", name, err)
			}
			if strings.Contains(text, "hooks.example.com") || strings.Contains(text, auroraOrg) || strings.Contains(text, "Aurora") {
				t.Errorf("%s shows what is of another organization: %s", name, text)
			}
			if _, err := b.server.console.Feed(section, member, query); problem.As(err) == nil || problem.As(err).Code != problem.Forbidden {
				t.Errorf("%s for a member: %v", name, err)
			}
		}
	}, tenants)
}
