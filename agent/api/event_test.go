package api

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// eventList is the body of the events operations.
type eventList struct {
	Events []eventRecord `json:"events"`
	Next   string        `json:"next_cursor"`
}

type eventRecord struct {
	Type    string         `json:"eventType"`
	Time    time.Time      `json:"timestamp"`
	Details map[string]any `json:"details"`
}

func (b *building) events(path string) eventList {
	b.t.Helper()
	got := b.ask("GET", path)
	var list eventList
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.StatusCode != 200 || list.Events == nil {
		b.t.Fatalf("%s: %d %s: %v", path, got.StatusCode, got.body, err)
	}
	return list
}

func (l eventList) String() string {
	var out []string
	for _, e := range l.Events {
		out = append(out, fmt.Sprint(e.Type, "/", e.Details["device"]))
	}
	return strings.Join(out, " ")
}

// move moves the simulated world.
func (b *building) move(space, subject string, args ...string) {
	b.t.Helper()
	if _, err := b.world.Control(space, subject, args...); err != nil {
		b.t.Error(err)
	}
}

func TestEventsAreReadInPages(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		all := b.events("/devices/events")
		if len(all.Events) < 9 { // each device and sub-device came online
			t.Fatalf("events are %v", all)
		}
		for _, e := range all.Events {
			if e.Time.IsZero() || e.Details["meeting_space_id"] == nil || e.Details["device"] == nil {
				t.Errorf("event is %+v", e)
			}
		}
		var paged []string
		cursor := "0"
		for range 30 {
			page := b.events("/devices/events?limit=2&cursor=" + cursor)
			if len(page.Events) == 0 {
				break
			}
			paged, cursor = append(paged, page.String()), page.Next
		}
		if got := strings.Join(paged, " "); got != all.String() {
			t.Errorf("pages give %s, want %s", got, all)
		}
		newest := b.events("/devices/events?limit=3")
		if want := all.Events[len(all.Events)-3:]; newest.String() != (eventList{Events: want}).String() || newest.Next != all.Next {
			t.Errorf("the newest are %v", newest)
		}
	})
}

// Events from a time on come oldest first, and the cursor goes on to the last of
// them; without a time the newest come first, as ever.
func TestEventsSince(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		time.Sleep(time.Minute)
		start := time.Now().UTC()
		for n := range 6 {
			b.move("aurora", "temperature", strconv.Itoa(20+n))
			time.Sleep(time.Minute)
		}
		newest := b.events("/devices/events?limit=200")
		since := url.QueryEscape(start.Format(time.RFC3339))
		first := slices.IndexFunc(newest.Events, func(e eventRecord) bool { return !e.Time.Before(start) })
		want := eventList{Events: newest.Events[first:]}.String()
		for _, base := range []string{"/devices/events", "/devices/" + aurora + "/events"} {
			var paged []string
			page := b.events(base + "?limit=2&since=" + since)
			for range 30 {
				if len(page.Events) == 0 {
					break
				}
				paged = append(paged, page.String())
				page = b.events(base + "?limit=2&since=" + since + "&cursor=" + page.Next)
			}
			if got := strings.Join(paged, " "); got != want || len(paged) < 3 {
				t.Errorf("%s: pages give %q, want %q", base, got, want)
			}
		}
		if got := b.events("/devices/events?limit=2"); got.String() != (eventList{Events: newest.Events[len(newest.Events)-2:]}).String() {
			t.Errorf("without a time: %s", got)
		}
	})
}

func TestEventFilters(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		time.Sleep(time.Minute)
		start := time.Now().UTC()
		b.move("aurora", "temperature", "31.5")
		b.move("aurora", "occupancy", "occupied")
		time.Sleep(10 * time.Second)
		since := url.QueryEscape(start.Format(time.RFC3339))
		for _, c := range []struct{ query, want string }{
			{"?event_type=temperatureAlert", "temperatureAlert/temperature"},
			{"?sub_device=temprature&since=" + since, "statusChanged/temperature temperatureAlert/temperature"},
			{"?device_type=lock", "deviceOnline/lock"},
			{"?device_type=lock&since=" + since, ""},
			{"?event_type=occupancyChanged&until=" + since, ""},
			{"?event_type=noSuchEvent", ""},
			{"?meeting_space_id=" + borealis + "&device_type=fan", "deviceOnline/fan"},
			{"?meeting_space_id=" + borealis + "&device_type=lock", ""},
		} {
			if got := b.events("/devices/events" + c.query); got.String() != c.want {
				t.Errorf("%s: %s", c.query, got)
			}
		}
		here := b.events("/devices/" + borealis + "/events")
		if same := b.events("/devices/events?meeting_space_id=" + borealis); here.String() != same.String() || here.String() == "" {
			t.Errorf("of one space: %s", here)
		}
	})
}

func TestEventRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct {
			path   string
			status int
			field  string
		}{
			{"/devices/" + nowhere + "/events", 404, "meeting_space_id"},
			{"/devices/events?meeting_space_id=" + nowhere, 404, "meeting_space_id"},
			{"/devices/" + aurora + "/events?meeting_space_id=" + aurora, 422, "meeting_space_id"},
			{"/devices/events?device_type=toaster", 422, "device_type"},
			{"/devices/events?sub_device=nose", 422, "sub_device"},
			{"/devices/events?event_type=" + strings.Repeat("x", 65), 422, "event_type"},
			{"/devices/events?since=yesterday", 422, "since"},
			{"/devices/events?until=2026-01-01", 422, "until"},
			{"/devices/events?limit=0", 422, "limit"},
			{"/devices/events?limit=201", 422, "limit"},
			{"/devices/events?limit=-1", 422, "limit"},
			{"/devices/events?limit=1&limit=2", 422, "limit"},
			{"/devices/events?cursor=next", 422, "cursor"},
			{"/devices/events?cursor=999999", 422, "cursor"},
			{"/devices/events?wait=61s", 422, "wait"},
			{"/devices/events?wait=-1s", 422, "wait"},
			{"/devices/events?wait=soon", 422, "wait"},
			{"/devices/events?wait=61", 422, "wait"},
			{"/devices/events?wait=-1", 422, "wait"},
			{"/devices/events?wait=NaN", 422, "wait"},
			{"/devices/events?wait=1e300", 422, "wait"},
			{"/devices/events?colour=red", 422, "colour"},
		} {
			checkProblem(t, c.path, b.ask("GET", c.path), c.status, map[int]string{404: "not_found", 422: "invalid"}[c.status], c.field)
		}
		checkProblem(t, "bad escape", b.ask("GET", "/devices/events?limit=%zz"), 400, "malformed", "")
	})
}

func TestLongPoll(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		cursor := b.events("/devices/events").Next
		start := time.Now()
		for _, wait := range []string{"30", "2.5"} {
			began, want := time.Now(), 30*time.Second
			if wait == "2.5" {
				want = 2500 * time.Millisecond
			}
			if b.events("/devices/events?wait=" + wait + "&cursor=" + cursor); time.Since(began) != want {
				t.Errorf("wait=%s waited %v", wait, time.Since(began))
			}
			start = time.Now()
		}
		if got := b.events("/devices/events?wait=30s&cursor=" + cursor); got.String() != "" || got.Next != cursor {
			t.Errorf("nothing happened, and it tells %v", got)
		}
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("it waited %v", took)
		}
		go func() {
			time.Sleep(7 * time.Second)
			b.move("aurora", "occupancy", "occupied")
		}()
		start = time.Now()
		got := b.events("/devices/events?wait=1m&cursor=" + cursor)
		if got.String() != "occupancyChanged/occupancy" || got.Next == cursor {
			t.Errorf("it tells %v", got)
		}
		if took := time.Since(start); took < 7*time.Second || took > 9*time.Second {
			t.Errorf("it waited %v", took)
		}
		start = time.Now()
		if got := b.events("/devices/events?wait=30s"); len(got.Events) == 0 || time.Since(start) > time.Second {
			t.Errorf("without a cursor it waited %v for %v", time.Since(start), got)
		}
	})
}

// TestLongPollPassesByWhatItDoesNotWant: other events do not end it.
func TestLongPollPassesByWhatItDoesNotWant(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		cursor := b.events("/devices/events").Next
		go func() {
			b.move("aurora", "occupancy", "occupied")
			time.Sleep(5 * time.Second)
			b.move("aurora", "temperature", "35")
		}()
		got := b.events("/devices/events?wait=1m&event_type=temperatureAlert&cursor=" + cursor)
		if got.String() != "temperatureAlert/temperature" {
			t.Errorf("it tells %v", got)
		}
	})
}

// TestPollsBeyondTheBoundAreAnsweredAtOnce: they lose comfort, not events.
func TestPollsBeyondTheBoundAreAnsweredAtOnce(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		cursor := b.events("/devices/events").Next
		for i := range maxWaiters {
			place := b.server.streams.waiters.EnterKnown(strconv.Itoa(i), netip.Prefix{}, func() { t.Error("somebody made room") })
			if place == nil {
				t.Fatal("somebody waits already")
			}
			defer place.Leave()
		}
		start := time.Now()
		if got := b.events("/devices/events?wait=1m&cursor=" + cursor); len(got.Events) != 0 || time.Since(start) > time.Second {
			t.Errorf("it waited %v for %v", time.Since(start), got)
		}
		got := b.ask("GET", "/devices/events", "Accept: text/event-stream")
		checkProblem(t, "one stream too many", got, 503, "busy", "")
		if got.Header.Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
	})
}
