package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"roomgate/agent/auth"
	"roomgate/agent/rule"
	"roomgate/store"
)

// storedRule is a rule as the store has it: topics at the push gateway are sealed, as whoever
// knows one reads all that goes there.
type storedRule struct {
	rule.Rule
	Sealed []byte `json:"sealed,omitempty"` // the topics of its actions, in order; empty where one has none
	Of     string `json:"of,omitempty"`     // its organization
}

// unreadable stands in a row for a topic that is sealed. The push gateway has none of that name: an earlier version,
// or a gateway that cannot open what another one has sealed, sends the message nowhere, and not to a display instead.
const unreadable = "?"

var errSealed = errors.New("another gateway has sealed a topic in it")

// place is what sealed topics are bound to.
func place(r rule.Rule) string { return "rule/" + r.ID }

// topicsOf are the topics of the actions, and whether there is one.
func topicsOf(r rule.Rule) (topics []string, any bool) {
	for _, act := range r.Actions {
		topics = append(topics, act.To.Topic)
		any = any || act.To.Topic != ""
	}
	return topics, any
}

// seal is the rule as the store keeps it.
func seal(r rule.Rule, keys *auth.Keys) storedRule {
	topics, any := topicsOf(r)
	if !any {
		return storedRule{Rule: r, Of: r.OrganizationID}
	}
	text, _ := json.Marshal(topics) // texts only
	r.Actions = slices.Clone(r.Actions)
	for i := range r.Actions {
		if r.Actions[i].To.Topic != "" {
			r.Actions[i].To.Topic = unreadable
		}
	}
	return storedRule{r, keys.Seal(place(r), text), r.OrganizationID}
}

// open is the rule with its topics, and whether they could be read.
func (s storedRule) open(keys *auth.Keys) (r rule.Rule, read bool) {
	r = s.Rule
	r.OrganizationID = s.Of
	if len(s.Sealed) == 0 {
		return r, true // it has none, or an earlier version has stored it
	}
	var topics []string
	text, err := keys.Open(place(r), s.Sealed)
	if err != nil || json.Unmarshal(text, &topics) != nil || len(topics) != len(r.Actions) {
		return r, false
	}
	for i, topic := range topics {
		r.Actions[i].To.Topic = topic
	}
	return r, true
}

// keep stores a rule.
func keep(tx *store.Tx, r rule.Rule, keys *auth.Keys) error {
	return ruleRows.Put(tx, r.ID, seal(r, keys))
}

// sealPlain seals the topics that an earlier version has stored in clear, and takes them out
// of the logs of their rules. If it cannot store that, the next start does.
func (o *Options) sealPlain(ctx context.Context, plain []rule.Rule) error {
	if len(plain) == 0 {
		return nil
	}
	err := o.DB.Update(ctx, func(tx *store.Tx) error {
		for _, r := range plain {
			if err := keep(tx, r, o.Keys); err != nil {
				return err
			}
			if err := hideTopics(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if store.Unstored(err) {
		o.Log.Error("cannot seal the topics of rules, the next start tries again: see roomgate doctor", "error", err)
		return nil
	}
	return err
}

// hideTopics takes the topics of a rule out of its log.
func hideTopics(tx *store.Tx, r rule.Rule) error {
	hidden := rule.To{Topic: unreadable}.String()
	for key, run := range runsOf(tx, r.ID) {
		for i := range run.Actions {
			for _, act := range r.Actions {
				if before, is := strings.CutSuffix(run.Actions[i].Action, " to "+act.To.Topic); is && act.To.Topic != "" {
					run.Actions[i].Action = before + " to " + hidden
				}
			}
		}
		if err := ruleRuns.Put(tx, key, run); err != nil {
			return err
		}
	}
	return nil
}

// runsOf is the log of a rule in the store, by key.
func runsOf(tx *store.Tx, id string) map[string]rule.Run {
	all := map[string]rule.Run{}
	for key, r := range ruleRuns.From(tx, id+"/") {
		if !strings.HasPrefix(key, id+"/") {
			break
		}
		all[key] = r
	}
	return all
}
