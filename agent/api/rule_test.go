package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
)

const lightWhenOccupied = `{"name":"light","meeting_space_id":"` + aurora + `","trigger":{"event":"occupancyChanged"},
	"condition":"event.value == \"occupied\"","actions":[{"device_type":"light","action":"on"}],"limits":{"cooldown":"1m"}}`

// addedRule makes a rule and returns its path.
func (b *building) addedRule(body string) string {
	b.t.Helper()
	got := b.ask("POST", "/rules", body)
	var is struct{ ID string }
	if err := json.Unmarshal([]byte(got.body), &is); err != nil || got.StatusCode != 201 || is.ID == "" {
		b.t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	return "/rules/" + is.ID
}

func TestRulesOverHTTP(t *testing.T) {
	s := parseSpec(t, false)
	operations := s.operations()
	inBuilding(t, func(t *testing.T, b *building) {
		path := b.addedRule(lightWhenOccupied)
		for _, step := range []struct {
			name, body string
			status     int
			want       string
		}{
			{"GET /rules/{rule_id}", "", 200, `"cooldown":"1m"`},
			{"GET /rules", "", 200, `"name":"light"`},
			{"PATCH /rules/{rule_id}", `{"name":"lamp","limits":{"max_per_minute":2}}`, 200, `"name":"lamp"`},
			{"POST /rules/{rule_id}/test", "", 200, `"outcome":"not_held"`},
			{"POST /rules/{rule_id}/test", `{"event":{"value":"occupied"}}`, 200, `"values":{"event.value":"occupied"}`},
			{"POST /rules/{rule_id}/test", `{"event":{"value":"occupied"}}`, 200, `"accepted":true`},
			{"POST /rules/{rule_id}/test", `{"event":{"details":[]}}`, 422, `event.details is not an object`},
			{"GET /rules/{rule_id}/log", "", 200, `{"runs":[]}`},
		} {
			method, named, _ := strings.Cut(step.name, " ")
			at := strings.Replace(named, "/rules/{rule_id}", path, 1)
			for _, prefix := range []string{"", "/v1.0"} {
				got := b.ask(method, prefix+at, step.body)
				if got.StatusCode != step.status || !strings.Contains(got.body, step.want) {
					t.Errorf("%s %s: %d %s", step.name, step.body, got.StatusCode, got.body)
				}
				if step.status < 300 {
					s.checkAnswer(t, step.name, operations[step.name], got)
				}
			}
		}
		b.ruleRuns(t, s, path)
		if got := b.ask("DELETE", path); got.StatusCode != 204 {
			t.Errorf("delete: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("GET", path); got.StatusCode != 404 {
			t.Errorf("a deleted one: %d %s", got.StatusCode, got.body)
		}
	})
}

// ruleRuns lets somebody come in, and reads of it in the log.
func (b *building) ruleRuns(t *testing.T, s spec, path string) {
	if _, err := b.world.Control("aurora", "occupancy", "occupied"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Second)
	got := b.ask("GET", path+"/log")
	s.checkAnswer(t, "GET /rules/{rule_id}/log", s.operations()["GET /rules/{rule_id}/log"], got)
	if !strings.Contains(got.body, `"outcome":"held"`) || !strings.Contains(got.body, `"state":"done"`) {
		t.Errorf("it did not run: %s", got.body)
	}
	if got := b.ask("POST", "/devices/"+aurora+"/control", `{"device_type":"light"}`); !strings.Contains(got.body, `"via":"rule"`) {
		t.Errorf("the last command of the light: %s", got.body)
	}
}

func TestRefusedRulesOverHTTP(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := b.addedRule(lightWhenOccupied)
		before := b.ask("GET", "/rules").body
		for body, field := range map[string]string{
			`{}`:                        "name",
			`{"name":"a","trigger":{}}`: "actions",
			`{"name":"a","colour":1}`:   "colour",
			`{"name":"a","name":"b"}`:   "name",
			`{"name":"a","trigger":{"evnt":"x"},"actions":[]}`:                                                       "trigger.evnt",
			`{"name":"a","trigger":{"event":"occupancychanged"},"actions":[{"event":"x"}]}`:                          "trigger.event",
			`{"name":"a","trigger":{"booking":"booking.start","before":"soon"},"actions":[{"event":"x"}]}`:           "trigger.before",
			`{"name":"a","trigger":{"time":"07:30"},"actions":[{"event":"x"}],"condition":"light.vlue == \"on\""}`:   "condition",
			`{"name":"a","trigger":{"time":"07:30"},"actions":[{"device_type":"light","action":"glow"}]}`:            "actions[0].action",
			`{"name":"a","trigger":{"time":"07:30"},"actions":[{"event":"x"},{"device":"light"}]}`:                   "actions[1].device",
			`{"name":"a","trigger":{"time":"07:30"},"actions":[{"device_type":"lock","action":"open"}]}`:             "allow_door",
			`{"name":"a","trigger":{"time":"07:30"},"actions":[{"event":"x"}],"limits":{"max_per_minute":-1}}`:       "limits.max_per_minute",
			`{"name":"a","trigger":{"time":"07:30"},"actions":"all"}`:                                                "actions",
			`{"name":"a","trigger":{"time":"07:30"},"actions":[{"event":"x"}],"meeting_space_id":"` + nowhere + `"}`: "meeting_space_id",
		} {
			got := b.ask("POST", "/rules", body)
			if got.StatusCode < 400 || !strings.Contains(got.body, `"field":"`+field+`"`) {
				t.Errorf("%s: %d %s, want field %s", body, got.StatusCode, got.body, field)
			}
		}
		if got := b.ask("PATCH", path, `{"condition":"x"}`); got.StatusCode != 422 {
			t.Errorf("a wrong change: %d %s", got.StatusCode, got.body)
		}
		if b.ask("GET", "/rules").body != before {
			t.Error("something was changed")
		}
	})
}

