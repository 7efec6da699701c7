package fleet

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"roomgate/cloud/backend/backendtest"
)

const room = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"

// answering is a gateway that answers all that wants a receipt, and keeps what came.
func answering(t *testing.T, state string) (g *backendtest.Gateway, came func() []string) {
	t.Helper()
	g, err := backendtest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	var mu sync.Mutex
	var all []string
	g.Answers(func(_ string, data json.RawMessage) string {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, string(data))
		return state
	})
	return g, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, all...)
	}
}

// What the receipt says of a claim is kept, and neither the code nor the password is.
func TestFleetClaims(t *testing.T) {
	t.Parallel()
	g, came := answering(t, "done")
	path := filepath.Join(t.TempDir(), "fleet.db")
	f, stop := start(t, path, g.URL())
	defer func() { stop() }()
	until(t, f, "/gateways", "played") // so it hears: nothing is missed
	const code, password = "7K3M-QX9D-0ABC-DEF1", "the password"
	for body, detail := range map[string]string{
		`{"gateway_id":"played","code":"x","organization":"Acme"}`:                                "the claim code cannot be right",
		`{"gateway_id":"played","code":"` + code + `"}`:                                           "want gateway_id, code and organization",
		`{"gateway_id":"played","code":"` + code + `","organization":"Acme","username":"played"}`: "username with password",
		`{"gateway_id":"played","code":"` + code + `","organization":"Acme","colour":"red"}`:      "unknown field",
	} {
		if status, answer := ask(f, "secret", http.MethodPost, "/claims", body); status != 422 || !strings.Contains(answer, detail) {
			t.Errorf("%s answers %d %s: want 422 with %q", body, status, answer, detail)
		}
	}
	status, answer := ask(f, "secret", http.MethodPost, "/claims", `{"gateway_id":"played","code":"`+code+`","organization":"Acme","username":"played","password":"`+password+`"}`)
	if status != 200 || !strings.Contains(answer, `"organization_id":"`) {
		t.Fatalf("%d %s", status, answer)
	}
	until(t, f, "/claims", `"state":"done"`)
	if all := came(); len(all) != 1 || strings.Contains(all[0], password) {
		t.Errorf("the gateway was sent %q", all)
	}
	stop()
	f, stop = start(t, path, "mqtt://127.0.0.1:1") // nobody is there
	got := until(t, f, "/claims", `"organization":"Acme"`)
	if strings.Contains(got, code) || strings.Contains(got, password) {
		t.Errorf("the fleet keeps %s", got)
	}
}

// A schedule is sent to the gateway that told of the room, also when it was away, until it has it.
func TestFleetSchedules(t *testing.T) {
	t.Parallel()
	g, came := answering(t, "done")
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), g.URL())
	defer stop()
	const path, body = "/gateways/played/schedules/" + room, `{"bookings":[{"id":"board"}]}`
	if status, answer := ask(f, "secret", http.MethodPut, path, body); status != 404 {
		t.Errorf("a schedule for a room that nobody knows is answered with %d %s", status, answer)
	}
	until(t, f, "/gateways", "played") // so it hears: nothing is missed
	g.Scheduled(room, 4)
	until(t, f, "/gateways", room)
	if status, answer := ask(f, "secret", http.MethodPut, path, `{}`); status != 422 {
		t.Errorf("a schedule without bookings is answered with %d %s", status, answer)
	}
	if status, answer := ask(f, "secret", http.MethodPut, path, body); status != 200 || !strings.Contains(answer, `"revision":5`) {
		t.Fatalf("%d %s", status, answer)
	}
	if all := came(); len(all) > 0 {
		t.Errorf("a gateway that is not online was sent %q", all)
	}
	g.Online()
	until(t, f, "/rows", `"type":"roomgate.receipt"`)
	if all := came(); len(all) != 1 || !strings.Contains(all[0], `"revision":5,"kind":"snapshot","bookings":[{"id":"board"}]`) {
		t.Errorf("the gateway was sent %q", all)
	}
	g.Scheduled(room, 5)
	until(t, f, "/gateways", `"schedule_revision":5`)
	if status, answer := ask(f, "secret", http.MethodPut, path, `{"bookings":[]}`); status != 200 || !strings.Contains(answer, `"revision":6`) {
		t.Fatalf("%d %s", status, answer)
	}
	until(t, f, "/schedules", `"revision":6`)
}

// The page is for everybody and holds nothing, writes no markup, and is understood by browsers of 2017.
func TestFleetPage(t *testing.T) {
	t.Parallel()
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), "mqtt://127.0.0.1:1")
	defer stop()
	for path, words := range map[string]string{"/": "<title>Fleet</title>", "/fleet.css": "prefers-color-scheme", "/fleet.js": "'use strict'"} {
		if status, answer := ask(f, "", http.MethodGet, path, ""); status != 200 || !strings.Contains(answer, words) {
			t.Errorf("%s answers %d %.100s", path, status, answer)
		}
	}
	source, err := page.ReadFile("page/fleet.js")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(source), "innerHTML") || strings.Contains(string(source), "localStorage") {
		t.Error("the page writes markup, or keeps the key")
	}
	if r := api.Transform(string(source), api.TransformOptions{Target: api.ES2017, LogLevel: api.LogLevelSilent}); len(r.Errors) > 0 {
		t.Errorf("%+v", r.Errors)
	}
	if status, answer := ask(f, "", http.MethodGet, "/claims", ""); status != 401 {
		t.Errorf("claims are shown to who has no key: %d %s", status, answer)
	}
}
