package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/rule"
	"roomgate/store"
)

// runFlush is how often what may be lost in a power cut is stored: receipts,
// which the store has beside their commands, and that a condition did not hold.
const runFlush = time.Minute

// clockFlush is how often it is stored how far triggers by time were taken,
// while there are none.
const clockFlush = time.Hour

// load reads the rules, and which of them are plain: an earlier version has stored a topic of
// theirs in clear. One that this version does not understand is kept
// and never asked.
func (e *Engine) load(tx *store.Tx) (plain []rule.Rule, err error) {
	byID := map[string]*compiled{}
	for id, s := range ruleRows.All(tx) {
		r, read := s.open(e.o.Keys)
		if _, any := topicsOf(r); any && len(s.Sealed) == 0 {
			plain = append(plain, r)
		}
		h, err := compile(r, &history{})
		if err == nil && !read {
			err = errSealed
		}
		if err != nil {
			e.o.Log.Error("cannot understand a rule, it is off: change or delete it", "rule", id, "error", err)
			r.Enabled = false
			h = &compiled{Rule: r, condition: &rule.Condition{}, past: &history{}}
		}
		byID[id] = h
	}
	if err := tx.Err(); err != nil {
		e.o.Log.Error("cannot read a rule, it is left out: make it again if it is missing", "error", err)
	}
	cursor, set, err := logCursor.Get(tx)
	if err != nil {
		return nil, err
	}
	if !set || len(byID) == 0 {
		cursor = eventlog.End(tx)
	}
	milli, _, err := timeCursor.Get(tx)
	if err != nil {
		return nil, err
	}
	e.asked.seq = cursor
	if milli > 0 {
		e.asked.at = time.UnixMilli(int64(milli)).UTC()
	}
	e.saved = e.asked
	e.show(byID)
	return plain, nil
}

// position is how far the rules were asked.
type position struct {
	seq uint64    // of the log
	at  time.Time // triggers by time were taken up to here; zero: never
}

// put stores the position.
func (p position) put(tx *store.Tx) error {
	if err := logCursor.Put(tx, p.seq); err != nil || p.at.IsZero() {
		return err
	}
	return timeCursor.Put(tx, uint64(p.at.UnixMilli()))
}

// readPast reads the log of a rule, if nobody did before.
func (e *Engine) readPast(h *compiled) error {
	e.mu.Lock()
	read := h.past.log != nil
	e.mu.Unlock()
	if read {
		return nil
	}
	var runs []rule.Run
	err := e.o.DB.View(func(tx *store.Tx) error {
		runs = slices.Collect(maps.Values(runsOf(tx, h.ID)))
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(runs, func(x, y rule.Run) int { return int(int64(x.Seq) - int64(y.Seq)) })
	e.mu.Lock()
	defer e.mu.Unlock()
	if h.past.log == nil {
		h.past.log = rule.NewLog(runs)
	}
	return nil
}

// Runs returns the last runs of a rule, the newest first.
func (e *Engine) Runs(id string) ([]rule.Run, error) {
	h, err := e.find(id)
	if err != nil {
		return nil, err
	}
	if err := e.readPast(h); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	runs := slices.Clone(h.past.log.Runs)
	for i := range runs {
		runs[i].Actions = slices.Clone(runs[i].Actions)
	}
	slices.Reverse(runs)
	return runs, nil
}

// save writes all that the store does not have yet. Where that is only how
// far was asked, in vain, it is written now and then. The caller has the turn.
func (e *Engine) save(ctx context.Context, last bool) error {
	e.mu.Lock()
	unsaved, closed := maps.Clone(e.unsaved), maps.Clone(e.closed)
	e.mu.Unlock()
	lag := len(e.set.Load().byID) > 0 && (last || e.asked.seq >= e.saved.seq+eventlog.PageSize || e.asked.at.Sub(e.saved.at) > clockFlush)
	if len(unsaved)+len(closed) == 0 && !lag {
		return nil
	}
	err := e.o.DB.Update(ctx, func(tx *store.Tx) error {
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
		return e.asked.put(tx)
	})
	if err != nil {
		return err
	}
	e.saved = e.asked
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, r := range unsaved {
		if now := e.unsaved[key]; now.Seq == r.Seq && now.Count == r.Count && slices.Equal(now.Actions, r.Actions) {
			delete(e.unsaved, key)
		}
	}
	for key := range closed {
		delete(e.closed, key)
	}
	return nil
}
