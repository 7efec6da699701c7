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
		linked := b.ask("POST", path, `{"url":"http://me:secret@127.0.0.1:1/hidden.ics"}`)
		if linked.StatusCode != 200 || strings.Contains(linked.body, "secret") || strings.Contains(linked.body, "hidden") {
			t.Fatalf("linked: %d %s", linked.StatusCode, linked.body)
		}
		time.Sleep(time.Second) // nobody listens there
		if got := b.ask("DELETE", path, ""); !strings.Contains(got.body, `"url":""`) {
			t.Errorf("unlinked: %s", got.body)
		}
		checkProblem(t, "elsewhere", b.ask("GET", "/meetingspace/nowhere/calendar", ""), 404, "not_found", "meeting_space_id")
	})
}
