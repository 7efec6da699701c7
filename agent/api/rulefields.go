package api

import (
	"bytes"
	"encoding/json"
	"strconv"

	"roomgate/agent/patch"
	rules "roomgate/agent/rule"
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
func (f *ruleFields) members(creates bool) []member {
	return []member{{"name", creates, given(&f.name)}, {"meeting_space_id", false, given(&f.space)},
		{"enabled", false, given(&f.enabled)}, {"trigger", creates, decoder(f.decodeTrigger)},
		{"condition", false, given(&f.condition)}, {"actions", creates, decoder(f.decodeActions)},
		{"limits", false, decoder(f.decodeLimits)}, {"allow_door", false, given(&f.allowDoor)}}
}

func (f *ruleFields) decodeTrigger(field string, value []byte) error {
	t := &rules.Trigger{}
	f.trigger = t
	return decodeValue([]member{{"event", false, &t.Event}, {"device_type", false, &t.DeviceType}, {"sub_device", false, &t.SubDevice},
		{"time", false, &t.Time}, {"booking", false, &t.Booking}, {"before", false, length(&t.Before)}, {"after", false, length(&t.After)}}, field, value)
}

func (f *ruleFields) decodeLimits(field string, value []byte) error {
	l := &rules.Limits{}
	f.limits = l
	var runs int64
	err := decodeValue([]member{{"max_per_minute", false, &runs}, {"cooldown", false, length(&l.Cooldown)}}, field, value)
	if runs < 0 || runs > 1000 {
		runs = 1000 // more than is taken
	}
	l.PerMinute = int(runs)
	return err
}

func (f *ruleFields) decodeActions(field string, value []byte) error {
	all, err := elements(field, value)
	if err != nil {
		return err
	}
	out := make([]rules.Action, len(all))
	for i, element := range all {
		a := &out[i]
		err := decodeValue([]member{{"meeting_space_id", false, &a.SpaceID}, {"device_type", false, &a.DeviceType},
			{"sub_device", false, &a.SubDevice}, {"action", false, &a.Action}, {"value", false, &a.Value},
			{"message", false, &a.Message}, {"event", false, &a.Event}, {"title", false, &a.Title}, {"priority", false, &a.Priority},
			{"to", false, []member{{"email", false, &a.To.Email}, {"user_id", false, &a.To.UserID}, {"topic", false, &a.To.Topic},
				{"organizer", false, &a.To.Organizer}}}}, field+"["+strconv.Itoa(i)+"]", element)
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
func length(into *rules.Duration) decoder {
	return func(field string, value []byte) error {
		text, err := decodeText(field, value)
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
	err := decodeValue([]member{{"device", false, &e.Device}, {"sub_device", false, &e.SubDevice}, {"value", false, &e.Value},
		{"previous", false, &e.Previous}, {"status", false, &e.Status}, {"reason", false, &e.Reason}, {"details", false, &details}}, field, value)
	if err != nil || len(details) == 0 {
		return e, err
	}
	if err := json.Unmarshal(details, &e.Details); err != nil {
		return nil, invalid(field+".details", "is not an object")
	}
	return e, nil
}
