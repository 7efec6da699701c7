package api

import (
	"maps"
	"strings"

	"roomgate/agent"
)

// wording is how V2.0 calls what an operation of V1.0 calls otherwise.
type wording struct {
	fields map[string]string // from V1.0's name, in bodies, queries and errors
	texts  *strings.Replacer // in the text of errors
}

// wordings are those of the operations that need one.
var wordings = map[string]*wording{
	"PATCH " + v2Prefix + "/devices/{device_id}": {
		fields: map[string]string{"poll": "poll_s"},
		texts:  strings.NewReplacer("send enabled, poll, alert", "send enabled, poll_s, alert", "want 50ms to 1h", "want 0.05 to 3600")},
	"POST " + v2Prefix + "/devices": {
		fields: map[string]string{"poll": "poll_s", "timeout": "timeout_s"}},
	"PATCH " + v2Prefix + "/meeting-spaces/{meeting_space_id}/availability": {
		fields: map[string]string{"slot_size": "slot_minutes", "24_hr_available": "around_the_clock"},
		texts:  strings.NewReplacer("24_hr_available", "around_the_clock")},
	"POST " + v2Prefix + "/meeting-spaces/{meeting_space_id}/state": {
		fields: map[string]string{"from": "start_time", "until": "end_time"},
		texts:  strings.NewReplacer("is not after from", "is not after start_time")},
	"GET " + v2Prefix + "/bookings": {
		fields: map[string]string{"from": "since", "to": "until"},
		texts:  strings.NewReplacer("is not after from", "is not after since")},
	"POST " + v2Prefix + "/messages": {
		fields: map[string]string{"ttl": "ttl_s"},
		texts:  strings.NewReplacer("want seconds, or a text as 30m or 12h", "want seconds")},
	"POST " + v2Prefix + "/auth/token": {
		fields: map[string]string{"expires_in": "expires_in_s"}},
}

// name is what the request calls a field.
func (w *wording) name(field string) string {
	if w != nil && w.fields[field] != "" {
		return w.fields[field]
	}
	return field
}

// names are what the request calls fields.
func (w *wording) names(fields []string) []string {
	if w == nil {
		return fields
	}
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = w.name(f)
	}
	return out
}

// members are those of a body, by the names of the version.
func (w *wording) members(all []member) []member {
	if w == nil {
		return all
	}
	out := make([]member, len(all))
	for i, m := range all {
		out[i] = member{w.name(m.name), m.required, m.into}
	}
	return out
}

// literal gives the values of a query the names that V1.0 has for them, and
// that the handlers know.
func (w *wording) literal(values map[string][]string) {
	if w == nil {
		return
	}
	given := maps.Clone(values)
	for field, name := range w.fields {
		delete(values, name)
		if v, ok := given[name]; ok {
			values[field] = v
		}
	}
}

// worded is an error that is in the words of the request already.
func (c *call) worded(err error) error {
	if err != nil {
		c.wording = nil
	}
	return err
}

// refusal is an error in the words of the version.
func (w *wording) refusal(e *agent.Error) *agent.Error {
	if w == nil {
		return e
	}
	worded := *e
	worded.Field = w.name(e.Field)
	if w.texts != nil {
		worded.Message = w.texts.Replace(e.Message)
	}
	return &worded
}
