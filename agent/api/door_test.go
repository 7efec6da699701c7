package api

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// concrete fills the values of a path with ones that exist.
func concrete(path string) string {
	path = strings.NewReplacer("{meeting_space_id}", aurora, "{organization_id}", auroraOrg,
		"{device_id}", "aurora-lock", "{device_type}", "light", "{file}", doorScript, "{section}", "overview").Replace(path)
	return placeholder.ReplaceAllString(path, "none")
}

var placeholder = regexp.MustCompile(`{[a-z_]+}`)

// TestEveryDoorAsksForTheKey walks over every operation with no key, a wrong
// one, and a good one.
func TestEveryDoorAsksForTheKey(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, r := range routes() {
			name := r.method + " " + r.path
			open := r.permission == permitAll
			without := b.net.do(t, r.method, concrete(r.path), "{}")
			if feed := strings.HasSuffix(r.path, ".ics"); open && r.method == "GET" && without.StatusCode != http.StatusOK && !feed {
				t.Errorf("%s without a key: %d", name, without.StatusCode)
			}
			if !open {
				checkProblem(t, name, without, 401, "unauthorized", "X-API-Key")
				if ways := strings.Join(without.Header.Values("WWW-Authenticate"), ", "); ways != strings.Join(challenges, ", ") {
					t.Errorf("%s: WWW-Authenticate is %q", name, ways)
				}
				wrong := b.net.do(t, r.method, concrete(r.path), "{}", "X-API-Key: no-such-key")
				checkProblem(t, name, wrong, 401, "unauthorized", "X-API-Key")
				time.Sleep(2 * time.Second) // or the wrong tries run out
			}
			for door, good := range map[string]answer{
				"network": b.ask(r.method, concrete(r.path), "{}"),
				"socket":  b.socket.do(t, r.method, concrete(r.path), "{}"),
			} {
				if s := good.StatusCode; s == 401 || s == 403 || s == 405 || s >= 500 {
					t.Errorf("%s by the %s: %d %s", name, door, s, good.body)
				}
			}
		}
	})
}

func TestKeyHeader(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct {
			name, header string
			status       int
		}{
			{"in small letters", "x-api-key: " + systemKey, 200},
			{"empty", "X-API-Key: ", 401},
			{"too long", "X-API-Key: " + strings.Repeat("k", 5000), 401},
			{"of another kind", "Authorization: Bearer " + systemKey, 401},
		} {
			if got := b.net.do(t, "GET", "/gateway", c.header); got.StatusCode != c.status {
				t.Errorf("%s: %d %s", c.name, got.StatusCode, got.body)
			}
		}
		r := newRequest(t, "GET", "/gateway")
		r.Header["X-Api-Key"] = []string{systemKey, systemKey}
		got, err := b.net.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got.Body.Close(); got.StatusCode != 401 {
			t.Errorf("two keys: %d", got.StatusCode)
		}
	})
}

func TestWrongKeysAreLimitedAndHurtNobodyElse(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		var last answer
		for i := range triesBurst + 5 {
			last = b.net.do(t, "GET", "/gateway", "X-API-Key: guess")
			if want := map[bool]int{true: 401, false: 429}[i < triesBurst]; last.StatusCode != want {
				t.Fatalf("try %d: %d", i, last.StatusCode)
			}
		}
		checkProblem(t, "over the limit", last, 429, "too_many_requests", "")
		if last.Header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After is %q", last.Header.Get("Retry-After"))
		}
		if got := b.ask("GET", "/gateway"); got.StatusCode != 200 {
			t.Errorf("the right key from the same address: %d", got.StatusCode)
		}
		if n := strings.Count(b.log.String(), "too many wrong credentials"); n != 1 {
			t.Errorf("the log says it %d times", n)
		}
		if strings.Contains(b.log.String(), "guess") {
			t.Error("the log shows a secret")
		}
		time.Sleep(3 * time.Second)
		if got := b.net.do(t, "GET", "/gateway", "X-API-Key: guess"); got.StatusCode != 401 {
			t.Errorf("after Retry-After: %d", got.StatusCode)
		}
	})
}

// TestEndedTokensAreNoTries sends tokens that were good, which somebody may who
// has not heard of it; they spend nothing of what an address may try.
func TestEndedTokensAreNoTries(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		brief := b.buy(t, "X-API-Key: "+systemKey, `{"expires_in":1}`)
		out := b.signIn(t, "mel@example.com")
		if err := b.agent.Access.SignOut(t.Context(), "mel"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		for range 2 * triesBurst {
			for _, token := range []string{brief, out} {
				got := b.net.do(t, "GET", "/gateway", "Authorization: Bearer "+token)
				checkProblem(t, "a token that was good", got, 401, "unauthorized", "Authorization")
			}
		}
		for i := range triesBurst + 1 {
			got := b.net.do(t, "GET", "/gateway", "Authorization: Bearer "+brief[:len(brief)-3]+"AAA")
			if want := map[bool]int{true: 401, false: 429}[i < triesBurst]; got.StatusCode != want {
				t.Errorf("forged token %d: %d %s", i, got.StatusCode, got.body)
			}
		}
	}, tenants)
}

