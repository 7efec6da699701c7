package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
)

// sign is a state as a display reads it.
type sign struct {
	SpaceID        string  `json:"meeting_space_id"`
	Status         string  `json:"status"`
	Ring           string  `json:"ring"`
	AvailableUntil *string `json:"available_until"`
	NextAvailable  *string `json:"next_available_time"`
	Current, Next  *struct {
		ID        string `json:"id"`
		Title     string `json:"title"`
		Organizer string `json:"organizer"`
	}
	Hold *struct {
		ID     string  `json:"id"`
		Status string  `json:"status"`
		From   string  `json:"from"`
		Until  *string `json:"until"`
	} `json:"hold"`
}

func (b *building) sign(path string) sign {
	b.t.Helper()
	got := b.ask("GET", path)
	var body struct {
		Response sign `json:"response"`
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.StatusCode != 200 {
		b.t.Fatalf("%s: %d %s", path, got.StatusCode, got.body)
	}
	return body.Response
}

func TestStateByIDAndByDevice(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for path, want := range map[string]string{
			"/meetingspace/" + aurora + "/state":             aurora,
			"/v1.0/meetingspace/" + aurora + "/state":        aurora,
			"/meetingspace/state/device/aurora-o3":           aurora,
			"/v1.0/meetingspace/state/device/borealis-fan":   borealis,
			"/meetingspace/" + borealis + "/state/send":      borealis,
			"/v1.0/meetingspace/" + borealis + "/state/send": borealis,
		} {
			got := b.sign(path)
			goldentest.Values(t, path, goldentest.Pairs{"SpaceID": {got.SpaceID, want}, "Status": {got.Status, "available"},
				"Ring": {got.Ring, "green"}, "AvailableUntil": {got.AvailableUntil, nil},
				"no NextAvailable": {got.NextAvailable == nil, false}})
		}
		for path, field := range map[string]string{
			"/meetingspace/" + nowhere + "/state":         "meeting_space_id",
			"/meetingspace/" + nowhere + "/state/send":    "meeting_space_id",
			"/meetingspace/" + nowhere + "/state/disable": "meeting_space_id",
			"/meetingspace/state/device/none":             "device_id",
			"/meetingspace/state/state":                   "meeting_space_id",
			"/bookings/none/state/send":                   "booking_id",
		} {
			checkProblem(t, path, b.ask("GET", path), 404, "not_found", field)
		}
		id := b.book(strings.Replace(meeting("10:00", "11:00", ""), aurora, borealis, 1)).ID
		if got := b.sign("/bookings/" + id + "/state/send"); got.SpaceID != borealis || got.Next == nil || got.Next.ID != id {
			t.Errorf("by booking: %+v", got)
		}
	})
}

// TestStateMasks: a door tells no more than its space wants, and a private
// booking nothing.
func TestStateMasks(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct{ name, space, private, title, organizer string }{
			{"hidden titles", aurora, "false", "", "Ada"},
			{"shown titles", borealis, "false", "Merger", "Ada"},
			{"private, hidden titles", aurora, "true", "", ""},
			{"private, shown titles", borealis, "true", "", ""},
		} {
			request := `{"meeting_space_id":"` + c.space + `","title":"Merger","organizer":{"name":"Ada","email":"ada@mail.example"},"private":` + c.private
			b.book(request + `,"source":"walk_up","minutes":30}`)
			b.book(request + `,"start_time":"` + at("10:00") + `","minutes":30}`)
			got := b.sign("/meetingspace/" + c.space + "/state")
			if got.Status != "occupied" || got.Ring != "red" || got.Current == nil || got.Next == nil {
				t.Fatalf("%s: %+v", c.name, got)
			}
			for _, m := range []string{got.Current.Title, got.Next.Title} {
				if m != c.title {
					t.Errorf("%s: the title is %q", c.name, m)
				}
			}
			for _, m := range []string{got.Current.Organizer, got.Next.Organizer} {
				if m != c.organizer {
					t.Errorf("%s: the organizer is %q", c.name, m)
				}
			}
			for _, path := range []string{"/meetingspace/" + c.space + "/state", "/meetingspace/get_meeting_space"} {
				if body := b.ask("GET", path).body; strings.Contains(body, "mail.example") {
					t.Errorf("%s: %s tells the address: %s", c.name, path, body)
				}
			}
			b.clear()
			time.Sleep(time.Second)
		}
	})
}

