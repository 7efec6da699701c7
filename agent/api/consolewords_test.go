package api

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/console"
)

// TestConsoleShowsNoTimeOfAClockThatIsNotTrusted: nothing is offered or said by it, it is the
// first of what needs somebody, and the doctor looks again.
func TestConsoleShowsNoTimeOfAClockThatIsNotTrusted(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		var since time.Time
		b.findings = func(than time.Time) console.Findings {
			since = than
			return console.Findings{At: time.Now(), All: []console.Finding{{Name: "clock", State: "ok"}, {Name: "card", State: "fail", Seen: "is worn"}}}
		}
		b.server.console = b.serverOf().console
		made := b.book(meeting("10:00", "11:00", ""))
		day := b.agent.Now().Format(time.DateOnly)
		who := b.atConsole()
		look := func() (all string) {
			if page := b.net.do(t, "GET", "/console/stream/events", who).body; strings.Contains(page, "It is closed") || strings.Contains(page, "It answers and is closed") {
				t.Errorf("an event says closed of a bolt: %s", page)
			}
			for _, page := range []string{"stream/overview", "stream/space?id=" + aurora, "stream/space?id=" + aurora + "&day=" + day, "panel/booking?booking=" + made.ID} {
				all += b.net.do(t, "GET", "/console/"+page, who).body
			}
			return all
		}
		said := []string{"Book the room", "nowline", `id=\"free-`, ", today", "Examined at", " until ", "Cancel the booking"}
		page, first := look(), since
		for _, text := range said {
			if !strings.Contains(strings.ReplaceAll(page, `id="free-`, `id=\"free-`), text) {
				t.Errorf("by a clock that is trusted, nothing says %q", text)
			}
		}
		time.Sleep(time.Minute)
		if err := b.agent.MoveClock(10*365*24*time.Hour, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		page = look()
		for _, text := range said {
			if strings.Contains(strings.ReplaceAll(page, `id="free-`, `id=\"free-`), text) {
				t.Errorf("by a clock that is not trusted, something says %q", text)
			}
		}
		clock, card := strings.Index(page, "Fault: clock"), strings.Index(page, "Fault: card")
		if clock < 0 || clock > card || !since.After(first) {
			t.Errorf("the clock is at %d of the overview, the card at %d; the doctor is asked since %s, after %s: %s", clock, card, since, first, page)
		}
		checkProblem(t, "book", b.net.do(t, "GET", "/console/panel/book?id="+aurora+"&day="+day, who), 409, "not_now", "start_time")
	}, func(c *config.Config) { c.Gateway.Name = movable })
}

// TestConsoleTellsLeafFromBolt: a door that stands open under a thrown bolt is told as such.
func TestConsoleTellsLeafFromBolt(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		who := b.atConsole()
		for _, c := range [][2]string{{"shut", "locked, door shut"}, {"force", "locked, door open"}} {
			b.move("Aurora", "lock", c[0])
			time.Sleep(5 * time.Second)
			if page := b.net.do(t, "GET", "/console/stream/events", who).body; strings.Contains(page, "It is closed") || strings.Contains(page, "It answers and is closed") {
				t.Errorf("an event says closed of a bolt: %s", page)
			}
			for _, page := range []string{"stream/overview", "stream/space?id=" + aurora, "panel/control?id=" + aurora + "&device=lock"} {
				if got := b.net.do(t, "GET", "/console/"+page, who).body; !strings.Contains(got, c[1]) {
					t.Errorf("%s does not say %q: %s", page, c[1], got)
				}
			}
		}
	})
}

// TestConsoleEventsInSentences: what happened to a booking is told with its title, as who looks
// sees it, and with the device names of the other pages; a screen that was paired is named.
func TestConsoleEventsInSentences(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.book(meeting("10:00", "11:00", `,"title":"Review"`))
		b.book(meeting("12:00", "13:00", `,"title":"Secret plan","private":true,"organizer":{"name":"Ann","email":"ann@example.com"}`))
		b.paired(aurora, b.claim(aurora))
		system, member := b.atConsole(), b.by(t, "eve@example.com")
		for who, sees := range map[string]bool{system: true, member: false} {
			page := b.net.do(t, "GET", "/console/stream/events", who).body
			if !strings.Contains(page, "“Review”") || !strings.Contains(page, "Aurora / Room sensor, temperature") || strings.Contains(page, "“Secret plan”") != sees {
				t.Errorf("the events are %s", page)
			}
		}
		if got := b.ask("POST", "/gateway/users", `{"email":"uma@example.com","name":"Uma"}`); got.StatusCode != 201 {
			t.Fatal(got)
		}
		for path, body := range map[string]string{"/gateway/users": `{"email":"una@example.com","name":"Una"}`,
			"/api/v1/webhooks": `{"organization_id":"` + auroraOrg + `","url":"https://hook.example/secret","events":["booking.created"]}`} {
			_, id, _ := strings.Cut(b.ask("POST", path, body).body, `"id":"`)
			id, _, _ = strings.Cut(id, `"`)
			if got := b.ask("DELETE", path+"/"+id); got.StatusCode/100 != 2 {
				t.Fatal(got)
			}
		}
		page := b.net.do(t, "GET", "/console/stream/changes", system).body
		if events := b.net.do(t, "GET", "/console/stream/events", system).body; !strings.Contains(events, "<bdi>“uma@example.com”, by: ") {
			t.Errorf("the events do not say who was made: %s", events)
		}
		for _, text := range []string{"the device itself", "User created</bdi>", "<bdi>“uma@example.com”</bdi>", "User deleted</bdi>", "<bdi>“una@example.com”</bdi>", "Webhook deleted</bdi>", "<bdi>host: hook.example</bdi>", "<summary id=\"of-", "user id: "} {
			if !strings.Contains(page, text) {
				t.Errorf("the changes have no %q: %s", text, page)
			}
		}
	}, roles)
}

// TestConsoleTellsOfTwoClocks: where the clock of a demo was moved, each page says by which clock
// it tells what.
func TestConsoleTellsOfTwoClocks(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		who := b.atConsole()
		for _, ahead := range []time.Duration{0, time.Hour, 0} {
			if err := b.agent.MoveClock(ahead, false); err != nil {
				t.Fatal(err)
			}
			for _, page := range []string{"overview", "events", "space?id=" + aurora} {
				if got := b.net.do(t, "GET", "/console/stream/"+page, who).body; strings.Contains(got, "The clock of the rooms was moved: bookings are told by it") != (ahead > 0) {
					t.Errorf("the clock is %v ahead, and %s is %s", ahead, page, got)
				}
			}
		}
	}, func(c *config.Config) { c.Gateway.Name = movable })
}
