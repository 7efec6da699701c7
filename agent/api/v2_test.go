package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/goldentest"
	"roomgate/agent/schedule"
)

// TestEveryOperationHasItsTwin holds the two tables together.
func TestEveryOperationHasItsTwin(t *testing.T) {
	literal := map[string]route{}
	for _, r := range literalRoutes() {
		literal[r.name()] = r
	}
	found := map[string]bool{}
	for _, w := range twins() {
		first := literal[strings.Split(w.of, ", ")[0]]
		for _, name := range strings.Split(w.of, ", ") {
			if literal[name].permission != first.permission || literal[name].path == "" {
				t.Errorf("%s %s is the twin of %s, which is not there or for others", w.method, w.path, name)
			}
			found[name] = true
		}
	}
	for name, r := range literal {
		if r.versioned() && !found[name] {
			t.Errorf("%s has no twin below %s: add one to twins, and say in openapi2.yaml what differs", name, v2Prefix)
		}
	}
	uniform := map[string]bool{}
	for _, r := range routes() {
		if uniform[r.name()] {
			t.Errorf("%s is there twice", r.name())
		}
		uniform[r.name()] = true
	}
	for name := range wordings {
		if !uniform[name] {
			t.Errorf("%s has words of its own, and is not there", name)
		}
	}
	for name, path := range successors {
		leads := slices.ContainsFunc(twins(), func(w twin) bool { return w.path == path })
		if literal[name].path == "" || !leads {
			t.Errorf("%s leads to %s", name, path)
		}
	}
}

// private lets webhooks go to addresses of the building's network.
func private(c *config.Config) { c.Webhooks.AllowPrivate = true }

// TestUniformMessages holds the shape of V2.0's answers.
func TestUniformMessages(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const room, org = "/v2.0/meeting-spaces/" + aurora, "/v2.0/organizations/" + auroraOrg
		for _, c := range []struct{ name, method, path, body string }{
			{"devices", "GET", room + "/devices", ""},
			{"device", "GET", "/v2.0/devices/borealis-fan", ""},
			{"status", "GET", room + "/devices/o3-sensor/status?sub_device=temprature", ""},
			{"events", "GET", room + "/events?device_type=o3-sensor&limit=2", ""},
			{"instruction", "GET", room + "/devices/light/instruction", ""},
			{"receipt", "POST", room + "/devices/light/action", `{"action":"intensity","value":40}`},
			{"switched", "POST", room + "/devices/light/control", `{"on":false}`},
			{"control", "GET", room + "/devices/light/control", ""},
			{"sensors", "GET", room + "/sensors?limit=4", ""},
			{"types", "GET", "/v2.0/devices/types?limit=2", ""},
			{"changed", "PATCH", "/v2.0/devices/aurora-o3", `{"poll_s":2.5,"alert":{"low":18,"high":26}}`},
			{"spaces", "GET", "/v2.0/meeting-spaces", ""},
			{"space", "GET", room, ""},
			{"hold", "POST", room + "/state", `{"status":"disabled","start_time":"2000-01-02T18:00:00Z","end_time":"2000-01-02T20:00:00+01:00","note":"cleaning"}`},
			{"state", "GET", room + "/state", ""},
			{"availability", "PATCH", room + "/availability", `{"slot_minutes":30,"around_the_clock":true}`},
			{"booking", "POST", "/v2.0/bookings", `{"id":"b-1","meeting_space_id":"` + aurora + `","start_time":"2000-01-03T10:00:00Z","minutes":30}`},
			{"bookings", "GET", "/v2.0/bookings?since=2000-01-03T00:00:00Z&until=2000-01-04T00:00:00Z", ""},
			{"bulk", "POST", "/v2.0/bookings/bulk", `{"operations":[{"operation":"cancel","id":"b-1"},{"operation":"end","id":"b-2"}]}`},
			{"booking-event", "GET", room + "/events?event_type=booking.cancelled", ""},
			{"key", "POST", "/v2.0/gateway/keys", `{"name":"display","expires_at":"2030-01-01T00:00:00Z"}`},
			{"keys", "GET", "/v2.0/gateway/keys", ""},
			{"org-key", "POST", org + "/api-keys", `{"name":"app","permissions":["bookings:read"]}`},
			{"org-keys", "GET", org + "/api-keys", ""},
			{"organizations", "GET", "/v2.0/organizations", ""},
			{"rule", "POST", "/v2.0/rules", `{"name":"evening","trigger":{"time":"22:30"},"actions":[{"device_type":"light","action":"off"}]}`},
			{"rules", "GET", "/v2.0/rules", ""},
			{"webhook", "POST", "/v2.0/webhooks", `{"organization_id":"` + auroraOrg + `","url":"https://192.168.7.9/rooms","events":["booking.displaced"]}`},
			{"webhooks", "GET", "/v2.0/webhooks", ""},
			{"message", "POST", "/v2.0/messages", `{"to":{"topic":"desk"},"title":"a","body":"b","ttl_s":600}`},
			{"problem", "PATCH", "/v2.0/meeting-spaces/" + aurora + "/availability", `{"slot_minutes":1}`},
		} {
			parts := []string{}
			if c.body != "" {
				parts = append(parts, c.body)
			}
			golden(t, "v2-"+c.name, b.ask(c.method, c.path, parts...).body)
		}
	}, tenants, private)
}

