package fleet

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for another goroutine.
const patience = 30 * time.Second

// start runs a fleet until stop.
func start(t *testing.T, path, url string) (f *Fleet, stop func()) {
	t.Helper()
	f, err := Open(Options{Path: path, Key: "secret", Rows: 5, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Broker: backend.Options{URL: url, ClientID: "fleet"}})
	if err != nil {
		t.Fatal(err)
	}
	return f, runs(t, f)
}

// runs runs a fleet until stop.
func runs(t *testing.T, f *Fleet) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = f.Run(ctx) })
	return sync.OnceFunc(func() {
		cancel()
		loop.Wait()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// ask asks a fleet over HTTP.
func ask(f *Fleet, key, method, path, body string) (status int, answer string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-API-Key", key)
	w := httptest.NewRecorder()
	f.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// until waits until a path answers with words.
func until(t *testing.T, f *Fleet, path, want string) string {
	t.Helper()
	var got string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, got = ask(f, "secret", http.MethodGet, path, ""); strings.Contains(got, want) {
			return got
		}
	}
	t.Fatalf("%s answers %s: want %s", path, got, want)
	return ""
}

// What gateways have said outlives the backend: the table, the last rows, and that each
// was taken once.
func TestFleetRemembers(t *testing.T) {
	t.Parallel()
	g, err := backendtest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	g.Beats(backendtest.Beat{Version: "1.2.3", Revision: 7})
	path := filepath.Join(t.TempDir(), "fleet.db")
	f, stop := start(t, path, g.URL())
	defer func() { stop() }()
	until(t, f, "/gateways", `"version":"1.2.3"`) // so it hears: the first row is not missed
	g.Online()
	g.Add(8)
	until(t, f, "/rows", `"sequence":8`)
	until(t, f, "/gateways", `"online":true`)
	stop()
	f, stop = start(t, path, "mqtt://127.0.0.1:1") // nobody is there
	got := until(t, f, "/gateways", `"config_revision":7`)
	if !strings.Contains(got, `"version":"1.2.3"`) || !strings.Contains(got, `"online":false`) {
		t.Errorf("after a restart: %s", got)
	}
	_, got = ask(f, "secret", http.MethodGet, "/rows?after=6", "")
	var rows struct{ Rows []Row }
	if err := json.Unmarshal([]byte(got), &rows); err != nil || len(rows.Rows) != 2 || rows.Rows[0].Sequence != 7 || rows.Rows[1].Gateway != "played" {
		t.Errorf("%v: rows after 6 are %s", err, got)
	}
	if all, err := f.Rows(0); err != nil || len(all) != 5 || all[0].Number != 4 {
		t.Errorf("%v: %d of 8 rows are kept: want the last 5", err, len(all))
	}
}

// Who has no key learns nothing, and a wrong request is refused with what is wrong.
func TestFleetRefuses(t *testing.T) {
	t.Parallel()
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), "mqtt://127.0.0.1:1")
	defer stop()
	for _, c := range []struct {
		key, method, path, body string
		status                  int
		detail                  string
	}{
		{"", "GET", "/gateways", "", 401, "is not the key"},
		{"secreT", "POST", "/rollouts/x/abort", "", 401, "is not the key"},
		{"secret", "GET", "/rows?after=-1", "", 422, "after is"},
		{"secret", "GET", "/rollouts/x", "", 404, "rollout x: there is no such rollout"},
		{"secret", "POST", "/rollouts/x/pause", "", 404, "no such"},
		{"secret", "POST", "/rollouts", `{"x":1}`, 422, `unknown field`},
		{"secret", "POST", "/rollouts", `{"config":{}}`, 422, "gateways is empty"},
		{"secret", "POST", "/rollouts", `{"gateways":["a b"]}`, 422, "is no gateway's id"},
		{"secret", "POST", "/rollouts", `{"gateways":["a"],"plan":{"per_minute":1}}`, 422, "timeout_s is out of range"},
		{"secret", "POST", "/rollouts", `"` + strings.Repeat("x", maxBody) + `"`, 422, "too large"},
	} {
		status, answer := ask(f, c.key, c.method, c.path, c.body)
		var problem struct{ Detail, Code string }
		if err := json.Unmarshal([]byte(answer), &problem); err != nil || status != c.status || !strings.Contains(problem.Detail, c.detail) || problem.Code == "" {
			t.Errorf("%s %s answers %d %.300s: want %d with %q", c.method, c.path, status, answer, c.status, c.detail)
		}
	}
	body := `{"gateways":["a"],"plan":{"per_minute":1,"timeout_s":5},"config":{"users":[]}}`
	if status, answer := ask(f, "secret", "POST", "/rollouts", body); status != 200 || !strings.Contains(answer, `"state":"running"`) {
		t.Fatalf("%d %s", status, answer)
	}
	if status, answer := ask(f, "secret", "POST", "/rollouts", body); status != 409 || !strings.Contains(answer, "another rollout") {
		t.Errorf("the same again: %d %s", status, answer)
	}
	if _, err := Open(Options{Path: filepath.Join(t.TempDir(), "other.db"), Broker: backend.Options{URL: "mqtt://127.0.0.1:1", ClientID: "x"}}); err == nil {
		t.Error("a fleet without a key was opened")
	}
}
