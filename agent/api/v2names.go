package api

import (
	"cmp"
	"maps"
	"strconv"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// wording is how V2.0 calls what an operation of V1.0 calls otherwise, by V1.0's
// name: in bodies, queries and errors.
type wording map[string]string

// wordings are those of the operations that need one.
var wordings = map[string]wording{
	"PATCH " + v2Prefix + "/devices/{device_id}":                            {"poll": "poll_s"},
	"POST " + v2Prefix + "/devices":                                         {"poll": "poll_s", "timeout": "timeout_s"},
	"PATCH " + v2Prefix + "/meeting-spaces/{meeting_space_id}/availability": {"slot_size": "slot_minutes", "24_hr_available": "around_the_clock"},
	"POST " + v2Prefix + "/meeting-spaces/{meeting_space_id}/state":         {"from": "start_time", "until": "end_time"},
	"GET " + v2Prefix + "/bookings":                                         {"from": "since", "to": "until"},
	"POST " + v2Prefix + "/messages":                                        {"ttl": "ttl_s"},
	"POST " + v2Prefix + "/auth/token":                                      {"expires_in": "expires_in_s"},
}

// name is what the request calls a field.
func (w wording) name(field string) string { return cmp.Or(w[field], field) }

// names are what the request calls fields.
func (w wording) names(fields []string) []string {
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
func (w wording) members(all []strict.Member) []strict.Member {
	if w == nil {
		return all
	}
	out := make([]strict.Member, len(all))
	for i, m := range all {
		m.Name = w.name(m.Name)
		out[i] = m
	}
	return out
}

// literal gives the values of a query the names that V1.0 has for them, and
// that the handlers know.
func (w wording) literal(values map[string][]string) {
	if w == nil {
		return
	}
	given := maps.Clone(values)
	for field, name := range w {
		delete(values, name)
		if v, ok := given[name]; ok {
			values[field] = v
		}
	}
}

// refusal is an error in the words of the version.
func (w wording) refusal(e *problem.Error) *problem.Error {
	if w == nil {
		return e
	}
	return e.In(func(f problem.FieldName) string { return w.name(string(f)) }, func(s problem.Span) string {
		return strconv.FormatFloat(time.Duration(s).Seconds(), 'f', -1, 64)
	})
}
