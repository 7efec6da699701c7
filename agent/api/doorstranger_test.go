package api

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// ofPhones are the operations for edge devices that a phone has too.
var ofPhones = map[string]bool{
	"GET /meetingspace/{meeting_space_id}/state": true, "GET /display/{meeting_space_id}/stream": true,
	"GET /display/{meeting_space_id}/panel/{panel}": true, "POST /display/{meeting_space_id}/do/{action}": true,
}

// TestStrangerWithAKeyOfTheDoor tries every operation with the key of a display and of a
// phone, of their room and of another one, and everything once more when the display is
// deleted: then both keys are those of nobody.
func TestStrangerWithAKeyOfTheDoor(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		display, _ := b.paired(aurora, b.claim(aurora))
		_, code, _ := strings.Cut(scanned(t, b.net.do(t, "POST", "/display/"+aurora+"/do/phone", display).body), "#code=")
		phone, _ := b.paired(borealis, code) // of the room that the code is for, whatever the page
		theirs := b.book(strings.Replace(meeting("10:00", "11:00", ""), aurora, borealis, 1)).ID
		n := 0
		try := func(key string, wants func(r route, at string) []int) {
			for _, r := range routes() {
				if r.permission == permitAll {
					continue
				}
				for _, at := range []string{aurora, borealis, nowhere} {
					n++
					path := strings.NewReplacer("{meeting_space_id}", at, "{device_id}", "aurora-light", "{panel}", "why", "{action}", "report").Replace(r.path)
					parts := []string{key}
					if r.method != http.MethodGet {
						parts = append(parts, `{"what":"other"}`)
					}
					got, ok := b.from(n, r.method, placeholder.ReplaceAllString(path, "x"), parts...), false
					for _, want := range wants(r, at) {
						ok = ok || got.Code == want
					}
					if !ok {
						t.Errorf("%s at %s: %d %s, want %d", r.name(), at, got.Code, got.Body, wants(r, at))
					}
				}
			}
		}
		for name, key := range map[string]string{"display": display, "phone": phone} {
			try(key, func(r route, at string) []int {
				_, edge := strings.CutSuffix(string(r.permission), string(orEdge))
				switch {
				case r.permission == permitAny: // what each credential may, of which a key of the door sees its own
					return []int{200, 400, 403, 404, 409, 422}
				case !edge, name == "phone" && !ofPhones[r.literal()]:
					return []int{403, 404}
				case strings.Contains(r.path, "{meeting_space_id}") && at != aurora:
					return []int{404}
				}
				if strings.HasSuffix(r.path, "/screenshot") {
					return []int{404} // the room has no such device
				}
				return []int{200, 400, 409, 415, 422}
			})
		}
		for _, key := range []string{display, phone} {
			for _, action := range []string{"check-in", "extend", "end", "undo"} {
				got := b.net.do(t, "POST", "/display/"+aurora+"/do/"+action, key, `{"booking_id":"`+theirs+`"}`)
				if got.StatusCode != 404 || strings.Contains(got.body, "10:00") {
					t.Errorf("%s of the meeting of another room: %d %s", action, got.StatusCode, got.body)
				}
			}
			for _, body := range []string{`{"minutes":-1}`, `{"minutes":1441}`, `{"minutes":9007199254740991}`, `{"until":"9998-12-31T23:59:59Z"}`, `{"until":"1970-01-01T00:00:00Z"}`,
				`{"start":"2000-01-02T09:00:00Z","minutes":30}`, `{"start":"1999-12-31T09:00:00Z","minutes":30}`} {
				if got := b.net.do(t, "POST", "/display/"+aurora+"/do/book", key, body); got.StatusCode != 422 {
					t.Errorf("book %s: %d %s", body, got.StatusCode, got.body)
				}
			}
			if got := b.net.do(t, "POST", "/display/"+aurora+"/do/book", key, `{"minutes":15}`, "Origin: https://evil.example"); got.StatusCode != 403 {
				t.Errorf("by a page of another origin: %d %s", got.StatusCode, got.body)
			}
		}
		if got := b.ask("GET", "/devices/events?event_type=doorOpened"); strings.Contains(got.body, "doorOpened\"") && strings.Contains(got.body, `"meeting_space_id"`) {
			t.Errorf("a door was opened: %s", got.body)
		}
		for _, d := range b.agent.Edges.List() {
			if got := b.ask("DELETE", "/gateway/edge/"+d.ID); got.StatusCode != 204 && got.StatusCode != 404 {
				t.Errorf("deleted: %d %s", got.StatusCode, got.body)
			}
		}
		synctest.Wait()
		for _, key := range []string{display, phone} {
			try(key, func(route, string) []int { return []int{401} })
		}
		if n < 2000 {
			t.Errorf("only %d requests", n)
		}
	}, tenants)
}