func TestDisableAndLift(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/meetingspace/" + aurora + "/state"
		for _, acting := range []string{path + "/disable", path + "/send"} {
			got := b.ask("HEAD", acting)
			if got.StatusCode != 405 || got.Header.Get("Allow") != "GET" {
				t.Errorf("HEAD %s: %d %s", acting, got.StatusCode, got.Header.Get("Allow"))
			}
		}
		if got := b.sign(path); got.Status != "available" {
			t.Errorf("who only looked has changed it: %+v", got)
		}
		got := b.sign(path + "/disable")
		if got.Hold == nil {
			t.Fatalf("disabled: %+v", got)
		}
		goldentest.Values(t, "disabled", goldentest.Pairs{"Status": {got.Status, "disabled"}, "Ring": {got.Ring, "off"},
			"Hold.Until": {got.Hold.Until, nil}, "len(got.Hold.From)": {len(got.Hold.From), len(momentLayout)}})
		taken := b.ask("POST", "/bookings", meeting("10:00", "11:00", ""))
		checkProblem(t, "disabled", taken, 409, "conflict", "start_time")
		if !strings.Contains(taken.body, `"end_time":null}`) {
			t.Errorf("it does not say that there is no end: %s", taken.body)
		}
		lifted := b.ask("POST", path, `{"status":"available"}`)
		if lifted.StatusCode != 201 {
			t.Errorf("lifted: %d %s", lifted.StatusCode, lifted.body)
		}
		if got := b.sign(path); got.Status != "available" || got.Hold != nil {
			t.Errorf("lifted: %+v", got)
		}
	})
}

func TestScheduledState(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/meetingspace/" + aurora + "/state"
		got := b.ask("POST", "/v1.0"+path, `{"status":"reserved","from":"2000-01-01T01:10:00+01:00","until":"2000-01-01T00:20:00Z","note":"cleaning"}`)
		if want := `"status":"reserved","from":"` + at("00:10") + `","until":"` + at("00:20") + `","note":"cleaning"}}`; got.StatusCode != 201 || !strings.HasSuffix(got.body, want) {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
		if now := b.sign(path); now.Status != "available" || now.AvailableUntil == nil || *now.AvailableUntil != at("00:10") {
			t.Errorf("before it: %+v", now)
		}
		time.Sleep(11 * time.Minute)
		if now := b.sign(path); now.NextAvailable == nil {
			t.Errorf("in it: %+v", now)
		} else {
			goldentest.Values(t, "in it", goldentest.Pairs{"Status": {now.Status, "reserved"}, "Ring": {now.Ring, "amber"},
				"NextAvailable": {*now.NextAvailable, at("00:20")}, "no Hold": {now.Hold == nil, false}})
		}
		time.Sleep(10 * time.Minute)
		if now := b.sign(path); now.Status != "available" || now.Hold != nil {
			t.Errorf("after it: %+v", now)
		}
		for body, field := range map[string]string{
			`{}`:                "status",
			`{"status":"free"}`: "status",
			`{"status":1}`:      "status",
			`{"status":"disabled","from":"tomorrow"}`:                                          "from",
			`{"status":"disabled","until":"2000-01-01T10:00:00"}`:                              "until",
			`{"status":"disabled","until":"1999-01-01T10:00:00Z"}`:                             "until",
			`{"status":"disabled","from":"` + at("10:00") + `","until":"` + at("10:00") + `"}`: "until",
			`{"status":"disabled","for":"ever"}`:                                               "for",
			`{"status":"disabled","note":"` + strings.Repeat("x", 501) + `"}`:                  "note",
		} {
			checkProblem(t, body, b.ask("POST", path, body), 422, "invalid", field)
		}
		checkProblem(t, "unknown", b.ask("POST", "/meetingspace/"+nowhere+"/state", `{"status":"disabled"}`), 404, "not_found", "meeting_space_id")
	})
}
