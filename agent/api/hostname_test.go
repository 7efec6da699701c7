package api

import (
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"roomgate/agent/claim"
	"roomgate/agent/goldentest"
)

// by asks by another name, as a page does to which somebody has made his own
// name lead (DNS rebinding).
func (b *building) byName(host, method, path string, parts ...string) answer {
	b.t.Helper()
	r := newRequest(b.t, method, path, parts...)
	r.Host = host
	got, err := b.net.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{got, string(body)}
}

// notOwn says that an answer refuses the name.
func notOwn(got answer) bool {
	return got.StatusCode == 403 && strings.Contains(got.body, `"field":"Host"`)
}

// TestNamesOfTheGateway asks for what needs no credential by names that are the
// gateway's, and by one that is not.
func TestNamesOfTheGateway(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	inBuilding(t, func(t *testing.T, b *building) {
		otp, edge := `{"email":"a@example.com","otp":"123456"}`, `{"claim_code":"x"}`
		const page = "Origin: http://evil.example"
		key := "X-API-Key: " + systemKey
		for _, o := range []struct {
			method, path string
			parts        []string
			refused      bool
		}{
			{"GET", "/claim", nil, true},
			{"POST", "/edge/register", []string{edge}, true},
			{"POST", "/v1.0/edge/register", []string{edge}, true},
			{"POST", "/v2.0/edge-devices/register", []string{edge}, true},
			{"POST", "/api/v1/auth/otp/request", []string{otp, page}, true},
			{"POST", "/api/v1/auth/otp/verify", []string{otp, page}, true},
			{"POST", "/v2.0/auth/otp/request", []string{otp, page}, true},
			{"POST", "/v2.0/auth/otp/verify", []string{otp, page}, true},
			{"POST", "/meetingspace/" + aurora + "/claim-code", []string{key, page}, true},
			{"POST", "/v2.0/meeting-spaces/" + aurora + "/claim-code", []string{key, page}, true},
			// Apps, feeds and monitors may use any name.
			{"POST", "/api/v1/auth/otp/request", []string{otp}, false},
			{"POST", "/api/v1/auth/otp/verify", []string{otp}, false},
			{"POST", "/meetingspace/" + aurora + "/claim-code", []string{key}, false},
			{"GET", "/bookings", []string{key, page}, false},
			{"GET", "/healthz", []string{page}, false},
			{"GET", "/meetingspace/" + aurora + "/calendar.ics?token=x", []string{page}, false},
		} {
			for _, host := range []string{"evil.example", "evil.example:8080", "192.0.2.1.evil.example", machine + ".evil.example", "[evil]"} {
				if got := b.byName(host, o.method, o.path, o.parts...); notOwn(got) != o.refused {
					t.Errorf("%s %s %q as %q: %d", o.method, o.path, o.parts, host, got.StatusCode)
				}
			}
			for _, host := range []string{"192.0.2.1:8080", "[2001:db8::1]:8080", "[2001:db8::1]", "localhost:1", machine, machine + ".local:80",
				"test.local", "GATEWAY", "gateway.:8080"} {
				if got := b.byName(host, o.method, o.path, o.parts...); notOwn(got) {
					t.Errorf("%s %s as %q: %d", o.method, o.path, host, got.StatusCode)
				}
			}
		}
		b.server.origins = []string{"http://evil.example"} // by the configuration it is none of them
		if got := b.byName("evil.example", "POST", "/api/v1/auth/otp/request", otp, page); notOwn(got) {
			t.Errorf("from a page of http.origins: %d", got.StatusCode)
		}
	}, toBeClaimed)
}

// TestClaimCodeIsForWhoIsThere: the network gets the code while somebody at the
// gateway wants that, or who brings it.
func TestClaimCodeIsForWhoIsThere(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		code := b.agent.Claim.Status().Code
		hidden := func(when string) {
			t.Helper()
			g := b.claimOf()
			page := b.net.do(t, "GET", "/claim", "Accept: text/html").body
			goldentest.Values(t, when, goldentest.Pairs{"State": {g.State, claim.Waiting}, "Code": {g.Code, ""}, "URL": {g.URL, ""},
				"roomgate claim":        {strings.Contains(g.Reason, "roomgate claim"), true},
				"roomgate claim --show": {strings.Contains(page, "roomgate claim --show"), true}})
			code = b.agent.Claim.Status().Code // a new one after half an hour
			for _, text := range []string{page, b.net.do(t, "GET", "/claim?code=0000-0000-0000-0000").body, b.ask("GET", "/claim").body} {
				if strings.Contains(text, code) || strings.Contains(text, "<svg") {
					t.Errorf("%s: the code is in %s", when, text)
				}
			}
		}
		hidden("at first")
		if got := b.net.do(t, "GET", "/claim?gateway=test&code="+code, "Accept: text/html").body; !strings.Contains(got, code) {
			t.Errorf("a phone that has scanned it gets %s", got)
		}
		if got := b.socket.do(t, "GET", "/claim").body; !strings.Contains(got, code) {
			t.Errorf("the control socket has %s", got)
		}
		b.agent.Claim.ShowNetwork(claim.NetworkWindow)
		if got := b.claimOf(); got.Code != code {
			t.Errorf("shown it is %+v", got)
		}
		time.Sleep(claim.NetworkWindow)
		hidden("after ten minutes")
		b.agent.Claim.ShowNetwork(claim.NetworkWindow)
		b.agent.Claim.ShowNetwork(0)
		hidden("ended")
		b.server.showing = true
		if got := b.claimOf(); got.Code != code {
			t.Errorf("a demo shows %+v", got)
		}
	}, toBeClaimed)
}

// A board that speaks HTTP/1.0 names no host, and registers; no browser leaves it out.
func TestBoardWithoutAHost(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		r := newRequest(t, "POST", "/edge/register", `{"claim_code":"x"}`)
		r.Host = ""
		got := httptest.NewRecorder()
		b.server.Handler().ServeHTTP(got, r)
		if !strings.Contains(got.Body.String(), `"field":"claim_code"`) { // it came as far as its code
			t.Errorf("it is answered %d %s", got.Code, got.Body)
		}
	})
}
