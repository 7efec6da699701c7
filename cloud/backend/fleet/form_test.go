package fleet

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"roomgate/cloud/backend/rollout"
)

// sends is what a form of the page sends: TestFleetPage of roomgate/cmd/roomgate has a browser send the same.
func sends(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What the form of a rollout sends begins the rollout that was asked for.
func TestRolloutForm(t *testing.T) {
	t.Parallel()
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), "mqtt://127.0.0.1:1")
	defer stop()
	for name, want := range map[string]rollout.Rollout{
		"configuration.json": {Name: "spread", Plan: rollout.Plan{Canary: 1, PerMinute: 10, Growth: 1, StopShare: 0.1, StopAfter: 10, TimeoutS: 600}, Counts: rollout.Counts{Waiting: 1}},
		"release.json":       {Release: "1.10.0", Plan: rollout.Plan{Canary: 2, PerMinute: 0.5, Growth: 1.5, StopShare: 0.25, StopAfter: 4, TimeoutS: 1800}, Counts: rollout.Counts{Waiting: 2}},
	} {
		status, answer := ask(f, "secret", http.MethodPost, "/rollouts", sends(t, name))
		var got rollout.Rollout
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != 200 || got.State != rollout.Running {
			t.Fatalf("%s: %d %s", name, status, answer)
		}
		want.ID, want.Begun, want.State = got.ID, got.Begun, rollout.Running
		if got != want {
			t.Errorf("%s begins %+v: want %+v", name, got, want)
		}
	}
}

// What the form of a schedule sends reaches the gateway as it is.
func TestScheduleForm(t *testing.T) {
	t.Parallel()
	g, came := answering(t, "done")
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), g.URL())
	defer stop()
	until(t, f, "/gateways", "played") // so it hears: nothing is missed
	g.Online()
	g.Scheduled(room, 4)
	until(t, f, "/gateways", room)
	if status, answer := ask(f, "secret", http.MethodPut, "/gateways/played/schedules/"+room, sends(t, "schedule.json")); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	until(t, f, "/schedules", `"state":"done"`)
	var got, want struct{ Bookings []map[string]any }
	if all := came(); len(all) != 1 || json.Unmarshal([]byte(all[0]), &got) != nil || json.Unmarshal([]byte(sends(t, "schedule.json")), &want) != nil || len(got.Bookings) != 2 {
		t.Fatalf("the gateway was sent %q", all)
	}
	for i, b := range want.Bookings {
		for member, value := range b {
			if got.Bookings[i][member] != value {
				t.Errorf("booking %d has %s %v: want %v", i, member, got.Bookings[i][member], value)
			}
		}
	}
}

// Every field has a label, and what the form of a rollout says of a refusal, it says of a member that the backend refuses.
func TestFormFields(t *testing.T) {
	t.Parallel()
	html, err := page.ReadFile("page/fleet.html")
	if err != nil {
		t.Fatal(err)
	}
	fields := regexp.MustCompile(`<(?:input|select|textarea) id="([a-z-]+)"`).FindAllStringSubmatch(string(html), -1)
	if len(fields) < 15 {
		t.Errorf("only %d fields are found", len(fields))
	}
	for _, f := range fields {
		if !strings.Contains(string(html), `<label for="`+f[1]+`">`) {
			t.Errorf("%s has no label", f[1])
		}
	}
	script, err := page.ReadFile("page/fleet.js")
	if err != nil {
		t.Fatal(err)
	}
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), "mqtt://127.0.0.1:1")
	defer stop()
	for _, c := range []struct{ member, body string }{
		{"the request is invalid", `{"gateways":["a"],"config":{"colour":1}}`},
		{"config.update.url", `{"gateways":["a"],"release":"1"}`},
		{"name or release", `{"gateways":["a"],"name":"` + strings.Repeat("x", 201) + `"}`},
		{"canary", `{"gateways":["a"],"plan":{"canary":-1}}`},
		{"per_minute", `{"gateways":["a"],"plan":{"per_minute":-1}}`},
		{"growth", `{"gateways":["a"],"plan":{"per_minute":1,"growth":11}}`},
		{"stop_share", `{"gateways":["a"],"plan":{"per_minute":1,"stop_share":2}}`},
		{"stop_after", `{"gateways":["a"],"plan":{"per_minute":1,"stop_after":-1}}`},
		{"timeout_s", `{"gateways":["a"],"plan":{"per_minute":1}}`},
		{"gateway", `{"gateways":["a b"]}`},
	} {
		status, answer := ask(f, "secret", http.MethodPost, "/rollouts", c.body)
		if status != 422 || !strings.Contains(answer, c.member) || !strings.Contains(string(script), "['"+c.member+"', '") {
			t.Errorf("%s: %d %s: the page says it of no field", c.member, status, answer)
		}
	}
}
