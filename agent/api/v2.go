package api

import (
	"net/url"
	"strings"
)

// v2Prefix is the root of V2.0: the same operations as V1.0's, by the same
// handlers, with uniform names, typed values, units, times and cursors. What a
// version says otherwise is in files that begin with v2.
const v2Prefix = "/v2.0"

// twin is an operation of V2.0.
type twin struct {
	method, path string // below v2Prefix
	of           string // the operations of V1.0, the first of which has its permission
	handle       handler
	summary      string
}

// uniform makes routes of the twins of the literal ones.
func uniform(literal []route) []route {
	byName := map[string]route{}
	for _, r := range literal {
		byName[r.name()] = r
	}
	var out []route
	for _, t := range twins() {
		first, _, _ := strings.Cut(t.of, ", ")
		r := byName[first] // a name that is not in the table is our own mistake
		r.method, r.path = t.method, v2Prefix+t.path
		if t.handle != nil {
			r.handle = t.handle
		}
		if t.summary != "" {
			r.summary = t.summary
		}
		out = append(out, r)
	}
	return out
}

// name is the route as the tables write it.
func (r route) name() string { return r.method + " " + r.path }

// v2 says whether the route is of V2.0.
func (r route) v2() bool { return strings.HasPrefix(r.path, v2Prefix+"/") }

// successors are the operations of V1.0 that V2.0 does better: reads by POST,
// acts by GET, lists without an end, records with names of their own. Status
// is asked all day, and so leads to a path that is the same for every space.
var successors = map[string]string{
	"POST /devices/{meeting_space_id}/status":            "/devices",
	"POST /devices/{meeting_space_id}/control":           "/meeting-spaces/{meeting_space_id}/devices",
	"GET /devices/events":                                "/events",
	"GET /devices/{meeting_space_id}/events":             "/meeting-spaces/{meeting_space_id}/events",
	"GET /meetingspace/get_meeting_space":                "/meeting-spaces",
	"GET /meetingspace/state/device/{device_id}":         "/devices/{device_id}/meeting-space/state",
	"GET /meetingspace/{meeting_space_id}/state/disable": "/meeting-spaces/{meeting_space_id}/state/disable",
	"GET /meetingspace/{meeting_space_id}/state/send":    "/meeting-spaces/{meeting_space_id}/state/send",
	"POST /meetingspace/{meeting_space_id}/availability": "/meeting-spaces/{meeting_space_id}/availability",
	"GET /bookings/{booking_id}/state/send":              "/bookings/{booking_id}/state/send",
	"POST /edge/enable":                                  "/devices",
	"POST /edge/control":                                 "/devices",
}

// successor is the link to what does better, around the value in the path.
type successor struct {
	before, after string
	link          []string // the whole header, if there is no such value
}

func newSuccessor(r *route) *successor {
	path, ok := successors[r.name()]
	if !ok {
		return nil
	}
	before, rest, valued := strings.Cut(v2Prefix+path, "{")
	if !valued {
		return &successor{link: []string{"<" + before + `>; rel="successor-version"`}}
	}
	_, after, _ := strings.Cut(rest, "}")
	return &successor{before: "<" + before, after: after + `>; rel="successor-version"`}
}

// succeed says that there is a better operation, and which. V1.0 stays all the same:
// it is never called deprecated.
func (c *call) succeed(s *successor) {
	h := c.w.Header()
	if s.link != nil {
		h["Link"] = s.link
		return
	}
	h["Link"] = []string{s.before + url.PathEscape(c.params[0]) + s.after}
}

// wrapped answers with v in the platform's envelope; V2.0 has none.
func (c *call) wrapped(status int, envelope string, v any) error {
	if c.v2 {
		return c.json(status, v)
	}
	return encode(c, status, `{"`+envelope+`":`, v, "}")
}

// root is the version that the request came by, for paths in answers.
func (c *call) root() string {
	for _, prefix := range []string{versionPrefix, v2Prefix} {
		if strings.HasPrefix(c.r.URL.Path, prefix+"/") {
			return prefix
		}
	}
	return ""
}
