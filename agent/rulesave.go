package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"roomgate/agent/eventlog"
	rules "roomgate/agent/rule"
	"roomgate/store"
)

// ruleFlush is how often what may be lost in a power cut is stored: receipts,
// which the store has beside their commands, and that a condition did not hold.
const ruleFlush = time.Minute

// clockFlush is how often it is stored how far triggers by time were taken,
// while there are none.
const clockFlush = time.Hour

// The named positions of the rules.
const (
	ruleCursor eventlog.Cursor = "rules"        // in the log
	ruleClock  eventlog.Cursor = "rule-minutes" // Unix time in ms: triggers by time were taken up to there
)

// runKey is where the store has an entry of a rule's log.
func runKey(ruleID string, slot int) string { return fmt.Sprintf("%s/%02d", ruleID, slot) }

// loadRules reads the rules. One that this version does not understand is kept
// and not heeded.
func (a *Agent) loadRules(tx *store.Tx) error {
	b, byID := a.rules, map[string]*heldRule{}
	for id, r := range ruleRows.All(tx) {
		h, err := holdRule(r, &rulePast{})
		if err != nil {
			a.log.Error("a rule is not understood and is not heeded: change or delete it", "rule", id, "error", err)
			r.Enabled = false
			h = &heldRule{Rule: r, condition: &rules.Condition{}, past: &rulePast{}}
		}
		byID[id] = h
	}
	if err := tx.Err(); err != nil {
		a.log.Error("a rule cannot be read and is left out: make it again if it is missing", "error", err)
	}
	cursor, set, err := ruleCursor.Get(tx)
	if err != nil {
		return err
	}
	if !set || len(byID) == 0 {
		cursor = eventlog.End(tx)
	}
	milli, _, err := ruleClock.Get(tx)
	if err != nil {
		return err
	}
	b.cursor, b.saved = cursor, cursor
	if milli > 0 {
		b.clock = time.UnixMilli(int64(milli)).UTC()
		b.clockSaved = b.clock
	}
	b.show(byID)
	return nil
}

// saveCursors writes how far the rules were asked.
func (b *ruleBook) saveCursors(tx *store.Tx, cursor uint64, clock time.Time) error {
	if err := ruleCursor.Put(tx, cursor); err != nil || clock.IsZero() {
		return err
	}
	return ruleClock.Put(tx, uint64(clock.UnixMilli()))
}

// readPast reads the log of a rule, if nobody did before.
func (a *Agent) readPast(h *heldRule) error {
	b := a.rules
	b.mu.Lock()
	read := h.past.log != nil
	b.mu.Unlock()
	if read {
		return nil
	}
	var runs []rules.Run
	err := a.db.View(func(tx *store.Tx) error {
		for key, r := range ruleRuns.From(tx, h.ID+"/") {
			if !strings.HasPrefix(key, h.ID+"/") {
				break
			}
			runs = append(runs, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(runs, func(x, y rules.Run) int { return int(int64(x.Seq) - int64(y.Seq)) })
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.past.log == nil {
		h.past.log = rules.NewLog(runs)
	}
	return nil
}

// RuleLog returns the last runs of a rule, the newest first.
func (a *Agent) RuleLog(id string) ([]rules.Run, error) {
	h, err := a.heldRule(id)
	if err != nil {
		return nil, err
	}
	if err := a.readPast(h); err != nil {
		return nil, err
	}
	a.rules.mu.Lock()
	defer a.rules.mu.Unlock()
	runs := slices.Clone(h.past.log.Runs)
	for i := range runs {
		runs[i].Actions = slices.Clone(runs[i].Actions)
	}
	slices.Reverse(runs)
	return runs, nil
}

// saveRules writes all that the store does not have yet. Where that is only how
// far was asked, in vain, it is written now and then. The caller has the turn.
func (a *Agent) saveRules(ctx context.Context, last bool) error {
	b := a.rules
	b.mu.Lock()
	unsaved, closed := maps.Clone(b.unsaved), maps.Clone(b.closed)
	b.mu.Unlock()
	lag := len(b.set.Load().byID) > 0 && (last || b.cursor >= b.saved+eventlog.PageSize || b.clock.Sub(b.clockSaved) > clockFlush)
	if len(unsaved)+len(closed) == 0 && !lag {
		return nil
	}
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		for key, r := range unsaved {
			if err := ruleRuns.Put(tx, key, r); err != nil {
				return err
			}
		}
		for key := range closed {
			if err := openRuns.Delete(tx, key); err != nil {
				return err
			}
		}
		return b.saveCursors(tx, b.cursor, b.clock)
	})
	if err != nil {
		return err
	}
	b.saved, b.clockSaved = b.cursor, b.clock
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, r := range unsaved {
		if now := b.unsaved[key]; now.Seq == r.Seq && now.Count == r.Count && slices.Equal(now.Actions, r.Actions) {
			delete(b.unsaved, key)
		}
	}
	for key := range closed {
		delete(b.closed, key)
	}
	return nil
}
