package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/store"
)

// Stage makes want the rules of somebody who names them by id, as the cloud does:
// what else is among mine goes. It refuses an id of a rule that is not among mine,
// and what means nothing in the site, which is the building as it will be. The
// field of a refusal begins with the place of the rule in want, as "[2].trigger".
// It returns the ids that are mine from then on. The rules as they were are asked
// first for what has happened until now. The turn is held until Release.
func (e *Engine) Stage(ctx context.Context, want []rule.Rule, mine []string, site *Site) (eventlog.Stage, []string, error) {
	if err := e.turn.Lock(ctx); err != nil {
		return eventlog.Stage{}, nil, err
	}
	c := &change{engine: e, site: site, mine: mine}
	err := e.askLog(ctx)
	if err == nil {
		c.byID = maps.Clone(e.set.Load().byID)
		err = c.take(want)
	}
	if err != nil {
		e.turn.Unlock()
		return eventlog.Stage{}, nil, err
	}
	reached := e.reached()
	write := func(tx *store.Tx) error {
		if err := c.write(tx); err != nil {
			return err
		}
		return reached.put(tx)
	}
	show := func() {
		e.asked, e.saved = reached, reached
		e.show(c.byID)
		for _, id := range c.gone {
			e.forget(id)
		}
	}
	return eventlog.Stage{Write: write, Show: show, Release: e.turn.Unlock}, c.ids, nil
}

// change is a set of rules that is checked and not yet in force.
type change struct {
	engine *Engine
	site   *Site
	mine   []string             // ids
	byID   map[string]*compiled // as they will be
	ids    []string             // that are wanted
	gone   []string             // ids
}

// take checks what is wanted.
func (c *change) take(want []rule.Rule) error {
	for i, r := range want {
		h, err := c.one(r)
		if err != nil {
			return problem.At(i, err)
		}
		c.byID[h.ID] = h
		c.ids = append(c.ids, h.ID)
	}
	for _, id := range c.mine {
		if c.byID[id] != nil && !slices.Contains(c.ids, id) {
			delete(c.byID, id)
			c.gone = append(c.gone, id)
		}
	}
	if len(c.byID) > maxRules {
		return problem.New(problem.Invalid, "", "would be %d, the most that a gateway keeps is %d", len(c.byID), maxRules)
	}
	return nil
}

// one is a rule that is wanted, ready to be asked. One that is as it was keeps
// its past, and stays suspended if it is.
func (c *change) one(r rule.Rule) (*compiled, error) {
	old, now := c.byID[r.ID], c.engine.o.moment()
	past := &history{log: rule.NewLog(nil)}
	r.CreatedAt, r.UpdatedAt, r.Suspended = now, now, nil
	switch {
	case r.ID == "" || len(r.ID) > 64 || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
		return nil, problem.New(problem.Invalid, "id", "is out of range: want 1 to 64 of a-z 0-9 . _ -")
	case slices.Contains(c.ids, r.ID):
		return nil, problem.New(problem.Invalid, "id", "is there twice")
	case old != nil && !slices.Contains(c.mine, r.ID):
		return nil, problem.New(problem.Conflict, "id", "is that of a rule that was made in the building")
	case old != nil:
		past, r.CreatedAt = old.past, old.CreatedAt
	}
	if err := check(c.site, &r); err != nil {
		return nil, err
	}
	if old != nil && same(old.Rule, r) {
		r.Suspended, r.UpdatedAt = old.Suspended, old.UpdatedAt
	}
	return compile(r, past)
}

func (c *change) write(tx *store.Tx) error {
	for _, id := range c.ids {
		if err := keep(tx, c.byID[id].Rule, c.engine.o.Keys); err != nil {
			return err
		}
	}
	for _, id := range c.gone {
		if err := deleteRule(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// same says whether two rules mean the same.
func same(x, y rule.Rule) bool {
	x.Suspended, x.CreatedAt, x.UpdatedAt = y.Suspended, y.CreatedAt, y.UpdatedAt
	return fmt.Sprintf("%+v", x) == fmt.Sprintf("%+v", y)
}
