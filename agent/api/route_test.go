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
			if want[0] == '{' {
				want = c.params[values]
				values++
			}
			if i >= len(got) || got[i] != want || want == "" {
				t.Fatalf("%q was taken for %s %s", path, r.method, r.path)
			}
		}
		if len(got) != len(r.segments()) || r.method != method && method != http.MethodHead {
			t.Fatalf("%s %q was taken for %s %s", method, path, r.method, r.path)
		}
	})
}

// TestTriesAreBounded fills the table of addresses.
func TestTriesAreBounded(t *testing.T) {
	book, now := newTries(), time.Now()
	nth := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
	}
	for i := range maxAddresses {
		book.take(nth(i), now)
	}
	for i := range triesBurst { // those who come later share one budget
		if allowed, _ := book.take(nth(maxAddresses+i), now); !allowed {
			t.Fatalf("try %d of the others is refused", i)
		}
	}
	if allowed, _ := book.take(nth(2*maxAddresses), now); allowed {
		t.Error("the others have no bound")
	}
	if allowed, _ := book.take(nth(7), now); !allowed {
		t.Error("they have used up what others had left")
	}
	now = now.Add(time.Minute) // every budget is whole again
	if allowed, _ := book.take(nth(2*maxAddresses), now); !allowed || len(book.known) > 2 {
		t.Errorf("%d addresses are still known", len(book.known))
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
