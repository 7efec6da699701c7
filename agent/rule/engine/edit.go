package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/store"
)

// Create checks and stores a rule. Earlier events do not trigger it.
// The error is a *problem.Error of what is refused: NotFound for a space, Full
// for one rule too many, Invalid for the rest.
func (e *Engine) Create(ctx context.Context, r rule.Rule) (rule.Rule, error) {
	r.ID, r.Suspended = strings.ToLower(ulid.Make().String()), nil
	r.CreatedAt = e.o.moment()
	own := e.o.neighbours(r.SpaceID)
	if err := e.turn.Lock(ctx); err != nil {
		return rule.Rule{}, err
	}
	defer e.turn.Unlock()
	if len(e.set.Load().byID) >= maxRules {
		return rule.Rule{}, problem.New(problem.Full, "", "the gateway has %d rules, the most that it keeps: delete one that is not used", maxRules)
	}
	if e.set.Load().count(own) >= maxRulesOfOrg {
		return rule.Rule{}, problem.New(problem.Full, "meeting_space_id", "is of an organization with %d rules, the most that one has: delete one that is not used", maxRulesOfOrg)
	}
	return e.store(ctx, r, &history{log: rule.NewLog(nil)})
}

// neighbours are the spaces of the organization that a space is of; none: nobody's.
func (o *Options) neighbours(spaceID string) (all []string) {
	owner, err := o.Owner(spaceID)
	if err != nil || owner == "" {
		return nil
	}
	for _, s := range o.Site().order {
		if other, err := o.Owner(s.ID); err == nil && other == owner {
			all = append(all, s.ID)
		}
	}
	return all
}

// count is how many rules there are for some spaces.
func (s *ruleSet) count(spaces []string) (n int) {
	for _, r := range s.byID {
		if slices.Contains(spaces, r.SpaceID) {
			n++
		}
	}
	return n
}

// Change stores what edit makes of a rule. One that was suspended is asked again
// once edit says revive and it is enabled, also if it was not disabled before.
func (e *Engine) Change(ctx context.Context, id string, edit func(*rule.Rule) (revive bool, err error)) (rule.Rule, error) {
	if err := e.turn.Lock(ctx); err != nil {
		return rule.Rule{}, err
	}
	defer e.turn.Unlock()
	h, err := e.find(id)
	if err != nil {
		return rule.Rule{}, err
	}
	r := h.Rule
	r.Actions = slices.Clone(r.Actions)
	revive, err := edit(&r)
	if err != nil {
		return rule.Rule{}, err
	}
	if revive && r.Enabled {
		r.Suspended = nil
		e.forgive(id, h.past)
	}
	return e.store(ctx, r, h.past)
}

// store checks a rule, stores it, and then lets it take effect. The rules as
// they were are asked first for what has happened until now. The caller has the
// turn.
func (e *Engine) store(ctx context.Context, r rule.Rule, past *history) (rule.Rule, error) {
	r.UpdatedAt = e.o.moment()
	if err := check(e.o.Site(), &r); err != nil {
		return rule.Rule{}, err
	}
	h, err := compile(r, past)
	if err != nil {
		return rule.Rule{}, err
	}
	if err := e.askLog(ctx); err != nil {
		return rule.Rule{}, err
	}
	reached := e.reached()
	err = e.o.DB.Update(ctx, func(tx *store.Tx) error {
		if err := keep(tx, r, e.o.Keys); err != nil {
			return err
		}
		return errors.Join(reached.put(tx), eventlog.Audit(ctx, tx, map[string]any{"rule_id": r.ID, "name": r.Name}))
	})
	if err != nil {
		return rule.Rule{}, err
	}
	e.asked, e.saved = reached, reached
	byID := maps.Clone(e.set.Load().byID)
	byID[r.ID] = h
	e.show(byID)
	return r, nil
}

// moment is now as rules have it.
func (o *Options) moment() time.Time { return o.Clock.Now().UTC().Truncate(time.Millisecond) }

// reached is how far the rules were asked, for a set of rules that is to come:
// while none goes by the time, that has passed without being asked about. The
// caller has the turn.
func (e *Engine) reached() position {
	p := e.asked
	if now := e.o.moment(); e.o.Clock.Trust() == clock.Trusted && (p.at.IsZero() || !e.set.Load().timed() && now.After(p.at)) {
		p.at = now
	}
	return p
}

// Delete ends a rule with its log. Commands that it has given are carried out.
func (e *Engine) Delete(ctx context.Context, id string) error {
	if err := e.turn.Lock(ctx); err != nil {
		return err
	}
	defer e.turn.Unlock()
	if _, err := e.find(id); err != nil {
		return err
	}
	if err := e.o.DB.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(deleteRule(tx, id), eventlog.Audit(ctx, tx, nil))
	}); err != nil {
		return err
	}
	byID := maps.Clone(e.set.Load().byID)
	delete(byID, id)
	e.show(byID)
	e.forget(id)
	return nil
}