// TestStaleIsNotShownAsFresh takes devices away.
func TestStaleIsNotShownAsFresh(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		type reading struct {
			Value     any
			Status    string
			Stale     bool
			LastValue any      `json:"last_value"`
			AgeS      *float64 `json:"age_s"`
			Reason    string
		}
		type record struct {
			reading
			SubDevices []reading `json:"sub_devices"`
		}
		read := func(id string) (r record) {
			t.Helper()
			got := b.ask("GET", "/v2.0/devices/"+id)
			if err := json.Unmarshal([]byte(got.body), &r); err != nil || got.StatusCode != 200 {
				t.Fatalf("%d %s: %v", got.StatusCode, got.body, err)
			}
			return r
		}
		check := func(what string, r reading, stale bool, value, last any, youngest, oldest float64) {
			t.Helper()
			goldentest.Values(t, what, goldentest.Pairs{"stale": {r.Stale, stale}, "value": {r.Value, value}, "last value": {r.LastValue, last},
				"a reason": {r.Reason != "", stale}})
			if r.AgeS == nil || *r.AgeS < youngest || *r.AgeS > oldest {
				t.Errorf("%s: its age is none from %v to %v: %+v", what, youngest, oldest, r)
			}
		}
		time.Sleep(time.Second)
		check("lock", read("aurora-lock").reading, false, "closed", "closed", 0, 2)
		if got := b.ask("POST", "/v2.0/devices/aurora-lock/disable"); got.StatusCode != 200 {
			t.Fatalf("disable: %d %s", got.StatusCode, got.body)
		}
		time.Sleep(time.Minute)
		check("disabled lock", read("aurora-lock").reading, true, nil, "closed", 60, 62)
		b.move("aurora", "o3-sensor", "unplug")
		time.Sleep(time.Minute)
		for _, sub := range read("aurora-o3").SubDevices {
			if !sub.Stale || sub.Value != nil || sub.LastValue == nil || sub.Status != device.Offline {
				t.Errorf("unplugged: %+v", sub)
			}
		}
	})
}

// TestOperationsNameTheirSuccessors, and others do not. None is called deprecated.
func TestOperationsNameTheirSuccessors(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, r := range routes() {
			got := b.ask(r.method, concrete(r.path), "{}")
			want, old := "", successors[r.name()]
			if old != "" {
				want = "<" + concrete(v2Prefix+old) + `>; rel="successor-version"`
			}
			if link := got.Header.Get("Link"); link != want || len(got.Header.Values("Deprecation")) > 0 || len(got.Header.Values("Sunset")) > 0 {
				t.Errorf("%s: Link %q, want %q; Deprecation %q", r.name(), link, want, got.Header.Get("Deprecation"))
			}
		}
		got := b.ask("GET", "/v1.0/meetingspace/a%20b/state/send")
		if link := got.Header.Get("Link"); got.StatusCode != 404 || link != "" && !strings.Contains(link, "a%20b") {
			t.Errorf("%d, Link %q", got.StatusCode, link)
		}
	})
}

