package api

import (
	"net/http"
	"slices"
	"strings"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/agent/web"
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
	audit     string           // the audit event that it leaves; empty: none
	reading   bool             // it changes nothing, see reads
	named     named            // by which name it may be asked for
}

func newEndpoint(r *route) *endpoint {
	o := &endpoint{route: r, v2: r.v2(), wording: wordings[r.name()], successor: newSuccessor(r), named: nameOf[r.name()],
		audit: r.audit(), reading: r.reads()}
	var need string
	need, o.edge = strings.CutSuffix(string(r.permission), string(orEdge))
	o.need, _ = auth.ParseSet([]string{need}) // the others are judged by name
	values := 0
	for _, s := range r.segments() {
		if strings.HasPrefix(s, "{") {
			o.scopes[values] = scopes[s]
			values++
		}
	}
	return o
}

// pattern is one path with the operations on it.
type pattern struct{ routes []*endpoint }

// find returns the operation that the request names by a pattern.
func (p *pattern) find(c *call) (*endpoint, error) {
	var allowed []string
	for _, r := range p.routes {
		if r.method == c.r.Method || r.method == http.MethodGet && c.r.Method == http.MethodHead {
			return r, nil
		}
		allowed = append(allowed, r.method)
	}
	return nil, refuseMethod(c, allowed)
}

// missing answers a person's browser with a page that leads to the console. Any other
// request gets the usual answer.
func (d *door) missing(c *call) error {
	reads := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	if !reads || !strings.Contains(strings.Join(c.r.Header["Accept"], ","), "text/html") || d.router.ofInterface(c.r.URL.Path) {
		return d.router.refuseMissing(c)
	}
	web.Guard(c.w.Header())
	body, _, err := d.server.console.Shell("no such page")
	if err != nil {
		return err
	}
	return c.page(http.StatusNotFound, body)
}

func refuseMethod(c *call, allowed []string) error {
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	list := strings.Join(slices.Compact(allowed), ", ")
	c.w.Header().Set("Allow", list)
	return &problem.Error{Code: methodNotAllowed, Message: "the method is not allowed here: use " + list}
}

// extraRoutes makes routes of the handlers that only the control socket has.
func extraRoutes(extra map[string]http.Handler) []route {
	var out []route
	for name, h := range extra {
		method, path, _ := strings.Cut(name, " ")
		values := route{path: path}.values()
		out = append(out, route{method, path, permitSystem, func(_ *Server, c *call) error {
			for i, name := range values {
				c.r.SetPathValue(name, c.params[i])
			}
			c.status = http.StatusOK
			h.ServeHTTP(c.w, c.r)
			return nil
		}, "for this building only"})
	}
	return out
}