// A key of an organization sees and makes rules of its own spaces only, and
// none that does what it may not do itself.
func TestRulesOfAnOrganization(t *testing.T) {
	const own = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0"
	inBuilding(t, func(t *testing.T, b *building) {
		if _, err := b.agent.Access.CreateOrganization(t.Context(), own, "own"); err != nil {
			t.Fatal(err)
		}
		key := func(permissions ...string) string {
			_, secret, err := b.agent.Access.CreateOrgKey(t.Context(), own, "test", permissions, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			return "X-Org-Api-Key: " + secret
		}
		all, noOrders, reads := key("rules:read", "rules:write", "devices:write"), key("rules:read", "rules:write"), key("rules:read")
		everywhere := strings.Replace(lightWhenOccupied, `"meeting_space_id":"`+aurora+`",`, "", 1)
		foreign := strings.NewReplacer(aurora, borealis, `{"device_type":"light"`, `{"device_type":"fan"`).Replace(lightWhenOccupied)
		reaching := strings.Replace(lightWhenOccupied, `{"device_type"`, `{"meeting_space_id":"`+borealis+`","device_type"`, 1)
		hidden, shown := b.addedRule(foreign), b.addedRule(lightWhenOccupied)
		for _, c := range []struct {
			what, key, method, path, body string
			status                        int
		}{
			{"its own", all, "POST", "/rules", lightWhenOccupied, 201},
			{"one for every space", all, "POST", "/rules", everywhere, 422},
			{"one of another space", all, "POST", "/rules", foreign, 404},
			{"one that reaches another space", all, "POST", "/rules", reaching, 404},
			{"orders without the right to", noOrders, "POST", "/rules", lightWhenOccupied, 403},
			{"events alone", noOrders, "POST", "/rules", strings.Replace(lightWhenOccupied, `{"device_type":"light","action":"on"}`, `{"event":"x"}`, 1), 201},
			{"only reading", reads, "POST", "/rules", lightWhenOccupied, 403},
			{"a rule that it sees", reads, "GET", shown, "", 200},
			{"a rule that it does not see", all, "GET", hidden, "", 404},
			{"its log", all, "GET", hidden + "/log", "", 404},
			{"to try it", all, "POST", hidden + "/test", "", 404},
			{"to delete it", all, "DELETE", hidden, "", 404},
			{"to move one away", all, "PATCH", shown, `{"meeting_space_id":"` + borealis + `"}`, 404},
			{"to let one do more", noOrders, "PATCH", shown, `{"enabled":true}`, 403},
		} {
			if got := b.net.do(t, c.method, c.path, c.key, c.body); got.StatusCode != c.status {
				t.Errorf("%s: %d %s, want %d", c.what, got.StatusCode, got.body, c.status)
			}
		}
		for _, r := range b.agent.Rules.List() {
			if made := r.ID != strings.TrimPrefix(shown, "/rules/") && r.ID != strings.TrimPrefix(hidden, "/rules/"); made != (r.OrganizationID == own) {
				t.Errorf("%s is of %q", r.Name, r.OrganizationID)
			}
		}
		tried := func(space string) string {
			return b.net.do(t, "POST", shown+"/test", all, `{"meeting_space_id":"`+space+`"}`).body
		}
		if theirs, none := tried(borealis), tried(nowhere); theirs != none {
			t.Errorf("tried in a space of others: %s, in one that is not there: %s", theirs, none)
		}
		if got := b.net.do(t, "GET", "/rules", reads); strings.Contains(got.body, strings.TrimPrefix(hidden, "/rules/")) {
			t.Errorf("the list shows a hidden one: %s", got.body)
		}
	}, func(c *config.Config) { c.Spaces[0].CustomerID, c.Spaces[1].CustomerID = own, "other" })
}
