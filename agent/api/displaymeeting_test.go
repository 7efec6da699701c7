package api

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
)

// TestDoorOfTheEarly: who checks in before the start is in the meeting, can prolong
// and end it, and leaves a room that nothing has taken.
func TestDoorOfTheEarly(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := "/display/" + aurora
		key, _ := b.paired(aurora, b.claim(aurora))
		b.book(meeting("00:15", "01:15", `,"id":"early","title":"Early"`))
		time.Sleep(6 * time.Minute)
		for _, do := range []string{"check-in", "extend"} {
			if got := b.net.do(t, "POST", at+"/do/"+do, key, `{"booking_id":"early"}`); got.StatusCode != 200 {
				t.Fatalf("%s: %d %s", do, got.StatusCode, got.body)
			}
			shown := b.net.do(t, "GET", at+"/stream", key).body
			if !strings.Contains(shown, "<h2>Now</h2>") || !strings.Contains(shown, "Nothing else today") || !strings.Contains(shown, `id="act-end"`) || !strings.Contains(shown, `id="act-more-15"`) {
				t.Errorf("after %s it shows %s", do, shown)
			}
		}
		if got := b.net.do(t, "POST", at+"/do/end", key, `{"booking_id":"early"}`); got.StatusCode != 200 {
			t.Fatalf("end: %d %s", got.StatusCode, got.body)
		}
		if shown := b.net.do(t, "GET", at+"/stream", key).body; !strings.Contains(shown, `"state":"free"`) || !strings.Contains(shown, "Today nothing is booked") {
			t.Errorf("at the end it shows %s", shown)
		}
	})
}

// TestDoorLater: every start of today that is free can be reached, by the hours and
// the panels after each other.
func TestDoorLater(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := "/display/" + aurora
		key, _ := b.paired(aurora, b.claim(aurora))
		links := regexp.MustCompile(`id="(later-from-\d+|later-more)" data-open="([^"]+)"`)
		starts := regexp.MustCompile(`<li><b id="row-\d+">([^<]+) until</b>`)
		panel := func(path string) string {
			t.Helper()
			got := b.net.do(t, "GET", at+"/"+path, key)
			if got.StatusCode != 200 {
				t.Fatalf("%s: %d %s", path, got.StatusCode, got.body)
			}
			return got.body
		}
		hours := links.FindAllStringSubmatch(panel("panel/later"), -1)
		if len(hours) < 12 {
			t.Fatalf("the hours are %q", hours)
		}
		for _, hour := range hours {
			if !starts.MatchString(panel(hour[2])) {
				t.Errorf("%s offers nothing", hour[2])
			}
		}
		var all []string
		for path := hours[0][2]; path != ""; {
			body := panel(path)
			for _, m := range starts.FindAllStringSubmatch(body, -1) {
				all = append(all, m[1])
			}
			path = ""
			if more := links.FindStringSubmatch(body); more != nil {
				path = more[2]
			}
		}
		space, err := b.agent.Site.Space(aurora)
		if err != nil {
			t.Fatal(err)
		}
		view, _, err := b.server.doors.view(aurora)
		if err != nil {
			t.Fatal(err)
		}
		want := offers(space.Room, view)
		if len(all) != len(want) || !slices.IsSorted(all) || len(slices.Compact(all)) != len(want) {
			t.Errorf("the panels show %d starts of %d: %q", len(all), len(want), all)
		}
		if last := want[len(want)-1].Start; view.Now.Day() != last.Day() || last.Add(time.Hour).Day() == last.Day() {
			t.Errorf("the last start is %v", last)
		}
		if got := b.net.do(t, "GET", at+"/panel/later?from=noon", key); got.StatusCode != 422 {
			t.Errorf("from noon: %d %s", got.StatusCode, got.body)
		}
	})
}

