package outgoing

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestHostsWrittenAsNumbers are refused when they are registered, and when they
// are asked all the same, whatever the policy.
func TestHostsWrittenAsNumbers(t *testing.T) {
	for host, is := range map[string]bool{
		"2130706433": true, "0x7f000001": true, "0X7F000001": true, "0x": true, "017700000001": true, "127.1": true, "127.0.1": true, "0x7f.1": true,
		"0177.0.0.1": true, "127.0.0.1.": false, "2130706433.": true, "hooks.example.1": true, "256.256.256.256": true, "1.2.3.4.5": true,
		"192.0.2.1": false, "[2001:db8::1]": false, "1.example": false, "0x7f.example": false, "7.de": false, "0xen": false, "x0x1": false,
	} {
		u, err := url.Parse("https://" + host + "/in")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []Policy{{}, {AllowPrivate: true, AllowLoopback: true, AllowHTTP: true}, {Anywhere: true}} {
			if err := p.CheckURL(u); errors.Is(err, errNumeric) != is {
				t.Errorf("register %s with %+v: %v", host, p, err)
			}
			if !is {
				continue
			}
			c := New(Options{Policy: p, MaxBody: 10})
			resp, err := c.Do(&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}})
			if err == nil {
				_ = resp.Body.Close()
			}
			if !errors.Is(err, errNumeric) {
				t.Errorf("ask %s with %+v: %v", host, p, err)
			}
		}
	}
}

// TestDemoNamesItsFlag: whoever tries his own receiver with a demo is told how.
func TestDemoNamesItsFlag(t *testing.T) {
	for text, p := range map[string]Policy{
		"http://127.0.0.1:9/": {Demo: true}, "https://localhost/": {Demo: true}, "http://[::1]/": {Demo: true, AllowHTTP: true},
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckURL(u); err == nil || !strings.HasSuffix(err.Error(), "once it is started with --allow-loopback") {
			t.Errorf("%s: %v", text, err)
		}
		if p.Demo = false; p.CheckURL(u) == nil || strings.Contains(p.CheckURL(u).Error(), "--allow-loopback") {
			t.Errorf("%s at a gateway: %v", text, p.CheckURL(u))
		}
		if p.AllowLoopback = true; p.CheckURL(u) != nil {
			t.Errorf("%s with the flag: %v", text, p.CheckURL(u))
		}
	}
}
