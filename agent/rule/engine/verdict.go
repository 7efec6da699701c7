package engine

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
	"roomgate/agent/rule"
	"roomgate/store"
)

// verdicts are what rules have said about some triggers. They are stored in
// one transaction if anything is to be done, and only then take effect.
type verdicts struct {
	pasts   map[*history]*history // as they will be
	entries map[string]rule.Run   // of logs, by key
	rows    []eventlog.Row        // events
	stopped map[string]*rule.Rule // suspended, by id
	drafts  []*book.Draft
	jobs    []job
	quiet   []quietRun

	seen *trigger  // the last that was looked at
	env  *rule.Env // what there was to see
}

// job is what is left to do of a run once it is stored.
type job struct {
	rule *compiled
	run  rule.Run
	late time.Duration
}

// quietRun is a run in which nothing is done.
type quietRun struct {
	rule *compiled
	run  rule.Run
}

func newVerdicts() *verdicts {
	return &verdicts{pasts: map[*history]*history{}, entries: map[string]rule.Run{}, stopped: map[string]*rule.Rule{}}
}

// view looks at the space of a trigger once for all the rules.
func (v *verdicts) view(e *Engine, t *trigger) *rule.Env {
	if v.seen != t {
		v.seen, v.env = t, e.o.look(t, false)
	}
	return v.env
}

// past is the past of a rule, to be changed.
func (v *verdicts) past(e *Engine, h *compiled) *history {
	if p := v.pasts[h.past]; p != nil {
		return p
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &history{log: h.past.log.Clone(), rates: map[string]*rule.Rate{}}
	for id, r := range h.past.rates {
		p.rates[id] = r.Clone()
	}
	v.pasts[h.past] = p
	return p
}

// rate is how often a rule has run in a space.
func (p *history) rate(spaceID string) *rule.Rate {
	r := p.rates[spaceID]
	if r == nil {
		r = rule.RateSince(p.log.LastHeld(spaceID))
		p.rates[spaceID] = r
	}
	return r
}

// note keeps an entry of a log.
func (v *verdicts) note(h *compiled, entry rule.Run) { v.entries[runKey(h.ID, entry.Slot())] = entry }

// take plans the actions of a rule. Its own events and what it tells people are
// part of the same transaction, its commands follow it.
func (v *verdicts) take(e *Engine, h *compiled, t *trigger, run rule.Run) error {
	chain := append(slices.Clone(t.chain), h.ID)
	for i, act := range h.Actions {
		result := rule.Result{Action: InWords(act), State: rule.Accepted}
		if !act.To.Nobody() {
			run.Actions = append(run.Actions, v.notify(e, h, act, t))
			continue
		}
		if act.Event == "" {
			result.CommandID = device.OfRules + run.ID + "-" + strconv.Itoa(i)
			run.Actions = append(run.Actions, result)
			continue
		}
		line, err := e.o.event(rule.OwnEvent+act.Event, t.space, map[string]any{"rule_id": h.ID, "rule": h.Name, "run_id": run.ID, "rules": chain})
		if err != nil {
			return err
		}
		v.rows = append(v.rows, line)
		result.State, result.FinishedAt = string(device.Done), time.Now().UTC()
		run.Actions = append(run.Actions, result)
	}
	run = v.past(e, h).log.Add(run)
	v.note(h, run)
	v.jobs = append(v.jobs, job{h, run, t.late})
	return nil
}

// suspend stops a rule until somebody enables it again.
func (v *verdicts) suspend(e *Engine, h *compiled, t *trigger, run rule.Run) error {
	stopped := h.Rule
	stopped.Suspended = &rule.Suspension{At: e.o.Clock.Now().UTC().Truncate(time.Millisecond), Reason: run.Reason}
	line, err := e.o.event(eventSuspended, t.space, map[string]any{"rule_id": h.ID, "rule": h.Name, "reason": run.Reason,
		"rules": append(slices.Clone(t.chain), h.ID)})
	if err != nil {
		return err
	}
	v.rows = append(v.rows, line)
	v.stopped[h.ID] = &stopped
	v.note(h, v.past(e, h).log.Add(run))
	return nil
}

// event makes the log row of something that a rule did.
func (o *Options) event(kind string, s *Space, details map[string]any) (eventlog.Row, error) {
	return o.Events.Event(eventlog.Record{Type: kind, Time: o.Clock.Now(), Space: idOf(s), Device: "rule", Details: details})
}

// act says whether anything is to be done.
func (v *verdicts) act() bool { return len(v.jobs) > 0 || len(v.stopped) > 0 }

// decide stores the verdicts together with how far was asked, and lets them take
// effect. Where nothing is done, that is kept in memory until later. The caller
// has the turn.
func (e *Engine) decide(ctx context.Context, v *verdicts, p position) error {
	show := func() {
		e.asked = p
		e.settle(v)
		e.jobs = append(e.jobs, v.jobs...)
	}
	if !v.act() {
		show()
		return nil
	}
	err := e.o.Events.Commit(ctx, eventlog.Stage{
		Write: func(tx *store.Tx) error { return v.write(tx, e, p) },
		Show:  func() { e.saved = p; show() },
	}, e.o.Messages.Stage(v.drafts...))
	if err != nil {
		return err
	}
	for id, r := range v.stopped {
		e.o.Log.Warn("a rule is suspended: change it, then enable it again", "rule", r.Name, "id", id, "reason", r.Suspended.Reason)
	}
	return nil
}

// write stores all but the messages.
func (v *verdicts) write(tx *store.Tx, e *Engine, p position) error {
	var all []error
	for key, entry := range v.entries {
		all = append(all, ruleRuns.Put(tx, key, entry))
		if entry.Open() {
			all = append(all, openRuns.Put(tx, key, true))
		}
	}
	for _, r := range v.stopped {
		all = append(all, keep(tx, *r, e.o.Keys))
	}
	return errors.Join(append(all, e.o.Events.Push(tx, v.rows...), p.put(tx))...)
}

// settle shows what was stored, and notes what is not yet.
func (e *Engine) settle(v *verdicts) {
	e.mu.Lock()
	for old, now := range v.pasts {
		for i := range now.log.Runs {
			if r := old.log.Find(now.log.Runs[i].ID); r != nil {
				now.log.Runs[i].Actions = r.Actions // a command may have ended meanwhile
			}
		}
		*old = *now
	}
	for key, entry := range v.entries {
		if v.act() {
			delete(e.unsaved, key)
		} else {
			e.unsaved[key] = entry
		}
		delete(e.closed, key)
	}
	for _, q := range v.quiet {
		entry := q.rule.past.log.Add(q.run)
		e.unsaved[runKey(q.rule.ID, entry.Slot())] = entry
	}
	e.mu.Unlock()
	if len(v.stopped) == 0 {
		return
	}
	byID := map[string]*compiled{}
	for id, h := range e.set.Load().byID {
		if r := v.stopped[id]; r != nil {
			h = &compiled{*r, h.condition, h.times, h.past}
		}
		byID[id] = h
	}
	e.show(byID)
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