// TestDoorUndo: what was booked at the door can be taken back there until it begins, and
// just after that, and nothing
// else.
func TestDoorUndo(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := "/display/" + aurora + "/do/"
		key, _ := b.paired(aurora, b.claim(aurora))
		button := regexp.MustCompile(`id="answer-undo" data-post="do/undo" data-body="\{&#34;booking_id&#34;:&#34;([^&]+)`)
		book := func(body string, more ...string) string {
			t.Helper()
			got := b.net.do(t, "POST", path+"book", append([]string{key, body}, more...)...)
			id := button.FindStringSubmatch(got.body)
			if got.StatusCode != 200 || id == nil {
				t.Fatalf("book: %d %s", got.StatusCode, got.body)
			}
			return id[1]
		}
		undo := func(id string, want int) {
			t.Helper()
			if got := b.net.do(t, "POST", path+"undo", key, `{"booking_id":"`+id+`"}`); got.StatusCode != want {
				t.Errorf("undo %s: %d %s", id, got.StatusCode, got.body)
			}
		}
		later := `{"start":"` + at("15:00") + `","minutes":60}`
		first := book(later, "Idempotency-Key: once")
		if again := book(later, "Idempotency-Key: once"); again != first {
			t.Errorf("the same request books %s and %s", first, again)
		}
		undo(first, 200)
		if got := b.ask("GET", "/bookings/"+first); !strings.Contains(got.body, `"cancelled"`) {
			t.Errorf("it is %s", got.body)
		}
		undo(book(`{"minutes":15}`), 200)
		if shown := b.net.do(t, "GET", "/display/"+aurora+"/stream", key).body; !strings.Contains(shown, `"state":"free"`) {
			t.Errorf("at the end it shows %s", shown)
		}
		running := book(`{"minutes":15}`)
		late := book(later)
		undo(b.book(meeting("17:00", "18:00", "")).ID, 409)
		time.Sleep(undoFor + time.Second)
		undo(running, 409)
		panel := b.net.do(t, "GET", "/display/"+aurora+"/panel/booked", key).body
		if !strings.Contains(panel, late) || strings.Contains(panel, running) || strings.Count(panel, "do/undo") != 1 {
			t.Errorf("booked at the door: %s", panel)
		}
		undo(late, 200)
	})
}

// TestDoorExtendsUntil: a meeting with less than the least step before the next one
// can take what is left.
func TestDoorExtendsUntil(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := "/display/" + aurora
		key, _ := b.paired(aurora, b.claim(aurora))
		b.book(meeting("00:15", "01:00", ""))
		if got := b.net.do(t, "POST", path+"/do/book", key, `{"until":"2000-01-01T00:05:30Z"}`); got.StatusCode != 200 {
			t.Fatalf("book: %d %s", got.StatusCode, got.body)
		}
		button := regexp.MustCompile(`id="act-more-all"[^>]* data-body="([^"]+)">until [^<]*`)
		shown := b.net.do(t, "GET", path+"/stream", key).body
		body := button.FindStringSubmatch(shown)
		if body == nil || strings.Contains(shown, `id="act-more-15"`) {
			t.Fatalf("it shows %s", shown)
		}
		meeting := regexp.MustCompile(`"booking_id":"[^"]+"`).FindString(html.UnescapeString(body[1]))
		for _, minutes := range []string{"-5", "1441"} {
			if got := b.net.do(t, "POST", path+"/do/extend", key, `{`+meeting+`,"minutes":`+minutes+`}`); got.StatusCode != 422 {
				t.Errorf("extend by %s minutes: %d %s", minutes, got.StatusCode, got.body)
			}
		}
		if got := b.net.do(t, "POST", path+"/do/extend", key, html.UnescapeString(body[1])); got.StatusCode != 200 {
			t.Errorf("extend: %d %s", got.StatusCode, got.body)
		}
		if shown := b.net.do(t, "GET", path+"/stream", key).body; strings.Contains(shown, `id="act-more-`) || !strings.Contains(b.list(), `"end_time":"`+at("00:15")) {
			t.Errorf("then it shows %s", shown)
		}
	})
}

