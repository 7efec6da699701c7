package console

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
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
	Usual []Button
	New   Button
	List  Table
}

const rulesPath = "/v2.0/rules"

func viewRules(l *Look) (any, time.Time, error) {
	_, names := l.spaceChoices()
	t := Table{Label: "Rules", Head: []string{"Name", "Where", "What it does", "State"}, None: "No rules yet."}
	for _, r := range l.o.Agent.Rules.List() {
		if l.o.SeesRule(&l.Who, r) {
			t.Rows = append(t.Rows, ruleRow(r, cmp.Or(names[r.SpaceID], r.SpaceID, "every meeting space")))
		}
	}
	v := Rules{New: Button{ID: "rule-new", Label: "Another rule", Open: "panel/rule"}, List: t}
	for i, u := range usuals() {
		v.Usual = append(v.Usual, Button{ID: "usual-" + strconv.Itoa(i), Label: u.name, Open: "panel/rule?usual=" + strconv.Itoa(i)})
	}
	return v, nextMinute(l.o.Agent.Now()), nil
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
	return Row{Cells: []string{r.Name, where, ruleSentence(r), state}, Bad: !r.Active(), Acts: acts}
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
	r := usuals()[0].rule
	p := FormPanel{"Make a rule", Form{ID: "rule-form", Send: "POST " + rulesPath, Done: "The rule is on.", Button: "Make the rule"}}
	if i, err := strconv.Atoi(l.Query.Get("usual")); err == nil && i >= 0 && i < len(usuals()) {
		u := usuals()[i]
		fixed, err := u.fixed()
		p.Form.Note = ruleSentence(u.rule) + "."
		p.Form.Fields = slices.Concat([]Input{{ID: "rule-name", Name: "name", Label: "Name", Value: u.name, Required: true, Max: 100}, l.whereInput("")}, u.asks, fixed)
		return p, err
	}
	if l.Query.Get("rule") != "" {
		var err error
		if r, err = l.rule(); err != nil {
			return nil, err
		}
		p = FormPanel{r.Name, Form{ID: "rule-form", Send: "PATCH " + rulesPath + "/" + r.ID, Done: "Changed.", Button: "Change the rule"}}
	}
	trigger, err := json.MarshalIndent(r.Trigger, "", "  ")
	if err != nil {
		return nil, err
	}
	actions, err := json.MarshalIndent(r.Actions, "", "  ")
	says := "For example: "
	if r.ID != "" {
		says = ""
	}
	p.Form.Note = says + ruleSentence(r) + ". The page /openapi says what a trigger and an action may say."
	when := Input{ID: "rule-when", Name: "trigger", Label: "When", Type: "text", Kind: "json", Value: string(trigger), Required: true}
	if r.Trigger.Time != "" {
		when = Input{ID: "rule-when", Name: "trigger.time", Label: "At", Value: r.Trigger.Time, Required: true, Hint: "As 22:00, or as five fields of crontab."}
	}
	p.Form.Fields = []Input{
		{ID: "rule-name", Name: "name", Label: "Name", Value: r.Name, Required: true, Max: 100},
		l.whereInput(r.SpaceID),
		when,
		{ID: "rule-if", Name: "condition", Label: "If", Value: r.Condition, Hint: "Empty: always."},
		{ID: "rule-then", Name: "actions", Label: "Then", Type: "text", Kind: "json", Value: string(actions), Required: true},
		{ID: "rule-door", Name: "allow_door", Label: "It may open doors", Type: "yes", Value: boolText(r.AllowDoor)},
	}
	return p, err
}

// whereInput asks for the meeting space of a rule.
func (l *Look) whereInput(chosen string) Input {
	spaces, _ := l.spaceChoices()
	if l.Who.OrganizationID == "" {
		spaces = append([]Choice{{"", "every meeting space", false}}, spaces...)
	}
	for i := range spaces {
		spaces[i].Chosen = spaces[i].Value == chosen
	}
	return Input{ID: "rule-space", Name: "meeting_space_id", Label: "Where", Type: "select", Choices: spaces}
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
	Says    string // what it does
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
	v := Explain{Rule: r, Says: ruleSentence(r), Space: names[trial.SpaceID], Trial: trial, Outcome: cmp.Or(outcomeWords[trial.Outcome], trial.Outcome),
		Runs: Table{Label: "Its last runs", Head: []string{"Time", "Trigger", "Outcome"}}}
	for _, run := range runs[:min(len(runs), 10)] {
		v.Runs.Rows = append(v.Runs.Rows, Row{Cells: []string{l.moment(run.At), run.Trigger, joined(": ", string(run.Outcome), run.Reason)}})
	}
	return v, err
}