// TestPathsOfV1AreAnsweredWithThoseOfV2 looks for V1.0's below /v2.0.
func TestPathsOfV1AreAnsweredWithThoseOfV2(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for path, right := range map[string]string{
			"/v2.0/meetingspace/get_meeting_space": "GET /v2.0/meeting-spaces or GET /v2.0/meeting-spaces/{meeting_space_id}",
			"/v2.0/devices/" + aurora + "/action":  "POST /v2.0/meeting-spaces/{meeting_space_id}/devices/{device_type}/action",
			"/v2.0/devices/events":                 "GET /v2.0/events",
			"/v2.0/api/v1/webhooks":                "POST /v2.0/webhooks or GET /v2.0/webhooks",
			"/v2.0/edge/enable":                    "POST /v2.0/devices/{device_id}/enable or POST /v2.0/devices/{device_id}/disable",
			"/v2.0/nothing":                        "",
			"/v2.0/v2.0/devices":                   "",
			"/v1.0/v2.0/devices":                   "",
			"/v2.0":                                "",
		} {
			p := checkProblem(t, path, b.ask("GET", path), 404, "not_found", "")
			if right != "" && !strings.HasSuffix(p.Detail, "use "+right) || right == "" && strings.Contains(p.Detail, "V2.0") {
				t.Errorf("%s: %s", path, p.Detail)
			}
		}
	})
}

// TestPlatformRowsAtBothRoots asks for what the platform document names.
func TestPlatformRowsAtBothRoots(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, root := range []string{"", "/v1.0"} {
			for path, body := range map[string]string{"/devices/" + aurora + "/status": `{"device_type":"all"}`, "/devices/events": "",
				"/meetingspace/get_meeting_space": "", "/bookings": "", "/rules": "", "/meetingspace/" + aurora + "/state": ""} {
				method, parts := "GET", []string{}
				if body != "" {
					method, parts = "POST", []string{body}
				}
				if got := b.ask(method, root+path, parts...); got.StatusCode != 200 {
					t.Errorf("%s%s: %d %s", root, path, got.StatusCode, got.body)
				}
			}
		}
	})
}

