package agent

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/message/book"
	rules "roomgate/agent/rule"
	"roomgate/store"
)

// verdicts are what rules have said about some triggers. They are stored in
// one transaction if anything is to be done, and only then take effect.
type verdicts struct {
	pasts   map[*rulePast]*rulePast // as they will be
	entries map[string]rules.Run    // of logs, by key
	rows    []eventlog.Row          // events
	stopped map[string]*rules.Rule  // suspended, by id
	drafts  []*book.Draft
	jobs    []job
	quiet   []quietRun

	seen  *trigger // the last that was looked at
	sense *rules.Env
}

// job is what is left to do of a run once it is stored.
type job struct {
	rule *heldRule
	run  rules.Run
	late time.Duration
}

// quietRun is a run in which nothing is done.
type quietRun struct {
	rule *heldRule
	run  rules.Run
}

func (a *Agent) newVerdicts() *verdicts {
	return &verdicts{pasts: map[*rulePast]*rulePast{}, entries: map[string]rules.Run{}, stopped: map[string]*rules.Rule{}}
}

// sight looks at the space of a trigger once for all the rules.
func (v *verdicts) sight(a *Agent, t *trigger) *rules.Env {
	if v.seen != t {
		v.seen, v.sense = t, a.ruleSight(t)
	}
	return v.sense
}

// past is the past of a rule, to be changed.
func (v *verdicts) past(b *ruleBook, h *heldRule) *rulePast {
	if p := v.pasts[h.past]; p != nil {
		return p
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &rulePast{log: h.past.log.Clone(), rates: map[string]*rules.Rate{}}
	for id, r := range h.past.rates {
		p.rates[id] = r.Clone()
	}
	v.pasts[h.past] = p
	return p
}

// rate is how often a rule has run in a space.
func (p *rulePast) rate(spaceID string) *rules.Rate {
	r := p.rates[spaceID]
	if r == nil {
		r = rules.RateSince(p.log.LastHeld(spaceID))
		p.rates[spaceID] = r
	}
	return r
}

// note keeps an entry of a log.
func (v *verdicts) note(h *heldRule, entry rules.Run) { v.entries[runKey(h.ID, entry.Slot())] = entry }

// take plans the actions of a rule. Its own events and what it tells people are
// part of the same transaction, its orders follow it.
func (v *verdicts) take(a *Agent, h *heldRule, t *trigger, run rules.Run) error {
	chain := append(slices.Clone(t.chain), h.ID)
	for i, act := range h.Actions {
		result := rules.Result{Action: inWords(act), State: rules.Accepted}
		if !act.To.Nobody() {
			run.Actions = append(run.Actions, v.notify(a, h, act, t))
			continue
		}
		if act.Event == "" {
			result.CommandID = "rule-" + run.ID + "-" + strconv.Itoa(i)
			run.Actions = append(run.Actions, result)
			continue
		}
		line, err := a.ruleEvent(rules.OwnEvent+act.Event, t.space, map[string]any{"rule_id": h.ID, "rule": h.Name, "run_id": run.ID, "rules": chain})
		if err != nil {
			return err
		}
		v.rows = append(v.rows, line)
		result.State, result.FinishedAt = string(device.Done), time.Now().UTC()
		run.Actions = append(run.Actions, result)
	}
	run = v.past(a.rules, h).log.Add(run)
	v.note(h, run)
	v.jobs = append(v.jobs, job{h, run, t.late})
	return nil
}

// suspend stops a rule until somebody enables it again.
func (v *verdicts) suspend(a *Agent, h *heldRule, t *trigger, run rules.Run) error {
	stopped := h.Rule
	stopped.Suspended = &rules.Suspension{At: a.Now().UTC().Truncate(time.Millisecond), Reason: run.Reason}
	line, err := a.ruleEvent(eventRuleSuspended, t.space, map[string]any{"rule_id": h.ID, "rule": h.Name, "reason": run.Reason,
		"rules": append(slices.Clone(t.chain), h.ID)})
	if err != nil {
		return err
	}
	v.rows = append(v.rows, line)
	v.stopped[h.ID] = &stopped
	v.note(h, v.past(a.rules, h).log.Add(run))
	return nil
}

// ruleEvent makes the log row of something that a rule did.
func (a *Agent) ruleEvent(kind string, s *space, details map[string]any) (eventlog.Row, error) {
	return a.Events.Event(eventlog.Record{Type: kind, Time: a.Now(), Space: spaceID(s), Device: "rule", Details: details})
}

// rule stores the verdicts together with how far was asked, and lets them take
// effect. Where nothing was done, that is kept in memory until later. The
// caller has the turn.
func (a *Agent) rule(ctx context.Context, v *verdicts, cursor uint64, clock time.Time) error {
	b := a.rules
	if len(v.jobs) > 0 || len(v.stopped) > 0 {
		if err := a.db.Update(ctx, func(tx *store.Tx) error { return v.write(tx, a, cursor, clock) }); err != nil {
			return err
		}
		b.saved, b.clockSaved = cursor, clock
	}
	b.cursor, b.clock = cursor, clock
	b.settle(v)
	for id, r := range v.stopped {
		a.log.Warn("a rule is suspended: change it, then enable it again", "rule", r.Name, "id", id, "reason", r.Suspended.Reason)
	}
	if len(v.rows)+len(v.drafts) > 0 {
		a.Messages.Stage(v.drafts...).Show()
		a.Events.Grow()
	}
	b.jobs = append(b.jobs, v.jobs...)
	return nil
}

func (v *verdicts) write(tx *store.Tx, a *Agent, cursor uint64, clock time.Time) error {
	var all []error
	for key, entry := range v.entries {
		all = append(all, ruleRuns.Put(tx, key, entry))
		if entry.Open() {
			all = append(all, openRuns.Put(tx, key, true))
		}
	}
	for id, r := range v.stopped {
		all = append(all, ruleRows.Put(tx, id, *r))
	}
	all = append(all, a.Events.Push(tx, v.rows...), a.Messages.Stage(v.drafts...).Write(tx))
	return errors.Join(append(all, a.rules.saveCursors(tx, cursor, clock))...)
}

// settle shows what was stored, and notes what is not yet.
func (b *ruleBook) settle(v *verdicts) {
	b.mu.Lock()
	for old, now := range v.pasts {
		for i := range now.log.Runs {
			if r := old.log.Find(now.log.Runs[i].ID); r != nil {
				now.log.Runs[i].Actions = r.Actions // an order may have ended meanwhile
			}
		}
		*old = *now
	}
	stored := len(v.jobs) > 0 || len(v.stopped) > 0
	for key, entry := range v.entries {
		if stored {
			delete(b.unsaved, key)
		} else {
			b.unsaved[key] = entry
		}
		delete(b.closed, key)
	}
	for _, q := range v.quiet {
		entry := q.rule.past.log.Add(q.run)
		b.unsaved[runKey(q.rule.ID, entry.Slot())] = entry
	}
	b.mu.Unlock()
	if len(v.stopped) == 0 {
		return
	}
	byID := map[string]*heldRule{}
	for id, h := range b.set.Load().byID {
		if r := v.stopped[id]; r != nil {
			h = &heldRule{*r, h.condition, h.times, h.past}
		}
		byID[id] = h
	}
	b.show(byID)
}

// numberIn is the number that a value says; one that says none compares with
// nothing.
func numberIn(value string) float64 {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}
