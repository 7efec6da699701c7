package api

import (
	"strings"
	"testing"
)

// TestARuleGivesNoCommandThatItsAuthorMayNot: who may not open the door himself makes,
// changes and tests no rule that does.
func TestARuleGivesNoCommandThatItsAuthorMayNot(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		admin := b.atConsole()
		if got := b.net.do(t, "PATCH", "/v2.0/devices/aurora-lock", admin, `{"permissions":[{"action":"open","allow":["admin"]}]}`); got.StatusCode != 200 {
			t.Fatalf("permissions: %d %s", got.StatusCode, got.body)
		}
		_, key := b.orgKey(t, auroraOrg, "devices:read", "devices:write", "rules:read", "rules:write")
		rule := func(space, actions string) string {
			return `{"name":"x` + space + `","meeting_space_id":"` + space + `","trigger":{"event":"statusChanged","device_type":"light"},"actions":[` + actions + `],"allow_door":true}`
		}
		const light, door = `{"device_type":"light","action":"on"}`, `{"device_type":"lock","action":"open"}`
		refused := func(what string, got answer, field string) {
			t.Helper()
			if got.StatusCode != 403 || !strings.Contains(got.body, `"`+field+`"`) {
				t.Errorf("%s: %d %s, want 403 about %s", what, got.StatusCode, got.body, field)
			}
		}
		made := func(what string, got answer) string {
			t.Helper()
			if got.StatusCode != 201 {
				t.Fatalf("%s: %d %s", what, got.StatusCode, got.body)
			}
			_, id, _ := strings.Cut(got.body, `"id":"`)
			id, _, _ = strings.Cut(id, `"`)
			return id
		}
		refused("a rule of his own space", b.net.do(t, "POST", "/v2.0/rules", key, rule(aurora, light+","+door)), "actions[1].action")
		refused("a rule that names the space with the action", b.net.do(t, "POST", "/v2.0/rules", key,
			rule(aurora, `{"meeting_space_id":"`+aurora+`","device_type":"lock","action":"open"}`)), "actions[0].action")

		plain := made("a rule that he may make", b.net.do(t, "POST", "/v2.0/rules", key, rule(aurora, light)))
		refused("a change", b.net.do(t, "PATCH", "/v2.0/rules/"+plain, key, `{"actions":[`+door+`]}`), "actions[0].action")
		if got := b.net.do(t, "POST", "/v2.0/rules/"+plain+"/test", key, `{}`); got.StatusCode != 200 {
			t.Errorf("a test of his own: %d %s", got.StatusCode, got.body)
		}
		foreign := made("an admin's rule", b.net.do(t, "POST", "/v2.0/rules", admin, rule(aurora, door)))
		refused("a change of the admin's rule", b.net.do(t, "PATCH", "/v2.0/rules/"+foreign, key, `{"name":"mine"}`), "actions[0].action")
		refused("a test of the admin's rule", b.net.do(t, "POST", "/v2.0/rules/"+foreign+"/test", key, `{}`), "actions[0].action")
		made("a rule of the administrator, whom the lock names", b.net.do(t, "POST", "/v2.0/rules", b.by(t, "ann@example.com"), rule(aurora, door)))
	}, roles)
}
