package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"testing"
	"time"
)

// patterns are all of a router.
func (t *router) patterns() (all []*pattern) {
	if t.pattern != nil {
		all = append(all, t.pattern)
	}
	if t.value != nil {
		all = append(all, t.value.patterns()...)
	}
	for _, next := range t.literal {
		all = append(all, next.patterns()...)
	}
	return all
}

// newJudge is an http.ServeMux of the table. It tells the path of the route that it finds, and
// the values.
func newJudge(tell func(path string, values []string)) *http.ServeMux {
	mux, known := http.NewServeMux(), map[string]bool{}
	handle := func(at string, r route) {
		mux.HandleFunc(at, func(_ http.ResponseWriter, asked *http.Request) {
			var values []string
			for _, name := range r.values() {
				values = append(values, asked.PathValue(name))
			}
			tell(r.path, values)
		})
	}
	handle("/", route{path: "/{}"}) // what is not there
	handle("/{$}", route{path: "/"})
	for _, r := range routes() {
		if known[r.path] || r.path == "/" {
			continue
		}
		known[r.path] = true
		handle(r.path, r)
		if r.versioned() {
			handle(versionPrefix+r.path, r)
		}
	}
	return mux
}

// FuzzRoute: the router finds what http.ServeMux finds, with the same values. What that would
// redirect, as "//", is not there.
func FuzzRoute(f *testing.F) {
	for _, r := range routes() {
		f.Add(r.path)
		f.Add(versionPrefix + r.path)
		f.Add(v2Prefix + r.path)
	}
	for _, strange := range []string{"//", "/devices/", "/devices//events", "/devices/./events", "/devices/../rules", "/devices/%2f/events", "/devices/%2e%2e/events",
		"/%64evices/events", "/devices/a%20b/status", "/v1.0", "/v1.0/", "/v1.0/gateway", "/v2.0/devices/types", "/bookings/bulk/end", "/rules?a=/b", "/devices/%ff/events"} {
		f.Add(strange)
	}
	var want string
	var values []string
	judge := newJudge(func(path string, found []string) { want, values = path, found })
	ours := newRouter(routes())
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" || u.Path == "" || u.Path[0] != '/' {
			return
		}
		want, values = "", nil
		if clean := u.EscapedPath(); path.Clean(clean) == clean {
			judge.ServeHTTP(httptest.NewRecorder(), &http.Request{Method: "GET", Host: "h", URL: u})
		}
		var params [maxParams]string
		p := ours.find(u, &params)
		switch {
		case p == nil:
			if want != "" && want != "/{}" {
				t.Fatalf("%q was not found, want %s", target, want)
			}
		case p.routes[0].path != want || !slices.Equal(params[:len(values)], values):
			t.Fatalf("%q was taken for %s with %q, want %s with %q", target, p.routes[0].path, params, want, values)
		}
	})
}

// TestWrongMethod: each pattern takes its methods, HEAD where it takes GET, and no other.
func TestWrongMethod(t *testing.T) {
	for _, p := range newRouter(routes()).patterns() {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT"} {
			o, err := p.find(&call{w: httptest.NewRecorder(), r: &http.Request{Method: method}})
			as := method
			if method == "HEAD" {
				as = "GET"
			}
			has := slices.ContainsFunc(p.routes, func(o *endpoint) bool { return o.method == as })
			if has != (err == nil) || has && o.method != as {
				t.Errorf("%s %s: %v, %v", method, p.routes[0].path, o, err)
			}
		}
	}
}

// TestTriesAreBounded: one network sends wrong keys without end, then come more
// networks than the table holds. Each has its own tries, and the first none.
func TestTriesAreBounded(t *testing.T) {
	book, now := newTries(), time.Now()
	nth := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
	}
	told := 0
	for i := range 2 * triesBurst {
		allowed, first := book.take(nth(0), now)
		if first {
			told++
		}
		if allowed != (i < triesBurst) {
			t.Fatalf("try %d: %v", i+1, allowed)
		}
	}
	if told != 1 {
		t.Errorf("the log is told %d times", told)
	}
	for i := range 10_000 {
		if allowed, _ := book.take(nth(1+i), now); !allowed {
			t.Fatalf("network %d has used up what others had left", i)
		}
	}
	if allowed, _ := book.take(nth(0), now); allowed {
		t.Error("others have cleared a lock-out")
	}
	if allowed, _ := book.take(nth(0), now.Add(triesEvery)); !allowed {
		t.Error("time gives nothing back")
	}
}

func TestClientAddress(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.7:1":          "192.0.2.7/32",
		"[::ffff:192.0.2.7]:1": "192.0.2.7/32",
		"[2001:db8::1:2]:1":    "2001:db8::/64",
		"[fe80::1%eth0]:1":     "fe80::/64",
		"@":                    "invalid Prefix",
	} {
		if got := clientAddress(&http.Request{RemoteAddr: from}).String(); got != want {
			t.Errorf("%s counts for %s, want %s", from, got, want)
		}
	}
}
