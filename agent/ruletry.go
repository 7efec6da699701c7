package agent

import (
	"cmp"
	"time"

	"roomgate/agent/eventlog"
	rules "roomgate/agent/rule"
	"roomgate/drivers"
)

// RuleProbe is what a rule is tried with.
type RuleProbe struct {
	SpaceID   string       // of a rule for every space; empty: that of the last event, or the first
	BookingID string       // that the trigger is about
	Event     *rules.Event // nil: the last one that would have triggered the rule
}

// RuleTrial says what a rule would do now, and why.
type RuleTrial struct {
	RuleID  string    `json:"rule_id"`
	SpaceID string    `json:"meeting_space_id,omitempty"`
	At      time.Time `json:"at"`
	Trigger string    `json:"trigger"` // what it was tried with, in words
	// Outcome is that of a run: held, not_held, limited or suspended; or
	// disabled.
	Outcome   string            `json:"outcome"`
	Reason    string            `json:"reason,omitempty"`
	Condition rules.Explanation `json:"condition"`
	Actions   []TriedAction     `json:"actions"`
}

// TriedAction says whether an action would be accepted, if the condition held.
type TriedAction struct {
	Action   string `json:"action"`
	SpaceID  string `json:"meeting_space_id,omitempty"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // why not, or what stands in the way now
}

// TryRule explains a rule without acting.
func (a *Agent) TryRule(id string, p RuleProbe) (RuleTrial, error) {
	h, err := a.heldRule(id)
	if err != nil {
		return RuleTrial{}, err
	}
	if err := a.readPast(h); err != nil {
		return RuleTrial{}, err
	}
	t, err := a.probe(h, p)
	if err != nil {
		return RuleTrial{}, err
	}
	out := RuleTrial{RuleID: id, SpaceID: spaceID(t.space), At: t.at.UTC(), Trigger: t.words, Actions: []TriedAction{}}
	sight := a.ruleSight(t)
	out.Condition = h.condition.Explain(sight)
	held, reason := a.holds(h, sight)
	out.Outcome, out.Reason = a.wouldBe(h, t, held, reason)
	for _, act := range h.Actions {
		out.Actions = append(out.Actions, a.tryAction(h.Rule, act, t))
	}
	return out, nil
}

// wouldBe is the outcome of a run now.
func (a *Agent) wouldBe(h *heldRule, t *trigger, held bool, reason string) (outcome, why string) {
	b := a.rules
	b.mu.Lock()
	rate := h.past.rates[spaceID(t.space)]
	if rate == nil {
		rate = rules.RateSince(h.past.log.LastHeld(spaceID(t.space)))
	}
	refusal := rate.Would(h.Limits, a.Now())
	b.mu.Unlock()
	switch {
	case h.Suspended != nil:
		return string(rules.Suspended), h.Suspended.Reason
	case !h.Enabled:
		return "disabled", ""
	case !held:
		return string(rules.NotHeld), reason
	case refusal != "":
		return string(rules.Limited), refusal
	}
	return string(rules.Held), ""
}

// probe makes the trigger that a rule is tried with.
func (a *Agent) probe(h *heldRule, p RuleProbe) (*trigger, error) {
	if p.SpaceID != "" {
		if _, err := a.space(p.SpaceID); err != nil {
			return nil, err
		}
		if h.SpaceID != "" && p.SpaceID != h.SpaceID {
			return nil, refuse(Invalid, "meeting_space_id", "is not the space of the rule: leave it out")
		}
	}
	where := cmp.Or(p.SpaceID, h.SpaceID)
	t := &trigger{words: "now", at: a.Now(), event: rules.NewEnv().Event, booking: p.BookingID}
	switch kind := cmp.Or(h.Trigger.Event, h.Trigger.Booking); {
	case p.Event != nil:
		t.event = *p.Event
		t.event.Type = kind
		t.event.Device = cmp.Or(t.event.Device, h.Trigger.SubDevice, h.Trigger.DeviceType)
		t.event.SubDevice = cmp.Or(t.event.SubDevice, h.Trigger.SubDevice)
		t.event.Number = numberIn(t.event.Value)
		t.event.Clip()
		t.words = "an event that was made up"
	case kind != "" && h.Trigger.Before == 0 && h.Trigger.After == 0:
		last, err := a.lastTrigger(h.Trigger, kind, where)
		if err != nil {
			return nil, err
		}
		if last != nil {
			last.booking = cmp.Or(p.BookingID, last.booking)
			t = last
		} else {
			t.words, t.event.Type = "no such event in the log yet", kind
		}
	}
	if spaces := a.spaces(); where == "" && t.space == nil && len(spaces) > 0 {
		where = spaces[0].ID
	}
	if where != "" {
		t.space = a.find(where)
	}
	return t, nil
}

// lastTrigger is the last event in the log that a trigger is about.
func (a *Agent) lastTrigger(t rules.Trigger, kind, where string) (*trigger, error) {
	found, _, err := a.Events.Latest(eventlog.Filter{SpaceID: where, DeviceType: t.DeviceType, SubDevice: t.SubDevice, Type: kind, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	page, err := a.Events.Page(found[0].Cursor-1, 1)
	if err != nil || len(page) == 0 {
		return nil, err
	}
	return a.triggerOf(page[0]), nil
}

// tryAction says whether an action would be accepted.
func (a *Agent) tryAction(r rules.Rule, act rules.Action, t *trigger) TriedAction {
	out := TriedAction{Action: inWords(act), SpaceID: cmp.Or(act.SpaceID, spaceID(t.space))}
	if act.Event != "" {
		out.Accepted = true
		return out
	}
	if !act.To.Nobody() {
		if _, err := a.ruleMessage(r, act, t); err != nil {
			out.Reason = AsError(err).Error()
			return out
		}
		out.Accepted = true
		return out
	}
	s, err := a.space(out.SpaceID)
	if err != nil {
		out.Reason = AsError(err).Error()
		return out
	}
	d, err := a.parseAction(act, s)
	if err == nil {
		err = a.doorRefusal(r, act, 0)
	}
	if err != nil {
		out.Reason = AsError(err).Error()
		return out
	}
	out.Accepted = true
	c := orderFor(act, s.ID)
	if known, ok := d.Reading(drivers.Canonical(c.SubDevice)); ok && known.Offline() {
		out.Reason = "it is offline now: the order would fail"
	}
	return out
}
