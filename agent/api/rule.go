package api

import (
	"cmp"
	"net/http"
	"strconv"

	"roomgate/agent/auth"
	"roomgate/agent/device"
	"roomgate/agent/message"
	"roomgate/agent/problem"
	rules "roomgate/agent/rule"
	"roomgate/agent/rule/engine"
	"roomgate/agent/strict"
)

// listRules lists the rules that who asks sees.
func listRules(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	seen := []rules.Rule{}
	for _, r := range s.agent.Rules.List() {
		if s.visibility.ownsRule(&c.who, r) == nil {
			seen = append(seen, r)
		}
	}
	if c.v2 {
		return list(c, q, seen, ruleID, newTimedRule)
	}
	return c.json(http.StatusOK, struct {
		Rules []rules.Rule `json:"rules"`
	}{seen})
}

// createRule makes a rule.
func createRule(s *Server, c *call) error {
	f := ruleFields{}
	if err := c.decode(f.members(true)...); err != nil {
		return err
	}
	r := rules.Rule{Enabled: true, OrganizationID: c.who.OrganizationID}
	f.lay(&r)
	if err := s.mayRule(&c.who, r); err != nil {
		return err
	}
	made, err := s.agent.Rules.Create(c.r.Context(), r)
	if err != nil {
		return err
	}
	return c.rule(http.StatusCreated, made)
}

// getRule answers with one rule.
func getRule(s *Server, c *call) error {
	r, err := s.agent.Rules.Get(c.params[0])
	if err != nil {
		return err
	}
	return c.rule(http.StatusOK, r)
}

// updateRule changes what the body names: a trigger, actions and limits as a
// whole.
func updateRule(s *Server, c *call) error {
	f := ruleFields{}
	if err := c.decode(f.members(false)...); err != nil {
		return err
	}
	who := c.who
	changed, err := s.agent.Rules.Change(c.r.Context(), c.params[0], func(r *rules.Rule) (bool, error) {
		if err := s.visibility.ownsRule(&who, *r); err != nil {
			return false, err
		}
		f.lay(r)
		r.OrganizationID = cmp.Or(who.OrganizationID, r.OrganizationID)
		return f.enabled != nil && *f.enabled, s.mayRule(&who, *r)
	})
	if err != nil {
		return err
	}
	return c.rule(http.StatusOK, changed)
}

// deleteRule ends a rule.
func deleteRule(s *Server, c *call) error {
	if err := s.agent.Rules.Delete(c.r.Context(), c.params[0]); err != nil {
		return err
	}
	return c.none()
}

// testRule explains what a rule would do, and does nothing.
func testRule(s *Server, c *call) error {
	var p engine.Probe
	var e *rules.Event
	err := c.decodeAny(strict.Optional("meeting_space_id", &p.SpaceID), strict.Optional("booking_id", &p.BookingID),
		strict.Optional("event", func(field string, value []byte) (err error) { e, err = probedEvent(field, value); return err }))
	if err != nil {
		return err
	}
	p.Event = e
	rule, err := s.agent.Rules.Get(c.params[0])
	if err != nil {
		return err
	}
	if err := s.mayCommand(&c.who, rule); err != nil {
		return err
	}
	trial, err := s.agent.Rules.Try(c.params[0], p)
	if err != nil {
		return err
	}
	if c.v2 {
		return c.json(http.StatusOK, timedTrial{trial, moment(trial.At)})
	}
	return c.json(http.StatusOK, trial)
}

// ruleLog answers with the last runs of a rule, the newest first.
func ruleLog(s *Server, c *call) error {
	runs, err := s.agent.Rules.Runs(c.params[0])
	if err != nil {
		return err
	}
	if c.v2 {
		return c.json(http.StatusOK, newTimedRuns(runs))
	}
	if runs == nil {
		runs = []rules.Run{}
	}
	return c.json(http.StatusOK, struct {
		Runs []rules.Run `json:"runs"`
	}{runs})
}

// ownRule refuses a rule that who asks does not see as one that is not there.
func (s visibility) ownRule(who *principal, id string) error {
	r, err := s.agent.Rules.Get(id)
	if err == nil && s.ownsRule(who, r) != nil {
		_, err = s.agent.Rules.Get(nobody)
	}
	return err
}

// ownsRule refuses a rule that is about spaces which who asks does not see. A
// rule for every space is the building's.
func (s visibility) ownsRule(who *principal, r rules.Rule) error {
	if who.OrganizationID == "" {
		return nil
	}
	if r.SpaceID == "" {
		return invalid("meeting_space_id", "is missing: a rule for every space is not yours to make")
	}
	if err := s.ownSpace(who, r.SpaceID); err != nil {
		return err
	}
	for _, act := range r.Actions {
		if act.SpaceID == "" {
			continue
		}
		if err := s.ownSpace(who, act.SpaceID); err != nil {
			return err
		}
	}
	return nil
}

// mayRule refuses a rule that would do what who makes it may not do himself.
func (s *Server) mayRule(who *principal, r rules.Rule) error {
	if err := s.visibility.ownsRule(who, r); err != nil {
		return err
	}
	for i, act := range r.Actions {
		field, why := "actions["+strconv.Itoa(i)+"]", ""
		switch {
		case act.Event != "":
		case !act.To.Nobody() && !who.May(auth.MessagesWrite):
			why = "tells somebody something: " + lacks(who, auth.MessagesWrite, permitMessagesWrite)
		case act.To.Nobody() && !who.May(auth.DevicesWrite):
			why = "gives a command: " + lacks(who, auth.DevicesWrite, permitWrite)
		}
		if why != "" {
			return &problem.Error{Code: problem.Forbidden, Field: field, Message: why}
		}
		if err := s.mayTell(who, field, act.To); err != nil {
			return err
		}
	}
	return s.mayCommand(who, r)
}

// mayCommand refuses a rule with a command that who asks may not give to that device himself,
// in one of the meeting spaces that the rule is about.
func (s *Server) mayCommand(who *principal, r rules.Rule) error {
	for i, act := range r.Actions {
		c, isCommand := engine.CommandOf(act)
		if !isCommand {
			continue
		}
		for _, space := range s.agent.Site.Spaces() {
			if where := cmp.Or(act.SpaceID, r.SpaceID); where != "" && where != space.ID {
				continue
			}
			if err := s.agent.Site.Permits(who.Principal, space.ID, c.DeviceType, c.SubDevice, c.Action); err != nil {
				e := *device.AsError(err)
				e.Field = "actions[" + strconv.Itoa(i) + "]." + e.Field
				return &e
			}
		}
	}
	return nil
}

// mayTell refuses a recipient that the author of the rule could not send messages to.
func (s *Server) mayTell(who *principal, field string, to rules.To) error {
	if to.Nobody() || to.Organizer { // the organizer is of a booking of the rule's own spaces
		return nil
	}
	err := s.agent.Messages.CheckRecipient(organizationOf(*who), message.To{Email: to.Email, UserID: to.UserID, Topic: to.Topic})
	if err == nil {
		return nil
	}
	e := *device.AsError(err)
	e.Field = field + "." + e.Field
	return &e
}
