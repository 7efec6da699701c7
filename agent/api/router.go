package api

import (
	"net/http"
	"slices"
	"strings"

	"roomgate/agent"
	"roomgate/agent/auth"
)

// handler carries one operation out. It has answered, or returns why not.
type handler func(s *Server, c *call) error

// route is one operation.
type route struct {
	method     string
	path       string // "{name}" stands for one segment
	permission permission
	handle     handler
	summary    string
}

// versionPrefix is the other name of the root for the platform's paths.
const versionPrefix = "/v1.0"

// versioned says whether the route is part of the platform's interface.
func (r route) versioned() bool {
	switch r.segments()[0] {
	case "api", "devices", "edge", "meetingspace", "bookings", "rules", "messages":
		return true
	}
	return false
}

func (r route) segments() []string { return strings.Split(r.path[1:], "/") }

// endpoint is a route with what admitting somebody to it needs.
type endpoint struct {
	*route
	need      auth.Set         // 0: the permission is not one of these
	edge      bool             // edge devices may it too
	scopes    [maxParams]scope // what the values in the path name
	v2        bool             // it is of V2.0
	wording   wording          // nil: it says all as V1.0 does
	successor *successor       // nil: there is nothing better
}

func newEndpoint(r *route) *endpoint {
	o := &endpoint{route: r, v2: r.v2(), wording: wordings[r.name()], successor: newSuccessor(r)}
	var need string
	need, o.edge = strings.CutSuffix(string(r.permission), string(orEdge))
	o.need, _ = auth.ParseSet([]string{need}) // the others are judged by name
	values := 0
	for _, s := range r.segments() {
		if s[0] == '{' {
			o.scopes[values] = scopes[s]
			values++
		}
	}
	return o
}

// pattern is one path with the operations on it.
type pattern struct {
	segments  []string // empty for a value
	versioned bool
	routes    []*endpoint
}

// maxSegments is the most segments that a route may have.
const maxSegments = 8

// router finds routes. Patterns are sorted by their number of segments; where
// two fit, the more literal one comes first.
type router struct {
	patterns [maxSegments + 1][]*pattern
}

func newRouter(table []route) router {
	var t router
	byPath := map[string]*pattern{}
	for i := range table {
		r := &table[i]
		p := byPath[r.path]
		if p == nil {
			p = &pattern{segments: r.segments(), versioned: r.versioned()}
			for i, s := range p.segments {
				if s != "" && s[0] == '{' {
					p.segments[i] = ""
				}
			}
			byPath[r.path] = p
			n := len(p.segments)
			t.patterns[n] = append(t.patterns[n], p)
		}
		p.routes = append(p.routes, newEndpoint(r))
	}
	for _, same := range t.patterns {
		slices.SortStableFunc(same, func(a, b *pattern) int { return a.values() - b.values() })
	}
	return t
}

func (p *pattern) values() (n int) {
	for _, s := range p.segments {
		if s == "" {
			n++
		}
	}
	return n
}

// find returns the operation that the request names, and notes the values in
// its path.
func (t *router) find(c *call) (*endpoint, error) {
	path, versioned := strings.CutPrefix(c.r.URL.Path, versionPrefix+"/")
	if versioned {
		path = c.r.URL.Path[len(versionPrefix):]
	}
	segments, n := split(path)
	var allowed []string
	literal := 0 // how many values the first pattern that fits has
	for _, p := range t.patterns[n] {
		if versioned && !p.versioned || allowed != nil && p.values() > literal || !p.match(segments, c) {
			continue
		}
		for _, r := range p.routes {
			if r.method == c.r.Method || r.method == http.MethodGet && c.r.Method == http.MethodHead {
				return r, nil
			}
			allowed = append(allowed, r.method)
		}
		literal = p.values()
	}
	if allowed == nil {
		if err := t.misplaced(c); err != nil {
			return nil, err
		}
		return nil, &agent.Error{Code: agent.NotFound, Message: "there is no such path: see /openapi for those there are"}
	}
	return nil, refuseMethod(c, allowed)
}

func refuseMethod(c *call, allowed []string) error {
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	list := strings.Join(slices.Compact(allowed), ", ")
	c.w.Header().Set("Allow", list)
	return &agent.Error{Code: methodNotAllowed, Message: "the method is not allowed here: use " + list}
}

// split cuts a path into segments; n is 0 for one that no route can have.
func split(path string) (segments [maxSegments]string, n int) {
	if path == "" || path[0] != '/' {
		return segments, 0
	}
	rest, more := path[1:], true
	for more {
		if n == maxSegments {
			return segments, 0
		}
		segments[n], rest, more = strings.Cut(rest, "/")
		if segments[n] == "" {
			return segments, 0
		}
		n++
	}
	return segments, n
}

// match says whether the pattern fits, and notes the values.
func (p *pattern) match(segments [maxSegments]string, c *call) bool {
	values := 0
	for i, want := range p.segments {
		switch want {
		case "":
			c.params[values] = segments[i]
			values++
		case segments[i]:
		default:
			return false
		}
	}
	return true
}

// extraRoutes makes routes of the handlers that only the control socket has.
func extraRoutes(extra map[string]http.Handler) []route {
	var out []route
	for name, h := range extra {
		method, path, _ := strings.Cut(name, " ")
		out = append(out, route{method, path, permitSystem, func(_ *Server, c *call) error {
			c.status = http.StatusOK
			h.ServeHTTP(c.w, c.r)
			return nil
		}, "for this building only"})
	}
	return out
}
