package engine

import (
	"cmp"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/drivers"
)

// Probe is what a rule is tried with.
type Probe struct {
	SpaceID   string      // of a rule for every space; empty: that of the last event, or the first
	BookingID string      // that the trigger is about
	Event     *rule.Event // nil: the last one that would have triggered the rule
}

// Trial says what a rule would do now, and why.
type Trial struct {
	RuleID  string    `json:"rule_id"`
	SpaceID string    `json:"meeting_space_id,omitempty"`
	At      time.Time `json:"at"`
	Trigger string    `json:"trigger"` // what it was tried with, in words
	// Outcome is that of a run: held, not_held, limited or suspended; or
	// disabled.
	Outcome   string           `json:"outcome"`
	Reason    string           `json:"reason,omitempty"`
	Condition rule.Explanation `json:"condition"`
	Actions   []TriedAction    `json:"actions"`
}

// TriedAction says whether an action would be accepted, if the condition held.
type TriedAction struct {
	Action   string `json:"action"`
	SpaceID  string `json:"meeting_space_id,omitempty"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // why not, or what stands in the way now
}

// Try explains a rule without acting.
func (e *Engine) Try(id string, p Probe) (Trial, error) {
	h, err := e.find(id)
	if err != nil {
		return Trial{}, err
	}
	if err := e.readPast(h); err != nil {
		return Trial{}, err
	}
	t, err := e.probe(h, p)
	if err != nil {
		return Trial{}, err
	}
	out := Trial{RuleID: id, SpaceID: idOf(t.space), At: t.at.UTC(), Trigger: t.words, Actions: []TriedAction{}}
	env := e.o.look(t, false)
	out.Condition = h.condition.Explain(env)
	held, reason := e.o.holds(h, env)
	out.Outcome, out.Reason = e.wouldBe(h, t, held, reason)
	if held {
		t = e.doubt(h, t)
	}
	for _, act := range h.Actions {
		out.Actions = append(out.Actions, e.tryAction(h.Rule, act, t))
	}
	return out, nil
}

// wouldBe is the outcome of a run now.
func (e *Engine) wouldBe(h *compiled, t *trigger, held bool, reason string) (outcome, why string) {
	e.mu.Lock()
	rate := h.past.rates[idOf(t.space)]
	if rate == nil {
		rate = rule.RateSince(h.past.log.LastHeld(idOf(t.space)))
	}
	refusal := rate.Would(h.Limits, e.o.Clock.Now())
	e.mu.Unlock()
	switch {
	case h.Suspended != nil:
		return string(rule.Suspended), h.Suspended.Reason
	case !h.Enabled:
		return "disabled", ""
	case !held:
		return string(rule.NotHeld), reason
	case refusal != "":
		return string(rule.Limited), refusal
	}
	return string(rule.Held), ""
}

// probe makes the trigger that a rule is tried with.
func (e *Engine) probe(h *compiled, p Probe) (*trigger, error) {
	if h.SpaceID != "" && p.SpaceID != "" && p.SpaceID != h.SpaceID { // whether there is one is not told
		return nil, problem.New(problem.Invalid, "meeting_space_id", "is not the space of the rule: leave it out")
	}
	if _, err := e.o.Site().space(p.SpaceID); p.SpaceID != "" && err != nil {
		return nil, err
	}
	where := cmp.Or(p.SpaceID, h.SpaceID)
	t := &trigger{words: "now", at: e.o.Clock.Now(), event: rule.NewEnv().Event, booking: p.BookingID}
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
		last, err := e.lastTrigger(h.Trigger, kind, where)
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
	if spaces := e.o.Site().order; where == "" && t.space == nil && len(spaces) > 0 {
		where = spaces[0].ID
	}
	if where != "" {
		t.space = e.o.Site().byID[where]
	}
	return t, nil
}

// lastTrigger is the last event in the log that a trigger is about.
func (e *Engine) lastTrigger(t rule.Trigger, kind, where string) (*trigger, error) {
	found, _, err := e.o.Events.Latest(eventlog.Filter{SpaceID: where, DeviceType: t.DeviceType, SubDevice: t.SubDevice, Type: kind, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	page, err := e.o.Events.Page(found[0].Cursor-1, 1)
	if err != nil || len(page) == 0 {
		return nil, err
	}
	return e.triggerOf(page[0]), nil
}

// tryAction says whether an action would be accepted.
func (e *Engine) tryAction(r rule.Rule, act rule.Action, t *trigger) TriedAction {
	out := TriedAction{Action: InWords(act), SpaceID: cmp.Or(act.SpaceID, idOf(t.space))}
	if act.Event != "" {
		out.Accepted = true
		return out
	}
	if !act.To.Nobody() {
		if _, err := e.o.draft(r, act, t); err != nil {
			out.Reason = device.AsError(err).Error()
			return out
		}
		out.Accepted = true
		return out
	}
	s, err := e.o.Site().space(out.SpaceID)
	if err != nil {
		out.Reason = device.AsError(err).Error()
		return out
	}
	d, err := parseAction(act, s)
	if err == nil {
		err = cmp.Or(e.o.doorRefusal(r, act, 0), e.o.unsignedRefusal(act, t.chain), e.o.foreignRefusal(r, s.ID))
	}
	if err != nil {
		out.Reason = device.AsError(err).Error()
		return out
	}
	out.Accepted = true
	c := commandFor(act, s.ID)
	if known, ok := d.Reading(drivers.Canonical(c.SubDevice)); ok && known.Offline() {
		out.Reason = "it is offline now: the command would fail"
	}
	return out
}