func TestPathsAndMethods(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct {
			method, path string
			status       int
			allow        string
		}{
			{"GET", "/devices/" + aurora + "/status", 405, "POST"},
			{"PUT", "/meetingspace/" + aurora + "/screenshot", 405, "GET, HEAD, POST"},
			{"DELETE", "/devices/events", 405, "GET, HEAD"},
			{"OPTIONS", "/gateway/keys", 405, "GET, HEAD, POST"},
			{"HEAD", "/healthz", 200, ""},
			{"GET", "/v1.0/devices/types", 200, ""},
			{"GET", "/v1.0/healthz", 404, ""},
			{"GET", "/v1.0/gateway", 404, ""},
			{"GET", "/v1.0", 404, ""},
			{"GET", "/v1.0/", 404, ""},
			{"GET", "/", 200, ""},
			{"GET", "//devices/events", 404, ""},
			{"GET", "/devices/events/", 404, ""},
			{"GET", "/devices//events", 404, ""},
			{"GET", "/devices/a%2Fb/events", 404, ""},
			{"GET", "/devices/../gateway", 404, ""},
			{"GET", "/a/b/c/d/e/f", 404, ""},
			{"POST", "/sim", 404, ""}, // of the control socket only
		} {
			got := b.ask(c.method, c.path, "{}")
			if got.StatusCode != c.status || got.Header.Get("Allow") != c.allow {
				t.Errorf("%s %s: %d, Allow %q", c.method, c.path, got.StatusCode, got.Header.Get("Allow"))
			}
		}
		if got := b.socket.do(t, "POST", "/sim"); got.body != "moved" {
			t.Errorf("sim by the socket: %d %s", got.StatusCode, got.body)
		}
	})
}

func TestBodiesOfAnotherType(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const body = `{"device_type":"lock"}`
		for _, c := range []struct {
			name, header string
			status       int
			field        string
		}{
			{"a form", "Content-Type: application/x-www-form-urlencoded", 415, "Content-Type"},
			{"compressed", "Content-Encoding: gzip", 415, "Content-Encoding"},
			{"with a charset", "Content-Type: Application/JSON; charset=utf-8", 200, ""},
		} {
			got := b.ask("POST", "/devices/"+aurora+"/status", c.header, body)
			if c.status == 200 && got.StatusCode != 200 {
				t.Errorf("%s: %d %s", c.name, got.StatusCode, got.body)
			} else if c.status != 200 {
				checkProblem(t, c.name, got, c.status, "unsupported_media_type", c.field)
			}
		}
	})
}

// TestPanicCostsOneRequest breaks a handler.
func TestPanicCostsOneRequest(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		*b.server.network = *newDoor(b.server, []route{{"GET", "/broken", permitAll, func(*Server, *call) error { panic("oh") }, ""},
			{"GET", "/healthz", permitAll, healthz, ""}}, false)
		checkProblem(t, "broken", b.ask("GET", "/broken"), 500, "internal", "")
		if got := b.ask("GET", "/healthz"); got.StatusCode != 200 {
			t.Errorf("after it: %d", got.StatusCode)
		}
		if !strings.Contains(b.log.String(), "request handler panicked") {
			t.Error("the log says nothing of it")
		}
	})
}

func TestHealthAndMetrics(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		if got := b.net.do(t, "GET", "/readyz"); got.body != `{"status":"ready"}` {
			t.Errorf("readyz: %d %s", got.StatusCode, got.body)
		}
		got := b.ask("GET", "/metrics")
		for _, want := range []string{"roomgate_build_info", `roomgate_http_requests_total{code="2xx"} 1`, "roomgate_http_connections 1"} {
			if !strings.Contains(got.body, want) {
				t.Errorf("metrics lack %s in\n%s", want, got.body)
			}
		}
	})
}

// TestUnreadyBuildingSaysWhatIsMissing asks a building that does not run: it
// is not ready, and what it last knew is not shown as fresh.
func TestUnreadyBuildingSaysWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		defer func() { b.end() }()
		b.serve()
		p := checkProblem(t, "readyz", b.net.do(t, "GET", "/readyz"), 503, "unavailable", "")
		if !strings.Contains(p.Detail, "lock in Aurora") {
			t.Errorf("it says %q", p.Detail)
		}
		if got := b.net.do(t, "GET", "/healthz"); got.StatusCode != 200 {
			t.Errorf("healthz: %d %s", got.StatusCode, got.body)
		}
		got := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"lock"}`)
		if got.body != `{"response":{"device":"lock","value":"","status":"offline"}}` {
			t.Errorf("status: %d %s", got.StatusCode, got.body)
		}
	})
}
