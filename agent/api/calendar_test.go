package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A phone subscribes with nothing but a URL, which can be taken back.
func TestCalendarFeed(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.example(true)
		path := "/meetingspace/" + aurora + "/calendar"
		made := b.ask("POST", path+"/feed", "")
		var feed struct{ Response feedAnswer }
		if err := json.Unmarshal([]byte(made.body), &feed); err != nil || made.StatusCode != 201 {
			t.Fatalf("made: %d %s", made.StatusCode, made.body)
		}
		got := b.net.do(t, "GET", feed.Response.Path, "")
		if got.StatusCode != 200 || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/calendar") ||
			!strings.Contains(got.body, "BEGIN:VEVENT") {
			t.Errorf("the feed is %d %s", got.StatusCode, got.body)
		}
		if again := b.net.do(t, "GET", feed.Response.Path, "", "If-None-Match: "+got.Header.Get("ETag")); again.StatusCode != 304 || again.body != "" {
			t.Errorf("unchanged: %d %s", again.StatusCode, again.body)
		}
		for _, match := range []string{"W/" + got.Header.Get("ETag"), `"old", ` + got.Header.Get("ETag"), "*"} {
			if again := b.net.do(t, "GET", feed.Response.Path, "", "If-None-Match: "+match); again.StatusCode != 304 || again.Header.Get("ETag") != got.Header.Get("ETag") {
				t.Errorf("If-None-Match %s: %d %s", match, again.StatusCode, again.body)
			}
		}
		if other := b.net.do(t, "GET", feed.Response.Path, "", `If-None-Match: "old", W/"older"`); other.StatusCode != 200 {
			t.Errorf("another one: %d", other.StatusCode)
		}
		if gone := b.ask("DELETE", path+"/feed", ""); gone.StatusCode != 204 {
			t.Errorf("revoked: %d %s", gone.StatusCode, gone.body)
		}
		checkProblem(t, "a revoked feed", b.net.do(t, "GET", feed.Response.Path, ""), 404, "not_found", "token")
		for range 20 {
			got = b.net.do(t, "GET", path+".ics?token=guess", "")
		}
		checkProblem(t, "guessing", got, 429, "too_many_requests", "")
	})
}

func TestCalendarLink(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := "/meetingspace/" + aurora + "/calendar"
		for body, field := range map[string]string{`{}`: "url", `{"url":""}`: "url", `{"url":"ftp://example.org/a"}`: "url",
			`{"url":"https://example.org/a","interval":1}`: "interval"} {
			checkProblem(t, body, b.ask("POST", path, body), 422, "invalid", field)
		}
		linked := b.ask("POST", path, `{"url":"http://me:secret@calendar.example/hidden.ics"}`)
		if linked.StatusCode != 200 || strings.Contains(linked.body, "secret") || strings.Contains(linked.body, "hidden") {
			t.Fatalf("linked: %d %s", linked.StatusCode, linked.body)
		}
		time.Sleep(time.Second) // there is no such host
		if got := b.ask("DELETE", path, ""); !strings.Contains(got.body, `"url":""`) {
			t.Errorf("unlinked: %s", got.body)
		}
		checkProblem(t, "elsewhere", b.ask("GET", "/meetingspace/nowhere/calendar", ""), 404, "not_found", "meeting_space_id")
	})
}

// TestTenantsNameNoAddressInside: neither a calendar nor a webhook can be
// registered at what only the gateway can reach.
func TestTenantsNameNoAddressInside(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		o, err := b.agent.Access.CreateOrganization(t.Context(), "", "Tenant")
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"127.0.0.1", "127.8.9.10:8080", "0.0.0.0", "[::1]", "[::]", "localhost", "LOCALHOST.", "a.localhost",
			"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]",
			"10.1.2.3", "172.16.0.1", "192.168.1.1", "[fd12::1]", "100.64.0.1", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "168.63.129.16",
			"224.0.0.1", "[ff02::1]", "255.255.255.255", "93.184.216.34:0"} {
			calendar := `{"url":"http://` + host + `/a.ics"}`
			checkProblem(t, "calendar at "+host, b.ask("POST", "/meetingspace/"+aurora+"/calendar", calendar), 422, "invalid", "url")
			checkProblem(t, "calendar at "+host, b.ask("PUT", "/v2.0/meeting-spaces/"+aurora+"/calendar", calendar), 422, "invalid", "url")
			webhook := `{"organization_id":"` + o.ID + `","url":"https://` + host + `/in","events":["booking.created"]}`
			checkProblem(t, "webhook at "+host, b.ask("POST", "/api/v1/webhooks", webhook), 422, "invalid", "url")
		}
	})
}

// TestCalendarIsCalledElsewhere: the name of a link is that of the meeting space while
// the link holds.
func TestCalendarIsCalledElsewhere(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		called := func(want string) {
			t.Helper()
			for _, path := range []string{"/meetingspace/get_meeting_space", "/meetingspace/" + aurora + "/calendar", "/v2.0/meeting-spaces/" + aurora + "/calendar"} {
				if got := b.ask("GET", path); !strings.Contains(got.body, `"external_cal_id":"`+want+`"`) {
					t.Errorf("%s: want %q in %s", path, want, got.body)
				}
			}
		}
		called("aurora@test.example")
		path, body := "/meetingspace/"+aurora+"/calendar", `{"url":"https://calendar.example/a.ics","external_cal_id":"rooms/aurora"}`
		if got := b.ask("POST", path, body); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		called("rooms/aurora")
		if got := b.ask("PUT", "/v2.0/meeting-spaces/"+aurora+"/calendar", `{"url":"https://calendar.example/a.ics","external_cal_id":"second"}`); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		called("second")
		checkProblem(t, "too long", b.ask("POST", path, `{"url":"https://calendar.example/a.ics","external_cal_id":"`+strings.Repeat("x", 201)+`"}`), 422, "invalid", "external_cal_id")
		called("second")
		if got := b.ask("DELETE", path); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		called("aurora@test.example")
	})
}
