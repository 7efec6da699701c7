package api

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/console"
	"roomgate/agent/goldentest"
)

// atConsole makes a session of the console, as its page does; it returns the header.
func (b *building) atConsole() string {
	b.t.Helper()
	code, _, _ := b.agent.Access.Console.New(b.t.Context())
	got := b.net.do(b.t, "POST", "/console/session", `{"code":"`+code+`"}`)
	var session struct{ Token string }
	if err := json.Unmarshal([]byte(got.body), &session); err != nil || got.StatusCode != 201 {
		b.t.Fatalf("sign in: %d %s", got.StatusCode, got.body)
	}
	return "Authorization: Bearer " + session.Token
}

// TestConsole walks from the page over its code to what it shows.
func TestConsole(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, path := range []string{"/", "/console", "/console/overview"} {
			page := b.net.do(t, "GET", path)
			goldentest.Values(t, path, goldentest.Pairs{"StatusCode": {page.StatusCode, 200},
				"default-src 'none'": {strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'"), true},
				"Aurora":             {strings.Contains(page.body, "Aurora"), false}, "style=": {strings.Contains(page.body, "style="), false},
				"Set-Cookie": {page.Header.Get("Set-Cookie"), ""}})
		}
		if got := b.net.do(t, "GET", "/console/nothing"); got.StatusCode != 404 || !strings.Contains(got.body, "nothing here") {
			t.Errorf("a page that there is not: %d %s", got.StatusCode, got.body)
		}
		// The name of a page may be a link of anybody: no script goes where it leads.
		if got := b.net.do(t, "GET", "/console/..%2f..%2fmeetingspace%2f"+aurora+"%2fstate%2fdisable"); got.StatusCode != 404 || strings.Contains(got.body, "<script") || strings.Contains(got.body, "disable") {
			t.Errorf("a page that leads elsewhere: %d %s", got.StatusCode, got.body)
		}
		session := b.atConsole()
		shown := b.net.do(t, "GET", "/console/stream/overview", session)
		if shown.StatusCode != 200 || !strings.Contains(shown.body, "Aurora") || !strings.Contains(shown.body, "event: head\n") {
			t.Errorf("the overview: %d %s", shown.StatusCode, shown.body)
		}
		checkProblem(t, "nothing", b.net.do(t, "GET", "/console/stream/nothing", session), 404, "not_found", "section")
		checkProblem(t, "no session", b.net.do(t, "GET", "/console/stream/overview"), 401, "unauthorized", "X-API-Key")
		checkProblem(t, "a wrong code", b.net.do(t, "POST", "/console/session", `{"code":"AAAA-AAAA"}`), 403, "forbidden", "code")
		code, _, _ := b.agent.Access.Console.New(b.t.Context())
		body := `{"code":"` + code + `"}`
		for name, got := range map[string]answer{"origin": b.net.do(t, "POST", "/console/session", body, "Origin: http://evil.example"),
			"host": b.byName("evil.example", "POST", "/console/session", body)} {
			if got.StatusCode != 403 {
				t.Errorf("foreign %s: %d %s", name, got.StatusCode, got.body)
			}
		}
		if got := b.net.do(t, "POST", "/console/session", `{"code":"`+code+`"}`); got.StatusCode != 201 {
			t.Errorf("refused foreigners use the code up: %d %s", got.StatusCode, got.body)
		}
	})
}

