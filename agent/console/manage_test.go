package console

import (
	"slices"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/rule"
	"roomgate/agent/rule/engine"
	"roomgate/agent/setup"
	"roomgate/agent/site"
)

// TestManagedPages keeps what the pages of those who manage are made of.
func TestManagedPages(t *testing.T) {
	danger := Button{ID: "revoke-1", Label: "Revoke", Send: "DELETE /v2.0/gateway/keys/1", Sure: `Revoke "<a>"?`, Done: "Revoked.", Danger: true}
	table := Table{Label: "API keys", Head: []string{"Name", "State"}, None: "No keys yet.",
		Rows: []Row{{Cells: []string{"<i>\u202e", "good"}, Acts: []Button{danger, {ID: "c", Label: "Change", Open: "panel/user?user=1"}, {ID: "k", Label: "Keys", To: "/console/keys?of=1"}}},
			{Cells: []string{"older", ""}, Fold: &EventRow{ID: 7, All: "by: <ada>"}}, {Cells: []string{"old", "ended"}, Bad: true, Acts: []Button{{ID: "p", Label: "Pair", Post: "pair/1"}, {ID: "e", Label: "Enable", Send: "POST /v2.0/users/1/enable", Body: struct{}{}}}}}}
	form := Form{ID: "new", Title: "Make a key", Note: "A note.", Send: "POST /v2.0/gateway/keys", Done: "Shown only now", Show: "API key=secret, Id=id", Button: "Make", Fields: []Input{
		{ID: "name", Name: "name", Label: "Name", Required: true, Max: 100, Hint: "For whom."},
		{ID: "end", Name: "expires_at", Label: "Ends", Type: "select", Choices: []Choice{{"", "never", true}, {"2026-11-24T00:00:00Z", "tonight", false}}},
		{Name: "permissions", Label: "It may", Type: "checks", Choices: []Choice{{"bookings:read", "bookings:read", false}}},
		{ID: "then", Name: "actions", Label: "Then", Type: "text", Kind: "json", Value: `[{"action": "off"}]`},
		{ID: "door", Name: "allow_door", Label: "It may open doors", Type: "yes", Value: "true"}}}
	explained := Explain{Rule: rule.Rule{Name: "Lights <off>"}, Says: "At 22:00: switch <it> off", Space: "Aurora", Outcome: "It would not act now",
		Trial: engine.Trial{Trigger: "the last event", Outcome: "not_held", Reason: "the condition does not hold", Condition: rule.Explanation{Expression: `occupancy == "vacant" and hour > 20`,
			Operator: "and", Operands: []rule.Explanation{{Expression: `occupancy == "vacant"`, Held: true, Values: map[string]any{"occupancy": "vacant"}},
				{Expression: "hour > 20", Error: "the clock is not trusted", Values: map[string]any{"hour": nil}}}},
			Actions: []engine.TriedAction{{Action: "light off", Accepted: true}, {Action: "lock open", Reason: "it may not open doors"}}},
		Runs: Table{Label: "Its last runs", Head: []string{"Time"}, Rows: []Row{{Cells: []string{"14:03"}}}}}
	for name, page := range map[string]struct {
		template string
		data     any
	}{
		"table": {"table", table}, "table-empty": {"table", Table{None: "No keys yet."}}, "form": {"form", form},
		"manage": {"manage-pages", Manage{[]managedPage{{Section{Name: "keys", Title: "API keys"}, "For programs."}}}}, "choose": {"choose", Choose{"of", "Keys of", []Choice{{"", "The building", true}, {"1", "Acme <3>", false}}}},
		"panel-user": {"panel-user", FormPanel{"ada@example.com", form}}, "panel-explain": {"panel-explain", explained},
		"codes-locked":    {"codes-list", Codes{Locked: "The keypad takes no codes for 5 min.", Acts: []Button{{ID: "lift", Label: "Let it", Send: "DELETE /x"}}, List: Table{None: "No codes yet."}}},
		"deliveries-list": {"deliveries-list", Deliveries{URL: "https://example.com/?a=<b>", Events: "booking.created", State: "failing: HTTP 500", Acts: []Button{danger}, List: Table{None: "Nothing yet."}}},
	} {
		golden(t, name, page.template, page.data)
	}
	p, err := newPairing("Aurora <3>", "7K3M-QX9D", "http://192.0.2.1:8080/display/a#code=7K3M-QX9D", 15*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "panel-pairing", "panel-pairing", p)
}

// TestChangesAreKnown: the log of changes asks for events that there are.
func TestChangesAreKnown(t *testing.T) {
	for _, kind := range changeKinds {
		if !slices.Contains(agent.EventKinds(), kind) {
			t.Errorf("there is no event %s", kind)
		}
	}
}

// TestSetUpPages keeps what the page is made of that adds meeting spaces and devices.
func TestSetUpPages(t *testing.T) {
	form := Form{ID: "device-form", Note: "Relay: a relay on a line of this board.", Send: setupPath + "device", Button: "Add it", Fields: []Input{{Name: "way", Type: "hidden", Value: "lock-relay"},
		inputOf(setup.Ask{Key: "relay", Text: "line of the relay", Help: "as GPIO17", Needed: true}, []string{"GPIO4", "GPIO17"}), inputOf(setup.Ask{Key: "sense", Text: "line of the switch"}, []string{"GPIO4"}),
		inputOf(setup.Ask{Key: "active_low", Text: "low?", Switch: true}, nil), inputOf(setup.Ask{Key: "password", Text: "password", Secret: true}, nil)}}
	for name, page := range map[string]any{
		"setup-spaces": SetUp{Spaces: []SetUpSpace{{ID: "1", Name: "Atlas <3>", Acts: []Button{{ID: "add-1", Label: "Add a device", Open: "panel/ways?space=1"}}, Devices: Table{None: "No devices yet."}}}},
		"panel-ways":   Ways{Space: "Atlas <3>", Types: []WaysOf{{"Door", []Button{{ID: "way-lock-relay", Label: "Relay", Open: "panel/device?space=1&way=lock-relay"}}}}},
		"panel-device": NewDevice{Title: "Door of Atlas <3>", Space: "1", Way: "lock-relay", Form: form, Scans: true, Scanned: true},
		"panel-added":  Added{Title: "Light of Atlas <3>", SpaceID: "1", Type: "light", User: &site.RoomUser{Name: "zigbee2mqtt", Password: "s4dkignvpgca22xywl7c"}, At: "192.0.2.1:1883", Topics: `publish: ["zigbee2mqtt/#"]`},
	} {
		golden(t, name, name, page)
	}
}
