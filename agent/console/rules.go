package console

import (
	"cmp"
	"encoding/json"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/agent/rule/engine"
)

// rules are what the building does by itself.
func rules() Section {
	return Section{Name: "rules", Title: "Rules", Hidden: true, Least: Admin, Parts: []string{"new", "list"}, View: viewRules,
		Panels: map[string]func(*Look) (any, error){"rule": viewRule, "explain": viewExplain}}
}

// Rules is what the page shows.
type Rules struct {
	New  Button
	List Table
}

const rulesPath = "/v2.0/rules"

func viewRules(l *Look) (any, time.Time, error) {
	_, names := l.spaceChoices()
	t := Table{Label: "Rules", Head: []string{"Name", "Where", "When", "If", "Then", "State"}, None: "No rules yet."}
	for _, r := range l.o.Agent.Rules.List() {
		if l.o.SeesRule(&l.Who, r) {
			t.Rows = append(t.Rows, ruleRow(r, cmp.Or(names[r.SpaceID], r.SpaceID, "every meeting space")))
		}
	}
	return Rules{Button{ID: "rule-new", Label: "Make a rule", Open: "panel/rule"}, t}, nextMinute(l.o.Agent.Now()), nil
}

func ruleRow(r rule.Rule, where string) Row {
	path, state := rulesPath+"/"+r.ID, "on"
	acts := []Button{{ID: "explain-" + r.ID, Label: "Explain", Open: "panel/explain?rule=" + r.ID}, {ID: "change-" + r.ID, Label: "Change", Open: "panel/rule?rule=" + r.ID}}
	switch {
	case r.Suspended != nil:
		state = "stopped: " + r.Suspended.Reason
	case !r.Enabled:
		state = "off"
	}
	if r.Active() {
		acts = append(acts, Button{ID: "off-" + r.ID, Label: "Switch off", Send: "PATCH " + path, Body: map[string]bool{"enabled": false}, Done: "It is off."})
	} else {
		acts = append(acts, Button{ID: "on-" + r.ID, Label: "Switch on", Send: "PATCH " + path, Body: map[string]bool{"enabled": true}, Done: "It is on."})
	}
	acts = append(acts, Button{ID: "delete-" + r.ID, Label: "Delete", Send: "DELETE " + path, Sure: "Delete " + r.Name + "?", Done: "Deleted.", Danger: true})
	var then []string
	for _, a := range r.Actions {
		then = append(then, engine.InWords(a))
	}
	return Row{Cells: []string{r.Name, where, triggerText(r.Trigger), cmp.Or(r.Condition, "always"), joined("; ", then...), state}, Bad: !r.Active(), Acts: acts}
}

// triggerText is when a rule is asked, in few words.
func triggerText(t rule.Trigger) string {
	switch {
	case t.Time != "":
		return "at " + t.Time
	case t.Booking != "" && t.Before > 0:
		return time.Duration(t.Before).String() + " before " + t.Booking
	case t.Booking != "" && t.After > 0:
		return time.Duration(t.After).String() + " after " + t.Booking
	case t.Booking != "":
		return t.Booking
	}
	return joined(" ", t.Event, t.DeviceType, t.SubDevice)
}

// rule is the one that the query names, if who looks sees it.
func (l *Look) rule() (rule.Rule, error) {
	r, err := l.o.Agent.Rules.Get(l.Query.Get("rule"))
	if err == nil && !l.o.SeesRule(&l.Who, r) {
		err = problem.New(problem.NotFound, "rule", "is not a rule of this gateway")
	}
	return r, err
}

// viewRule is the dialog that makes or changes one.
func viewRule(l *Look) (any, error) {
	r := rule.Rule{Enabled: true, Trigger: rule.Trigger{Event: "occupancyChanged"}, Condition: `occupancy.value == "vacant"`,
		Actions: []rule.Action{{DeviceType: "light", Action: "off"}}}
	p := FormPanel{"Make a rule", Form{ID: "rule-form", Send: "POST " + rulesPath, Done: "The rule is on.", Button: "Make the rule"}}
	if l.Query.Get("rule") != "" {
		var err error
		if r, err = l.rule(); err != nil {
			return nil, err
		}
		p = FormPanel{r.Name, Form{ID: "rule-form", Send: "PATCH " + rulesPath + "/" + r.ID, Done: "Changed.", Button: "Change the rule"}}
	}
	spaces, _ := l.spaceChoices()
	if l.Who.OrganizationID == "" {
		spaces = append([]Choice{{"", "every meeting space", false}}, spaces...)
	}
	for i := range spaces {
		spaces[i].Chosen = spaces[i].Value == r.SpaceID
	}
	trigger, err := json.MarshalIndent(r.Trigger, "", "  ")
	if err != nil {
		return nil, err
	}
	actions, err := json.MarshalIndent(r.Actions, "", "  ")
	p.Form.Note = "The page /openapi says what a trigger and an action may say."
	p.Form.Fields = []Input{
		{ID: "rule-name", Name: "name", Label: "Name", Value: r.Name, Required: true, Max: 100},
		{ID: "rule-space", Name: "meeting_space_id", Label: "Where", Type: "select", Choices: spaces},
		{ID: "rule-when", Name: "trigger", Label: "When", Type: "text", Kind: "json", Value: string(trigger), Required: true},
		{ID: "rule-if", Name: "condition", Label: "If", Value: r.Condition, Hint: "Empty: always."},
		{ID: "rule-then", Name: "actions", Label: "Then", Type: "text", Kind: "json", Value: string(actions), Required: true},
		{ID: "rule-door", Name: "allow_door", Label: "It may open doors", Type: "yes", Value: boolText(r.AllowDoor)},
	}
	return p, err
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// Explain is the dialog that explains a rule without acting.
type Explain struct {
	Rule    rule.Rule
	Space   string
	Trial   engine.Trial
	Outcome string
	Runs    Table
}

// outcomeWords are what a rule would do now, in words.
var outcomeWords = map[string]string{"held": "It would act now", "not_held": "It would not act now", "limited": "It would wait: it has acted too often",
	"suspended": "It is stopped", "disabled": "It is off"}

func viewExplain(l *Look) (any, error) {
	r, err := l.rule()
	if err != nil {
		return nil, err
	}
	trial, err := l.o.Agent.Rules.Try(r.ID, engine.Probe{})
	if err != nil {
		return nil, err
	}
	runs, err := l.o.Agent.Rules.Runs(r.ID)
	_, names := l.spaceChoices()
	v := Explain{Rule: r, Space: names[trial.SpaceID], Trial: trial, Outcome: cmp.Or(outcomeWords[trial.Outcome], trial.Outcome),
		Runs: Table{Label: "Its last runs", Head: []string{"Time", "Trigger", "Outcome"}}}
	for _, run := range runs[:min(len(runs), 10)] {
		v.Runs.Rows = append(v.Runs.Rows, Row{Cells: []string{l.moment(run.At), run.Trigger, joined(": ", string(run.Outcome), run.Reason)}})
	}
	return v, err
}