// TestConsoleByRole: everybody sees what he may, and nothing of another's rooms.
func TestConsoleByRole(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		shown := func(who, page string) string {
			t.Helper()
			return b.net.do(t, "GET", "/console/stream/"+page, who).body
		}
		for email, want := range map[string]struct{ gateway, command, accept bool }{
			"ada@example.com": {true, true, true},    // of the building
			"ann@example.com": {false, true, false},  // of an organization
			"ora@example.com": {false, true, false},  // an operator
			"eve@example.com": {false, false, false}, // a member
		} {
			who := b.by(t, email)
			overview, space := shown(who, "overview"), shown(who, "space?id="+aurora)
			if strings.Contains(overview, "Outbox") != want.gateway || strings.Contains(overview, "Borealis") != want.gateway || !strings.Contains(overview, "Aurora") {
				t.Errorf("%s: the overview is %s", email, overview)
			}
			if strings.Contains(space, ">Control<") != want.command || !strings.Contains(space, "Book the room") {
				t.Errorf("%s: the space is %s", email, space)
			}
			for path, may := range map[string]bool{"stream/accept?id=" + aurora: want.accept, "panel/control?id=" + aurora + "&device=light": want.command, "panel/book?id=" + aurora: true,
				"stream/space?id=" + borealis: want.gateway, "panel/book?id=" + borealis: want.gateway} {
				if got := b.net.do(t, "GET", "/console/"+path, who); got.StatusCode == 200 != may || !may && got.StatusCode != 403 && got.StatusCode != 404 {
					t.Errorf("%s: %s: %d %s", email, path, got.StatusCode, got.body)
				}
			}
			if events := shown(who, "events"); strings.Contains(events, "Borealis") != want.gateway {
				t.Errorf("%s: the events are %s", email, events)
			}
		}
		_, less := b.orgKey(t, auroraOrg, "messages:write", "spaces:read", "devices:read")
		for _, path := range []string{"stream/overview", "stream/events", "stream/space?id=" + aurora, "panel/book?id=" + aurora} {
			if got := b.net.do(t, "GET", "/console/"+path, less); got.StatusCode != 403 {
				t.Errorf("a key that may less: %s: %d %s", path, got.StatusCode, got.body)
			}
		}
	}, roles)
}

// TestConsoleDay: what somebody books is in the grid, private for whom it is none of his
// business.
func TestConsoleDay(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		made := b.book(meeting("10:00", "11:00", `,"title":"Secret plan","private":true,"organizer":{"name":"Ann","email":"ann@example.com"}`))
		system, member := b.atConsole(), b.by(t, "eve@example.com")
		for who, sees := range map[string]bool{system: true, member: false} {
			day := b.net.do(t, "GET", "/console/stream/space?id="+aurora, who).body
			sheet := b.net.do(t, "GET", "/console/panel/booking?booking="+made.ID, who).body
			for name, text := range map[string]string{"day": day, "sheet": sheet} {
				if strings.Contains(text, "Secret plan") != sees || !strings.Contains(text, "Private") && !sees {
					t.Errorf("%s: it is %s", name, text)
				}
			}
			if strings.Contains(sheet, "Cancel the booking") != sees {
				t.Errorf("the sheet is %s", sheet)
			}
		}
		for query, field := range map[string]string{"?id=" + nowhere: "meeting_space_id", "?id=" + aurora + "&day=tomorrow": "day"} {
			if got := b.net.do(t, "GET", "/console/stream/space"+query, system); got.StatusCode < 400 || !strings.Contains(got.body, field) {
				t.Errorf("%s: %d %s", query, got.StatusCode, got.body)
			}
		}
	}, roles)
}

// TestConsoleIsLive: a stream says what becomes true, and ends with its session.
func TestConsoleIsLive(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		who := b.atConsole()
		s := b.stream(t, "/console/stream/overview", who)
		defer s.close()
		for block := ""; !strings.HasPrefix(block, "event: head"); {
			block = s.block()
		}
		b.book(meeting("00:00", "01:00", `,"title":"Now"`))
		if block := s.block(); !strings.HasPrefix(block, "event: spaces") || !strings.Contains(block, "Reserved") {
			t.Errorf("the stream tells %s", block)
		}
		if err := b.agent.Access.SignOutAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkProblem(t, "signed out", b.net.do(t, "GET", "/console/stream/overview", who), 401, "unauthorized", "Authorization")
	})
}

// TestConsoleSessionIsAudited: the log has who came to the console, from where, and who left.
func TestConsoleSessionIsAudited(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		who := b.atConsole()
		if got := b.net.do(t, "DELETE", "/console/session", who); got.StatusCode != 204 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		checkProblem(t, "signed out", b.net.do(t, "DELETE", "/console/session", who), 401, "unauthorized", "Authorization")
		if got := b.net.do(t, "POST", "/console/session", `{"code":"AAAA-AAAA"}`); got.StatusCode != 403 {
			t.Errorf("a wrong code: %d", got.StatusCode)
		}
		for kind, want := range map[string]int{"consoleSignedIn": 1, "consoleSignedOut": 1} {
			told := b.ask("GET", "/devices/events?event_type="+kind).body
			if strings.Count(told, `"by_id":"console-`) != want || !strings.Contains(told, `"by_kind":"console"`) || kind == "consoleSignedIn" && !strings.Contains(told, `"address":"`) {
				t.Errorf("%s: %s", kind, told)
			}
		}
	})
}

