package agent

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	rules "roomgate/agent/rule"
	"roomgate/store"
)

// users checks the people who may sign in beside those of the file.
func (c *configuring) users() error {
	if c.down.Users == nil {
		return nil
	}
	people, err := c.agent.file.WithUsers(persons(*c.down.Users))
	if err != nil {
		return layError(err)
	}
	c.kept.Users = *c.down.Users
	c.add(c.agent.Access.StagePeople(people))
	return nil
}

func persons(users []downUser) []config.Person {
	people := make([]config.Person, len(users))
	for i, u := range users {
		people[i] = config.Person{ID: u.ID, Email: u.Email, Name: u.Name, Role: cmp.Or(u.Role, string(auth.RoleMember)),
			OrganizationID: u.OrganizationID, PushTopic: u.PushTopic, Enabled: u.Enabled == nil || *u.Enabled}
	}
	return people
}

// keys checks the API keys. One of the cloud's that is not named any more is
// revoked.
func (c *configuring) keys() error {
	if c.down.Keys == nil {
		return nil
	}
	s, ids, err := c.agent.Access.StageKeys(*c.down.Keys, c.kept.Keys)
	if err != nil {
		return under("keys", err)
	}
	c.kept.Keys = ids
	c.add(s)
	return nil
}

// rules checks the rules. The rules as they were are asked first for what has
// happened until now.
func (c *configuring) rules() error {
	if c.down.Rules == nil {
		return nil
	}
	a, b := c.agent, c.agent.rules
	if err := b.turn.Lock(c.ctx); err != nil {
		return err
	}
	c.let = append(c.let, b.turn.Unlock)
	if err := a.askRules(c.ctx); err != nil {
		return err
	}
	byID := maps.Clone(b.set.Load().byID)
	before := c.kept.Rules
	c.kept.Rules = nil
	for i, r := range *c.down.Rules {
		r.Rule.Enabled = r.Enabled == nil || *r.Enabled
		h, err := c.rule(r.Rule, byID[r.ID], before)
		if err != nil {
			return in("rules", i, err)
		}
		byID[h.ID] = h
		c.kept.Rules = append(c.kept.Rules, h.ID)
		c.store = append(c.store, func(tx *store.Tx) error { return ruleRows.Put(tx, h.ID, h.Rule) })
	}
	for _, id := range before {
		if byID[id] != nil && !slices.Contains(c.kept.Rules, id) {
			delete(byID, id)
			c.store = append(c.store, func(tx *store.Tx) error { return deleteRule(tx, id) })
			c.show = append(c.show, func() { b.forget(id) })
		}
	}
	if len(byID) > maxRules {
		return refuse(Invalid, "rules", "would be %d, the most that a gateway keeps is %d", len(byID), maxRules)
	}
	clock := b.clock
	if clock.IsZero() && a.clock.Trust() == Trusted {
		clock = a.Now().UTC().Truncate(time.Millisecond)
	}
	c.store = append(c.store, func(tx *store.Tx) error { return b.saveCursors(tx, b.cursor, clock) })
	c.show = append(c.show, func() {
		b.clock, b.clockSaved, b.saved = clock, clock, b.cursor
		b.show(byID)
	})
	return nil
}

// rule is one of the cloud's rules, ready to be asked. One that is as it was
// keeps its past, and stays suspended if it is.
func (c *configuring) rule(r rules.Rule, old *heldRule, before []string) (*heldRule, error) {
	now := c.agent.Now().UTC().Truncate(time.Millisecond)
	past := &rulePast{log: rules.NewLog(nil)}
	r.CreatedAt, r.UpdatedAt, r.Suspended = now, now, nil
	switch {
	case r.ID == "" || len(r.ID) > 64 || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
		return nil, refuse(Invalid, "id", "is out of range: want 1 to 64 of a-z 0-9 . _ -")
	case slices.Contains(c.kept.Rules, r.ID):
		return nil, refuse(Invalid, "id", "is there twice")
	case old != nil && !slices.Contains(before, r.ID):
		return nil, refuse(Conflict, "id", "is that of a rule that was made in the building")
	case old != nil:
		past, r.CreatedAt = old.past, old.CreatedAt
	}
	if err := c.agent.checkRule(c.next, &r); err != nil {
		return nil, err
	}
	if old != nil && sameRule(old.Rule, r) {
		r.Suspended, r.UpdatedAt = old.Suspended, old.UpdatedAt
	}
	h, err := holdRule(r, past)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// sameRule says whether two rules mean the same.
func sameRule(x, y rules.Rule) bool {
	x.Suspended, x.CreatedAt, x.UpdatedAt = y.Suspended, y.CreatedAt, y.UpdatedAt
	return fmt.Sprintf("%+v", x) == fmt.Sprintf("%+v", y)
}

// loadCloudUsers are the people that the cloud named.
func (a *Agent) loadCloudUsers(tx *store.Tx) ([]config.Person, error) {
	c, err := cloudConfigs.Get(tx, currentConfig)
	if errors.Is(err, store.ErrNotFound) {
		return a.file.Users, nil
	}
	if err != nil {
		return a.file.Users, err
	}
	people, err := a.file.WithUsers(persons(c.Users))
	if err != nil {
		a.log.Error("the users that the cloud named do not fit the configuration and are left out", "error", err)
		return a.file.Users, nil
	}
	return people, nil
}
