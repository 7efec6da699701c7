package engine

import (
	"errors"
	"fmt"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/rule"
	"roomgate/store"
)

var (
	// ruleRows holds the rules by id, the topics in them sealed.
	ruleRows = store.NewTable[storedRule]("rules")
	// ruleRuns holds the last rule.KeepRuns runs of each rule, by its id and a
	// slot that is used again.
	ruleRuns = store.NewTable[rule.Run]("rule-runs")
	// openRuns holds the keys of runs whose commands may be under way.
	openRuns = store.NewTable[bool]("open-rule-runs")
)

// The named positions of the rules.
const (
	logCursor  eventlog.Cursor = "rules"        // in the log
	timeCursor eventlog.Cursor = "rule-minutes" // Unix time in ms: triggers by time were taken up to there
)

// Buckets names what the engine has in the store.
func Buckets() []string {
	return []string{RuleBucket(), ruleRuns.Bucket(), openRuns.Bucket()}
}

// RuleBucket names where the rules are.
func RuleBucket() string { return ruleRows.Bucket() }

// Words are the names of rules and the topics in them, for what must not show them.
func Words(tx *store.Tx, keys *auth.Keys) (words []string) {
	for _, s := range ruleRows.All(tx) {
		r, _ := s.open(keys)
		topics, _ := topicsOf(r)
		words = append(append(words, r.Name), topics...)
	}
	return words
}

// Forget lets rules begin at the end of the log, for a database that becomes that
// of another gateway: what is there was the old one's to act upon.
func Forget(tx *store.Tx) error { return logCursor.ToEnd(tx) }

// Mend does the same after a repair that may have lost how far the rules were
// asked: what they did about earlier events is done.
func Mend(tx *store.Tx, r store.Repair) error {
	if !r.Doubtful(eventlog.Cursors()) {
		return nil
	}
	return logCursor.ToEnd(tx)
}

// deleteRule deletes a rule with its log.
func deleteRule(tx *store.Tx, id string) error {
	for slot := range rule.KeepRuns {
		if err := errors.Join(ruleRuns.Delete(tx, runKey(id, slot)), openRuns.Delete(tx, runKey(id, slot))); err != nil {
			return err
		}
	}
	return ruleRows.Delete(tx, id)
}

// runKey is where the store has an entry of a rule's log.
func runKey(ruleID string, slot int) string { return fmt.Sprintf("%s/%02d", ruleID, slot) }