// TestListsComeInPages reads every list one by one.
func TestListsComeInPages(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.ask("POST", "/v2.0/gateway/keys", `{"name":"display"}`)
		b.orgKey(t, auroraOrg, "events:read")
		b.orgKey(t, auroraOrg, "events:read")
		for _, name := range []string{"one", "two"} {
			b.ask("POST", "/v2.0/rules", `{"name":"`+name+`","trigger":{"time":"22:30"},"actions":[{"event":"`+name+`"}]}`)
			b.ask("POST", "/v2.0/messages", `{"to":{"topic":"`+name+`"},"title":"a","body":"b","ttl_s":600}`)
			b.ask("PUT", "/v2.0/meeting-spaces/"+aurora+"/unlock-codes", `{"name":"`+name+`"}`)
			b.ask("POST", "/v2.0/webhooks", `{"organization_id":"`+auroraOrg+`","url":"https://192.168.7.9/`+name+`","events":["booking.displaced"]}`)
			b.ask("POST", "/v2.0/edge-devices/register", `{"claim_code":"`+b.claim(aurora)+`"}`)
			start := map[string]int{"one": 34, "two": 35}[name]
			at := time.Now().UTC().Truncate(24 * time.Hour).Add(time.Duration(start) * time.Hour)
			if _, _, err := b.agent.Bookings.Create(t.Context(), booking.Booking{SpaceID: aurora, Start: at, End: at.Add(time.Hour)}, schedule.Caller{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range routes() {
			if !r.v2() || r.method != "GET" || strings.HasSuffix(r.path, "/events") || strings.Contains(r.path, "{webhook_id}") {
				continue
			}
			path := concrete(r.path)
			var whole page[json.RawMessage]
			if json.Unmarshal([]byte(b.ask("GET", path).body), &whole) != nil || whole.Items == nil || strings.HasSuffix(path, "/log") {
				continue
			}
			one := b.pages(t, path)
			if len(one) < 2 || len(one) != len(whole.Items) {
				t.Errorf("%s: %d one by one, %d at once", path, len(one), len(whole.Items))
			}
			if !strings.HasSuffix(path, "/bookings") {
				checkProblem(t, path, b.ask("GET", path+"?cursor=*"), 422, "invalid", "cursor")
			}
			checkProblem(t, path, b.ask("GET", path+"?limit=0"), 422, "invalid", "limit")
		}
	}, tenants, private)
}

// pages reads a list one item at a time.
func (b *building) pages(t *testing.T, path string) (all []string) {
	t.Helper()
	for cursor := ""; len(all) < 100; {
		got := b.ask("GET", path+"?limit=1"+cursor)
		var p struct {
			Items []json.RawMessage
			Next  *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(got.body), &p); err != nil || len(p.Items) > 1 || got.StatusCode != 200 {
			t.Fatalf("%s: %d %s", path, got.StatusCode, got.body)
		}
		for _, item := range p.Items {
			if slices.Contains(all, string(item)) {
				t.Errorf("%s: %s is there twice", path, item)
			}
			all = append(all, string(item))
		}
		if p.Next == nil {
			break
		}
		cursor = "&cursor=" + *p.Next
	}
	return all
}

// TestRefusalsUseTheWordsOfTheVersion names fields as the request does.
func TestRefusalsUseTheWordsOfTheVersion(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const room = "/v2.0/meeting-spaces/" + aurora
		for _, c := range []struct{ method, path, body, field, says string }{
			{"POST", room + "/state", `{"status":"disabled","from":"2000-01-02T18:00:00Z"}`, "from", "want status, start_time, end_time, note"},
			{"POST", room + "/state", `{"status":"disabled","start_time":"2000-01-02T18:00:00Z","end_time":"2000-01-02T17:00:00Z"}`, "end_time", "is not after start_time"},
			{"PATCH", room + "/availability", `{"slot_size":15}`, "slot_size", "want enabled, slot_minutes"},
			{"PATCH", room + "/availability", `{"slot_minutes":500}`, "slot_minutes", "5 to 240"},
			{"PATCH", room + "/availability", `{"around_the_clock":true,"hours":{"monday":"08:00-18:00"}}`, "hours", "around_the_clock"},
			{"PATCH", "/v2.0/devices/aurora-lock", `{"poll_s":0.01}`, "poll_s", "want 0.05 to 3600"},
			{"PATCH", "/v2.0/devices/aurora-lock", `{"poll_s":1e300}`, "poll_s", "want 0.05 to 3600"},
			{"PATCH", "/v2.0/devices/aurora-lock", `{}`, "", "send enabled, poll_s, alert"},
			{"PATCH", "/v2.0/devices/aurora-lock", `{"poll_s":"5s"}`, "poll_s", "is not a number"},
			{"PATCH", "/v2.0/devices/aurora-lock", `{"poll":"5s"}`, "poll", "want enabled, poll_s"},
			{"GET", "/v2.0/bookings?from=2000-01-02T18:00:00Z", "", "from", "since, until"},
			{"GET", "/v2.0/bookings?since=2000-01-02T18:00:00Z&until=2000-01-02T17:00:00Z", "", "until", "is not after since"},
			{"GET", "/v2.0/bookings?since=yesterday", "", "since", "is not a time"},
			{"POST", room + "/devices/light/action", `{"device_type":"light","action":"on"}`, "device_type", "is not known"},
			{"GET", room + "/devices/toaster/status", "", "device_type", "is not known"},
			{"POST", "/v2.0/messages", `{"to":{"topic":"desk"},"title":"a","body":"b","ttl_s":"30m"}`, "ttl_s", "is not a length of time: want seconds"},
			{"POST", "/v2.0/auth/token", `{"expires_in_s":0}`, "expires_in_s", "1 to 3600"},
		} {
			p := checkProblem(t, c.path+" "+c.body, b.ask(c.method, c.path, slices.DeleteFunc([]string{c.body}, func(s string) bool { return s == "" })...), 422, "invalid", c.field)
			if !strings.Contains(p.Detail, c.says) || strings.Contains(p.Detail, "30m") {
				t.Errorf("%s %s: %s", c.path, c.body, p.Detail)
			}
		}
	})
}
