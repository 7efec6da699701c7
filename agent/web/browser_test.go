//go:build integration

package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
)

// tools are where .ci/install puts what drives a browser, and pictures where those
// are kept that tests take.
const (
	tools    = "../../.ci/browser/node_modules"
	pictures = "../../bin/screens"
)

// browse runs a script that drives a browser, and wants no complaint of it.
func browse(t *testing.T, script, address string, more ...string) {
	t.Helper()
	modules, err := filepath.Abs(tools)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("what drives a browser is missing, .ci/install installs it: %v", err)
	}
	out, err := filepath.Abs(pictures)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(address, "http://"), ":")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join("testdata", "browser", script))
	cmd.Env = append(os.Environ(), append([]string{"MODULES=" + modules, "PORT=" + port, "OUT=" + out, "CHROMIUM=/usr/bin/chromium"}, more...)...)
	said, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if strings.HasPrefix(line, "WRONG ") {
			t.Error(strings.TrimSpace(line[6:]))
		}
	}
	if err != nil || !bytes.Contains(said, []byte("DONE ")) {
		t.Errorf("%v: %s", err, said)
	}
	t.Logf("pictures are in %s: %s", out, said[max(0, len(said)-100):])
}

// gallery serves every view as the page of a room of its name.
func gallery(t *testing.T) string {
	t.Helper()
	all := views()
	for _, language := range Languages {
		for _, state := range []string{"busy", "checkin", "ending", "free"} {
			all[state+"-"+language] = with(views()[state], func(v *View) { v.Look.Language = language })
		}
	}
	all["full-day"] = fullDay()
	all["told"], all["told-all"] = all["checkin"], all["checkin"]
	all["night-busy"] = with(all["busy"], func(v *View) { v.Look.Theme = ThemeNight })
	all["night-reserved"] = with(all["reserved"], func(v *View) { v.Look.Theme = ThemeNight })
	all["mono-free"] = with(all["free"], func(v *View) { v.Look.Theme = ThemeMono })
	all["mono-checkin"] = with(all["checkin"], func(v *View) { v.Look.Theme = ThemeMono })
	mux := http.NewServeMux()
	html := func(w http.ResponseWriter, body []byte, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(body)
	}
	mux.HandleFunc("GET /display/{room}", func(w http.ResponseWriter, r *http.Request) {
		Guard(w.Header())
		v := all[r.PathValue("room")]
		body, err := RenderShell(r.PathValue("room"), "Aurora", v.Look.Language, "http://192.0.2.1:8080/console/displays?id="+r.PathValue("room"))
		html(w, body, err)
	})
	mux.HandleFunc("POST /display/{room}/pair", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.PathValue("room") == "unpaired" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if r.PathValue("room") == "wrong-code" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, CatalogueOf("en").T("pair.refused.forbidden"))
			return
		}
		fmt.Fprintf(w, `{"key":%[1]q,"kind":"display","meeting_space_id":%[1]q}`, r.PathValue("room"))
	})
	mux.HandleFunc("GET /display/{room}/stream", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("room") == "revoked" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		f := NewFeed("b", Source[View]{Changed: func() <-chan struct{} { return nil }, Render: RenderDoor,
			View: func() (View, time.Time, error) { return all[r.PathValue("room")], time.Time{}, nil }})
		frame, err := f.Look("")
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if r.PathValue("room") == "flicker" {
			flicker(w, all)
			<-r.Context().Done()
			return
		}
		_, _ = w.Write(frame.Events)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("GET /display/{room}/panel/{panel}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("panel")
		if r.URL.Query().Has("from") {
			name += "-from"
		}
		body, err := somePanel(all[r.PathValue("room")], name)
		html(w, body, err)
	})
	mux.HandleFunc("POST /display/{room}/do/{deed}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		body, err := somePanel(all[r.PathValue("room")], r.PathValue("deed"))
		html(w, body, err)
	})
	mux.HandleFunc("POST /edge/heartbeat", ordered())
	mux.HandleFunc("GET /web/{file}", func(w http.ResponseWriter, r *http.Request) {
		a, ok := FindAsset(r.PathValue("file"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", a.Type)
		_, _ = w.Write(a.Plain)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// ordered gives the page of the room named ordered one order with each beat, in turn, until it
// says that it has done it.
func ordered() http.HandlerFunc {
	orders := []string{"off", "on", "brightness", "on"}
	next := 0
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		said, _ := io.ReadAll(r.Body)
		if strings.Contains(string(said), fmt.Sprintf(`{"id":%d}`, next+1)) {
			next++
		}
		if key := r.Header.Get("X-API-Key"); strings.HasPrefix(key, "told") {
			text := "The fire alarm is tested at three o’clock. Please stay in the room until it is over."
			if key == "told-all" {
				text += " The doors of the stairs shut by themselves and open by hand. The lifts do not run before a quarter past three."
			}
			fmt.Fprintf(w, `{"orders":[{"id":1,"action":"message","text":%q}]}`, text)
			return
		}
		if r.Header.Get("X-API-Key") != "ordered" || next == len(orders) {
			_, _ = io.WriteString(w, `{"orders":[]}`)
			return
		}
		fmt.Fprintf(w, `{"orders":[{"id":%d,"action":%q,"text":"40"}]}`, next+1, orders[next])
	}
}

// TestOrdersOfAPage: a page without a backlight of its own goes dark and bright as it is told.
func TestOrdersOfAPage(t *testing.T) { browse(t, "orders.js", gallery(t)) }

// flicker sends fifty thousand frames, as fast as they are read.
func flicker(w http.ResponseWriter, all map[string]View) {
	for i := range 50_000 {
		v := all[[]string{"free", "busy"}[i%2]]
		v.Place = fmt.Sprint("frame ", i+1)
		f := NewFeed(fmt.Sprint("b", i), Source[View]{Changed: func() <-chan struct{} { return nil }, Render: RenderDoor,
			View: func() (View, time.Time, error) { return v, time.Time{}, nil }})
		frame, err := f.Look("")
		if err != nil {
			return
		}
		if _, err := w.Write(frame.Events); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
}

// TestFiftyThousandFrames: a page that is open for weeks needs no more memory.
func TestFiftyThousandFrames(t *testing.T) { browse(t, "frames.js", gallery(t)) }

// fullDay has forty meetings.
func fullDay() View {
	var all []booking.Booking
	for i := range 40 {
		from := at("08:00").Add(time.Duration(i) * 15 * time.Minute)
		b := meeting(fmt.Sprint("m", i), from.Format("15:04"), from.Add(15*time.Minute).Format("15:04"), booking.CheckedIn)
		b.Title = strings.Repeat("A very long title ", 27)
		all = append(all, b)
	}
	return room("14:20", all...)
}

func somePanel(v View, name string) ([]byte, error) {
	switch name {
	case "why":
		return RenderWhy(v, Evidence{Sensed: true, SensedAgo: 4 * time.Second, Since: at("13:58"),
			Things: []Thing{{Name: "lock", Value: "closed", Source: "sense line", Ago: 200 * time.Millisecond}}})
	case "later":
		return RenderLater(v, quarters(38), time.Time{}, true)
	case "later-from":
		return RenderLater(v, quarters(38), at("15:00"), true)
	case "booked":
		return RenderBooked(v, []booking.Booking{meeting("a", "15:30", "16:00", booking.Booked), meeting("b", "16:00", "17:00", booking.Booked)})
	case "rooms":
		return RenderRooms(v, []Room{{Name: "Borealis", Place: "3.11, end of the corridor", Capacity: 4}, {Name: "Corona", Capacity: 12, Until: at("15:00"), Seen: true}})
	case "report":
		return RenderReport(v)
	case "phone":
		return RenderPhone(v, "http://192.0.2.1:8080/display/7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01#code=ABCD-EFGH", 15*time.Minute)
	}
	return RenderDone(v, DoBook, meeting("b", "14:00", "14:30", booking.CheckedIn))
}

// TestEveryStateInEverySize looks at each state in a browser, with axe, and keeps
// the pictures.
func TestEveryStateInEverySize(t *testing.T) {
	states := slices.Sorted(maps.Keys(views()))
	states = append(states, "full-day", "night-busy", "night-reserved", "mono-free", "mono-checkin", "unpaired", "free+lost", "untrusted+lost", "revoked", "wrong-code", "told+message", "told-all+message", "busy+why", "free+later", "free+later+later-from-1400", "free+later+later-booked", "busy+rooms", "free+report")
	for _, language := range Languages[1:] {
		states = append(states, "busy-"+language, "checkin-"+language, "ending-"+language, "free-"+language)
	}
	if some := os.Getenv("STATES"); some != "" {
		states = strings.Fields(some)
	}
	browse(t, "states.js", gallery(t), "STATES="+strings.Join(states, " "))
}
