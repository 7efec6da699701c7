package api

import (
	"net/url"
	"slices"
	"strings"

	"roomgate/agent/problem"
)

// router finds the pattern of a path. It is a tree with a level for each segment, in which
// a literal segment comes before a value. Only where that leads nowhere the value is tried.
// It is our own for its speed, of a status request: http.ServeMux 0.4 µs, this tree 0.1 µs. A wrong
// method is refused here in the same words as everything else.
type router struct {
	literal map[string]*router
	value   *router  // of any one segment; nil: there is none
	pattern *pattern // that ends here; nil: none does
}

// newRouter makes the router of a table. A pattern is for all methods of a path, so that a
// literal path does not leave some of them to a less literal one.
func newRouter(table []route) *router {
	root := &router{}
	for i := range table {
		r := &table[i]
		at := root.at(r.path)
		if at.pattern == nil {
			at.pattern = &pattern{}
		}
		if r.versioned() {
			root.at(versionPrefix + r.path).pattern = at.pattern
		}
		at.pattern.routes = append(at.pattern.routes, newEndpoint(r))
	}
	return root
}

// at is the place of a path of the table, which is made where it is not there.
func (t *router) at(path string) *router {
	if path == "/" {
		return t
	}
	for _, s := range strings.Split(path[1:], "/") {
		if strings.HasPrefix(s, "{") {
			if t.value == nil {
				t.value = &router{}
			}
			t = t.value
			continue
		}
		if t.literal == nil {
			t.literal = map[string]*router{}
		}
		if t.literal[s] == nil {
			t.literal[s] = &router{}
		}
		t = t.literal[s]
	}
	return t
}

// find returns the pattern of a path, and notes the values in it; nil: there is no such
// path. One that is not as it is meant, as "//" or "/./", is not there.
func (t *router) find(u *url.URL, values *[maxParams]string) *pattern {
	path, escaped := u.Path, u.RawPath != "" // without a RawPath no segment has a "/" of its own
	if escaped {
		path = u.EscapedPath()
	}
	if path == "/" {
		return t.pattern
	}
	if path == "" || path[0] != '/' {
		return nil
	}
	return t.match(path[1:], true, escaped, values, 0)
}

// match goes on with the first of the segments that are left; more: there are some.
func (t *router) match(path string, more, escaped bool, values *[maxParams]string, known int) *pattern {
	if !more {
		return t.pattern
	}
	segment, rest, more := strings.Cut(path, "/")
	if segment == "" || segment == "." || segment == ".." {
		return nil
	}
	if escaped {
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = plain
		}
	}
	if next := t.literal[segment]; next != nil {
		if p := next.match(rest, more, escaped, values, known); p != nil {
			return p
		}
	}
	if t.value == nil || segment == "/" { // an escaped one, which is nobody's name
		return nil
	}
	values[known] = segment
	return t.value.match(rest, more, escaped, values, known+1)
}

// refuseMissing refuses a path that is not there.
func (t *router) refuseMissing(c *call) error {
	if err := t.refuseMisplaced(c); err != nil {
		return err
	}
	return &problem.Error{Code: problem.NotFound, Message: "there is no such path: see /openapi for those there are"}
}

// refuseMisplaced refuses a path of V1.0 below /v2.0 with the ones that are right.
func (t *router) refuseMisplaced(c *call) error {
	rest, below := strings.CutPrefix(c.r.URL.Path, v2Prefix)
	var values [maxParams]string
	p := t.find(&url.URL{Path: rest}, &values)
	if !below || p == nil {
		return nil
	}
	var right []string
	for _, r := range p.routes {
		for _, twin := range twins() {
			if slices.Contains(strings.Split(twin.of, ", "), r.name()) {
				right = append(right, twin.method+" "+v2Prefix+twin.path)
			}
		}
	}
	if right == nil {
		return nil
	}
	return &problem.Error{Code: problem.NotFound, Message: "there is no such path in V2.0: use " + strings.Join(slices.Compact(right), " or ")}
}

// ofInterface says whether a path begins as those of the interface do, and not as a page.
func (t *router) ofInterface(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return t.literal[first] != nil && first != "console" && first != "display"
}
