package cloudconfig

import (
	"cmp"
	"log/slog"
	"reflect"
	"slices"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	rules "roomgate/agent/rule"
	"roomgate/agent/site"
	"roomgate/store"
)

// users checks the people who may sign in beside those of the file.
func (c *configuring) users() error {
	if c.down.Users == nil {
		return nil
	}
	people, err := c.turn.File().WithUsers(persons(*c.down.Users))
	if err != nil {
		return site.Refusal(err)
	}
	c.opens("users", slices.ContainsFunc(*c.down.Users, func(u downUser) bool {
		return !slices.ContainsFunc(c.kept.Users, func(known downUser) bool { return reflect.DeepEqual(u, known) })
	}))
	c.kept.Users, c.kept.Sealed.Topics = *c.down.Users, nil
	c.add(c.o.Access.StagePeople(people))
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
	s, ids, err := c.o.Access.StageKeys(*c.down.Keys, c.kept.Keys)
	if err != nil {
		return under("keys", err)
	}
	c.opens("keys", len(ids) > 0)
	c.kept.Keys = ids
	c.add(s)
	return nil
}

// rules checks the rules. One of the cloud's that is not named any more goes.
func (c *configuring) rules() error {
	if c.down.Rules == nil {
		return nil
	}
	want := make([]rules.Rule, len(*c.down.Rules))
	for i, r := range *c.down.Rules {
		want[i] = r.Rule
		want[i].Enabled = r.Enabled == nil || *r.Enabled
		c.opens("rules", slices.ContainsFunc(r.Actions, func(act rules.Action) bool { return device.Unlocks(act.DeviceType, act.Action) }))
	}
	s, ids, err := c.o.Rules.Stage(c.ctx, want, c.kept.Rules, c.o.RuleSite(c.next))
	if err != nil {
		return under("rules", err)
	}
	c.kept.Rules = ids
	c.kept.Doubted = &ids
	if c.signed {
		c.kept.Doubted = new([]string)
	}
	c.add(s)
	return nil
}

// signers checks the keys that the next messages are signed with. They come only
// with the signature of one before: the first came sealed, with the claim.
func (c *configuring) signers() error {
	if c.down.SigningKeys == nil {
		return nil
	}
	if !c.signed {
		return problem.New(problem.Forbidden, "signing_keys", "are not signed: sign them with a key that this gateway holds, or bring the first by a claim")
	}
	s, err := c.o.Signers.Stage(*c.down.SigningKeys)
	if err != nil {
		return under("signing_keys", err)
	}
	c.add(s)
	return nil
}

// PeopleAtStart are those of the file and those that the cloud has named.
func PeopleAtStart(tx *store.Tx, keys *auth.Keys, file *config.Config, log *slog.Logger) ([]config.Person, error) {
	c, err := readRow(tx, keys)
	if err != nil {
		return file.Users, err
	}
	people, err := file.WithUsers(persons(c.Users))
	if err != nil {
		log.Error("the users that the cloud named do not fit the configuration and are left out", "error", err)
		return file.Users, nil
	}
	return people, nil
}
