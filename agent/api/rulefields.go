package api

import (
	"bytes"
	"encoding/json"
	"strconv"

	"roomgate/agent/patch"
	rules "roomgate/agent/rule"
	"roomgate/agent/strict"
)

// ruleFields is what a request says of a rule; nil is nothing.
type ruleFields struct {
	name, space, condition *string
	enabled, allowDoor     *bool
	trigger                *rules.Trigger
	actions                *[]rules.Action
	limits                 *rules.Limits
}

// members are those of the request.
func (f *ruleFields) members(creates bool) []strict.Member {
	all := []strict.Member{strict.Given("name", &f.name), strict.Given("meeting_space_id", &f.space),
		strict.Given("enabled", &f.enabled), strict.Optional("trigger", f.decodeTrigger),
		strict.Given("condition", &f.condition), strict.Optional("actions", f.decodeActions),
		strict.Optional("limits", f.decodeLimits), strict.Given("allow_door", &f.allowDoor)}
	for i, m := range all {
		all[i].Required = creates && (m.Name == "name" || m.Name == "trigger" || m.Name == "actions")
	}
	return all
}

func (f *ruleFields) decodeTrigger(field string, value []byte) error {
	t := &rules.Trigger{}
	f.trigger = t
	return strict.Value([]strict.Member{strict.Optional("event", &t.Event), strict.Optional("device_type", &t.DeviceType), strict.Optional("sub_device", &t.SubDevice),
		strict.Optional("time", &t.Time), strict.Optional("booking", &t.Booking), strict.Optional("before", length(&t.Before)),
		strict.Optional("after", length(&t.After))}, field, value)
}

func (f *ruleFields) decodeLimits(field string, value []byte) error {
	l := &rules.Limits{}
	f.limits = l
	var runs int64
	err := strict.Value([]strict.Member{strict.Optional("max_per_minute", &runs), strict.Optional("cooldown", length(&l.Cooldown))}, field, value)
	if runs < 0 || runs > 1000 {
		runs = 1000 // more than is taken
	}
	l.PerMinute = int(runs)
	return err
}

func (f *ruleFields) decodeActions(field string, value []byte) error {
	all, err := strict.Elements(field, value)
	if err != nil {
		return err
	}
	out := make([]rules.Action, len(all))
	for i, element := range all {
		a := &out[i]
		err := strict.Value([]strict.Member{strict.Optional("meeting_space_id", &a.SpaceID), strict.Optional("device_type", &a.DeviceType),
			strict.Optional("sub_device", &a.SubDevice), strict.Optional("action", &a.Action), strict.Optional("value", &a.Value),
			strict.Optional("message", &a.Message), strict.Optional("event", &a.Event), strict.Optional("title", &a.Title), strict.Optional("priority", &a.Priority),
			strict.Optional("to", []strict.Member{strict.Optional("email", &a.To.Email), strict.Optional("user_id", &a.To.UserID), strict.Optional("topic", &a.To.Topic),
				strict.Optional("organizer", &a.To.Organizer)})}, field+"["+strconv.Itoa(i)+"]", element)
		if err != nil {
			return err
		}
		a.Value = bytes.Clone(a.Value) // the body is not ours to keep
	}
	f.actions = &out
	return nil
}

// lay puts what is given over a rule.
func (f *ruleFields) lay(r *rules.Rule) {
	patch.Set(&r.Name, f.name)
	patch.Set(&r.SpaceID, f.space)
	patch.Set(&r.Enabled, f.enabled)
	patch.Set(&r.Trigger, f.trigger)
	patch.Set(&r.Condition, f.condition)
	patch.Set(&r.Actions, f.actions)
	patch.Set(&r.Limits, f.limits)
	patch.Set(&r.AllowDoor, f.allowDoor)
}

// length reads a length of time.
func length(into *rules.Duration) strict.Decoder {
	return func(field string, value []byte) error {
		text, err := strict.Text(field, value)
		if err != nil {
			return err
		}
		if err := into.UnmarshalText([]byte(text)); err != nil {
			return invalid(field, "is not a length of time: want one as 10m or 1h30m")
		}
		return nil
	}
}

// probedEvent is an event that a rule is tried with.
func probedEvent(field string, value []byte) (*rules.Event, error) {
	e := &rules.Event{}
	var details json.RawMessage
	err := strict.Value([]strict.Member{strict.Optional("device", &e.Device), strict.Optional("sub_device", &e.SubDevice), strict.Optional("value", &e.Value),
		strict.Optional("previous", &e.Previous), strict.Optional("status", &e.Status), strict.Optional("reason", &e.Reason), strict.Optional("details", &details)}, field, value)
	if err != nil || len(details) == 0 {
		return e, err
	}
	if err := json.Unmarshal(details, &e.Details); err != nil {
		return nil, invalid(field+".details", "is not an object")
	}
	return e, nil
}
