package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzRoute: whatever path is found fits its route, segment by segment.
func FuzzRoute(f *testing.F) {
	for _, r := range routes() {
		f.Add(r.method, r.path)
		f.Add(r.method, versionPrefix+r.path)
	}
	f.Add("GET", "//")
	f.Add("GET", "/devices/%2f/events")
	var found *pattern
	_, mux := newPatterns(routes(), func(_ http.ResponseWriter, _ *http.Request, p *pattern) { found = p })
	f.Fuzz(func(t *testing.T, method, path string) {
		c := &call{w: httptest.NewRecorder(), r: &http.Request{Method: method, URL: &url.URL{Path: path}}}
		if !isClean(c.r.URL) {
			return
		}
		found = nil
		if mux.ServeHTTP(c.w, c.r); found == nil {
			return
		}
		r, err := found.find(c)
		if err != nil {
			return
		}
		got := strings.Split(strings.TrimPrefix(path, versionPrefix)[1:], "/")
		values := 0
		for i, want := range r.segments() {
			if strings.HasPrefix(want, "{") {
				want = c.params[values]
				values++
			}
			if i >= len(got) || got[i] != want || want == "" && r.path != "/" {
				t.Fatalf("%q was taken for %s %s", path, r.method, r.path)
			}
		}
		if len(got) != len(r.segments()) || r.method != method && method != http.MethodHead {
			t.Fatalf("%s %q was taken for %s %s", method, path, r.method, r.path)
		}
	})
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
