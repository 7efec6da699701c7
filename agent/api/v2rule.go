package api

import (
	rules "roomgate/agent/rule"
	"roomgate/agent/rule/engine"
)

// timedRule is a rule of V2.0.
type timedRule struct {
	rules.Rule
	SpaceID   maybe            `json:"meeting_space_id"` // null: it holds in every space
	Condition maybe            `json:"condition"`        // null: always
	Suspended *timedSuspension `json:"suspended"`        // null: it is not
	CreatedAt moment           `json:"created_at"`
	UpdatedAt moment           `json:"updated_at"`
}

// timedSuspension is why the building stopped a rule by itself.
type timedSuspension struct {
	At     moment `json:"at"`
	Reason string `json:"reason"`
}

func newTimedRule(r rules.Rule) timedRule {
	t := timedRule{r, maybe(r.SpaceID), maybe(r.Condition), nil, moment(r.CreatedAt), moment(r.UpdatedAt)}
	if r.Suspended != nil {
		t.Suspended = &timedSuspension{moment(r.Suspended.At), r.Suspended.Reason}
	}
	return t
}

func ruleID(r rules.Rule) string { return r.ID }

// rule answers with a rule, of the version.
func (c *call) rule(status int, r rules.Rule) error {
	if c.v2 {
		return c.json(status, newTimedRule(r))
	}
	return c.json(status, r)
}

// timedTrial is what a rule would do, of V2.0.
type timedTrial struct {
	engine.Trial
	At moment `json:"at"`
}

// timedRun is a run of a rule, of V2.0.
type timedRun struct {
	rules.Run
	At      moment        `json:"at"`
	Actions []timedResult `json:"actions"`
}

// timedResult is the result of one action.
type timedResult struct {
	rules.Result
	FinishedAt moment `json:"finished_at"`
}

// newTimedRuns is the log of a rule, which is short and has one page.
func newTimedRuns(runs []rules.Run) page[timedRun] {
	p := page[timedRun]{Items: make([]timedRun, len(runs))}
	for i, r := range runs {
		p.Items[i] = timedRun{r, moment(r.At), make([]timedResult, len(r.Actions))}
		for j, act := range r.Actions {
			p.Items[i].Actions[j] = timedResult{act, moment(act.FinishedAt)}
		}
	}
	return p
}
