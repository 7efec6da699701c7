package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"roomgate/agent/auth"
	"roomgate/agent/rule"
	"roomgate/store"
)

// rawRules are all rows of the rules and of their logs, as they are stored.
func (r *rig) rawRules(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := r.Engine.o.DB.View(func(tx *store.Tx) error {
		for _, name := range []string{"rules", "rule-runs"} {
			for _, row := range store.NewTable[json.RawMessage](name).All(tx) {
				all.Write(row)
			}
		}
		return tx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestTopicsOfRulesAreSealed: neither a rule nor its log tells a topic, and the push gateway
// gets it, also after a restart. What an earlier version has stored in clear is sealed by
// the first start.
func TestTopicsOfRulesAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir()}
		r := startRig(t, o)
		made := r.addRule(rule.Rule{Name: "tea", Trigger: rule.Trigger{Event: "rule.tea"},
			Actions: []rule.Action{{To: rule.To{Topic: "kitchen-42"}, Message: "is ready"}, {To: rule.To{UserID: "ada"}, Message: "too"}}})
		sealed := func(when string) {
			t.Helper()
			if raw := r.rawRules(t); strings.Contains(raw, "kitchen-42") || strings.Count(raw, "is ready") == 0 {
				t.Errorf("%s: %s", when, raw)
			}
			if got, err := r.Get(made.ID); err != nil || got.Actions[0].To.Topic != "kitchen-42" || !got.Enabled {
				t.Errorf("%s: it is %+v, %v", when, got, err)
			}
		}
		sealed("at once")
		run := rule.Run{ID: "run", Outcome: rule.Held, Count: 1, Actions: []rule.Result{{Action: `message "is ready" to kitchen-42`, State: "done"}}}
		err := r.Engine.o.DB.Update(t.Context(), func(tx *store.Tx) error { // as an earlier version has it
			if err := ruleRuns.Put(tx, runKey(made.ID, 0), run); err != nil {
				return err
			}
			return ruleRows.Put(tx, made.ID, storedRule{Rule: made})
		})
		if err != nil || strings.Count(r.rawRules(t), "kitchen-42") != 2 {
			t.Fatal("the rows of the earlier version are not there", err)
		}
		r.stop()
		r = startRig(t, o)
		sealed("after a restart")
		if words := r.words(t); !strings.Contains(words, "kitchen-42") {
			t.Errorf("a support bundle would show the topic: %s", words)
		}
	})
}

func (r *rig) words(t *testing.T) (words string) {
	t.Helper()
	if err := r.Engine.o.DB.View(func(tx *store.Tx) error { words = strings.Join(Words(tx, r.Engine.o.Keys), " "); return nil }); err != nil {
		t.Fatal(err)
	}
	return words
}

// TestTopicsOfRulesOfAnotherGateway: a message whose topic cannot be read goes nowhere, least
// of all to a display.
func TestTopicsOfRulesOfAnotherGateway(t *testing.T) {
	others, _ := auth.NewKeys(bytes.Repeat([]byte("o"), auth.SecretSize))
	mine, _ := auth.NewKeys(bytes.Repeat([]byte("k"), auth.SecretSize))
	s := seal(rule.Rule{ID: "r1", Actions: []rule.Action{{To: rule.To{Topic: "kitchen-42"}, Message: "a"}, {Message: "b"}}}, others)
	if got, read := s.open(mine); read || got.Actions[0].To.Nobody() || got.Actions[0].To.Topic != unreadable || !got.Actions[1].To.Nobody() {
		t.Errorf("opened as %+v", got)
	}
	if got, read := s.open(others); !read || got.Actions[0].To.Topic != "kitchen-42" || got.Actions[1].To.Topic != "" {
		t.Errorf("opened by its own as %+v", got)
	}
}