// TestManyKeysDoNotCloseTheConsole: an organization follows as many pages as it can, with
// several keys. The building's admin follows his, and another organization gets a place: a
// page of the first one ends.
func TestManyKeysDoNotCloseTheConsole(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/console/stream/overview"
		key := func(organization string) string {
			_, header := b.orgKey(t, organization, "messages:read", "spaces:read", "devices:read", "events:read", "bookings:read")
			return header
		}
		var all []*eventStream
		for range 3 {
			who := key(auroraOrg)
			for range 4 {
				all = append(all, b.stream(t, path, who))
			}
		}
		for _, who := range []string{b.atConsole(), key(auroraOrg), key(borealisOrg)} {
			all = append(all, b.stream(t, path, who))
		}
		ended := make(chan bool, len(all))
		for _, s := range all {
			go func() { _, _ = io.Copy(io.Discard, s.lines); ended <- true }()
		}
		synctest.Wait()
		if len(ended) != 2 {
			t.Errorf("%d pages ended, want those of two who have come", len(ended))
		}
		for _, s := range all {
			s.close()
		}
	}, tenants)
}

// TestWhatFailsIsExaminedAtOnce: the building at a glance has the doctor look again as soon as
// another device is away, or is back, and says until then when he has looked.
func TestWhatFailsIsExaminedAtOnce(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		var since time.Time
		looked := time.Now()
		b.findings = func(than time.Time) console.Findings {
			since = than
			return console.Findings{At: looked, All: []console.Finding{{Name: "clock", State: "ok"}}}
		}
		b.server.console = b.serverOf().console
		who := b.atConsole()
		look := func() string { return b.net.do(t, "GET", "/console/stream/overview", who).body }
		look()
		first := since
		time.Sleep(time.Minute)
		looked = time.Now()
		if page := look(); !since.Equal(first) || !strings.Contains(page, "Nothing: everything") {
			t.Errorf("nothing has changed, and the doctor is asked since %s, after %s: %s", since, first, page)
		}
		for _, what := range []string{"unplug", "plug"} {
			before := since
			b.move("aurora", "o3-sensor", what)
			time.Sleep(time.Minute)
			if page := look(); !since.After(before) || strings.Contains(page, "Room sensor: offline") != (what == "unplug") {
				t.Errorf("%s: the doctor is asked since %s, after %s: %s", what, since, before, page)
			}
		}
		looked = time.Now().Add(-3 * time.Hour) // nobody has looked at the console since
		if page := look(); !strings.Contains(page, ", 3 h ago; it is being examined again") || strings.Contains(page, "is in order") {
			t.Errorf("of 3 hours ago: %s", page)
		}
	})
}

// TestWrongPath: a person's browser gets a page that leads to the console, and whoever asks
// for a path of the interface, or in another way, the same JSON as ever.
func TestWrongPath(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const browser = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
		for _, path := range []string{"/konsole", "/index.html", "/display", "/display/x/y/z", "/console/a/b"} {
			got := b.net.do(t, "GET", path, browser)
			if got.StatusCode != 404 || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") ||
				!strings.Contains(got.body, `<a href="/console">`) || got.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s: %d, %v\n%s", path, got.StatusCode, got.Header, got.body)
			}
			for _, parts := range [][]string{nil, {"Accept: application/json"}, {"Accept: */*"}} {
				checkProblem(t, path, b.net.do(t, "GET", path, parts...), 404, "not_found", "")
			}
			checkProblem(t, "POST "+path, b.net.do(t, "POST", path, browser), 404, "not_found", "")
		}
		for _, path := range []string{"/v2.0/nothing", "/v1.0/nothing", "/api/v1/nothing", "/devices/a/b/c", "/bookings/a/b/c", "/meetingspace"} {
			checkProblem(t, path, b.net.do(t, "GET", path, browser), 404, "not_found", "")
		}
	})
}