// TestDoorExtendsNoWalkUpForTheDay: however often somebody at the door extends, he takes
// the room for no longer than a walk-up may. A person with a token is somebody.
func TestDoorExtendsNoWalkUpForTheDay(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := "/display/" + aurora
		display, _ := b.paired(aurora, b.claim(aurora))
		_, code, _ := strings.Cut(scanned(t, b.net.do(t, "POST", path+"/do/phone", display).body), "#code=")
		phone, _ := b.paired(aurora, code)
		if got := b.net.do(t, "POST", path+"/do/book", phone, `{"minutes":30}`); got.StatusCode != 200 {
			t.Fatalf("book: %d %s", got.StatusCode, got.body)
		}
		id := regexp.MustCompile(`"id":"(door-[^"]+)"`).FindStringSubmatch(b.list())[1]
		extend := func(key, more string) answer {
			return b.net.do(t, "POST", path+"/do/extend", key, `{"booking_id":"`+id+`"`+more+`}`)
		}
		for range 6 {
			if got := extend(phone, `,"minutes":15`); got.StatusCode != 200 {
				t.Fatalf("extend within two hours: %d %s", got.StatusCode, got.body)
			}
		}
		for _, key := range []string{phone, display} {
			for _, more := range []string{``, `,"minutes":15`, `,"minutes":1440`, `,"until":"` + at("02:01") + `"`, `,"until":"` + at("23:00") + `"`} {
				if got := extend(key, more); got.StatusCode != 422 {
					t.Errorf("extend by %q beyond two hours: %d %s", more, got.StatusCode, got.body)
				}
			}
		}
		if shown := b.net.do(t, "GET", path+"/stream", display).body; strings.Contains(shown, `id="act-more-`) {
			t.Errorf("the page offers more: %s", shown)
		}
		if list := b.list(); !strings.Contains(list, `"end_time":"`+at("02:00")) {
			t.Errorf("in the end there is %s", list)
		}
		if got := extend("X-API-Key: "+systemKey, `,"minutes":15`); got.StatusCode != 200 {
			t.Errorf("extend by the key of the building: %d %s", got.StatusCode, got.body)
		}
	})
}

// TestManyWalkUpsAreOne: with the keys of the door nobody keeps its room for the day by
// short bookings, one after the other or all at once; the key of the building may.
func TestManyWalkUpsAreOne(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		display, _ := b.paired(aurora, b.claim(aurora))
		do := func(what, who, body string, want int) {
			t.Helper()
			if got := b.net.do(t, "POST", "/display/"+aurora+"/do/"+what, who, body); got.StatusCode != want {
				t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
			}
		}
		for i, minute := range []int{60, 90, 120, 150, 180} {
			body := fmt.Sprintf(`{"start":"%s","until":"%s"}`, at(fmt.Sprintf("%02d:%02d", minute/60, minute%60)), at(fmt.Sprintf("%02d:%02d", (minute+30)/60, (minute+30)%60)))
			do("book", display, body, map[bool]int{true: 200, false: 409}[i < 4])
		}
		do("book", display, `{"start":"`+at("03:15")+`","until":"`+at("05:15")+`"}`, 200) // after a pause
		do("book", "X-API-Key: "+systemKey, `{"start":"`+at("03:00")+`","until":"`+at("03:15")+`"}`, 200)
	})
}

// TestNoNamesAtTheDoor: a screen of another maker is told no more than the page at the door shows;
// the building and the cloud are told the organizer.
func TestNoNamesAtTheDoor(t *testing.T) {
	for _, shows := range []bool{false, true} {
		inBuilding(t, func(t *testing.T, b *building) {
			b.book(meeting("10:00", "11:00", `,"title":"Review","organizer":{"name":"Ann","email":"ann@example.com"}`))
			edge, _ := b.paired(aurora, b.claim(aurora))
			for who, sees := range map[string]bool{edge: shows, "X-API-Key: " + systemKey: true} {
				for _, path := range []string{"/meetingspace/" + aurora + "/state", "/v2.0/meeting-spaces/" + aurora + "/state"} {
					if got := b.net.do(t, "GET", path, who).body; strings.Contains(got, "Ann") != sees || strings.Contains(got, "Review") != shows || !strings.Contains(got, "10:00") {
						t.Errorf("%s, %v: %s", path, shows, got)
					}
				}
			}
		}, func(c *config.Config) { c.Spaces[0].Booking.ShowTitles = shows })
	}
}
