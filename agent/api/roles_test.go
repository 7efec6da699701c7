package api

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/console"
	"roomgate/agent/schedule"
)

// roles are tenants with a person of every role.
func roles(c *config.Config) {
	tenants(c)
	c.Users = append(c.Users,
		config.Person{ID: "eve", Email: "eve@example.com", Name: "Eve", Role: "member", OrganizationID: auroraOrg, Enabled: true},
		config.Person{ID: "ora", Email: "ora@example.com", Name: "Ora", Role: "operator", OrganizationID: auroraOrg, Enabled: true},
		config.Person{ID: "dis", Email: "dis@example.com", Name: "Door", Role: "display", OrganizationID: auroraOrg, Enabled: true},
		config.Person{ID: "loe", Email: "loe@example.com", Name: "Loe", Role: "member", Enabled: true})
}

// by is the header of a person who signs in.
func (b *building) by(t *testing.T, email string) string {
	return "Authorization: Bearer " + b.signIn(t, email)
}

// said is who may what, by operation, as the page for clients says it.
func said(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(text), "## Every operation")
	who := map[string]string{}
	code := regexp.MustCompile("`([A-Z]+ /[^`]*)`")
	for line := range strings.Lines(tables) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.Contains(line, "`") {
			continue
		}
		for column, prefix := range map[int]string{1: "", 2: v2Prefix} {
			for _, m := range code.FindAllStringSubmatch(cells[column], -1) {
				method, path, _ := strings.Cut(m[1], " ")
				name := method + " " + prefix + path
				if before, twice := who[name]; twice && before != strings.TrimSpace(cells[4]) {
					t.Errorf("%s: %s, and %s", name, before, cells[4])
				}
				who[name] = strings.TrimSpace(cells[4])
			}
		}
	}
	return who
}

// ranks are the roles in the order of what they may.
var ranks = []string{"everybody", "anyone", "member", "operator", "admin", "building"}

// mayByPage judges a caller by a cell of the page: his rank, or that he is an edge
// device, or the permissions of a key.
func mayByPage(cell, rank string, permissions []string) bool {
	least, rest, _ := strings.Cut(cell, ", ")
	switch at := slices.Index(ranks, least); {
	case rank == "edge":
		return strings.Contains(rest, "edge")
	case least == "anyone":
		return true
	case rank == "key" && strings.Contains(rest, "` and `"):
		return len(permissions) > 1 // one with all
	case rank == "key":
		return slices.ContainsFunc(permissions, func(p string) bool { return strings.Contains(rest, "`"+p+"`") })
	default:
		return slices.Index(ranks, rank) >= at
	}
}

// TestTableOfRoles: the page has a row for every route of both versions, and what it
// says of each role and permission is so.
func TestTableOfRoles(t *testing.T) {
	who := said(t)
	for _, r := range routes() {
		if cell := who[r.name()]; !slices.Contains(ranks, strings.Split(cell, ", ")[0]) {
			t.Errorf("README.md does not say who may %s: %q", r.name(), cell)
		}
		if cell, want := who[r.name()], newEndpoint(&r).audience(); cell != want {
			t.Errorf("README.md says of %s %q, and /openapi %q", r.name(), cell, want)
		}
	}
	inBuilding(t, func(t *testing.T, b *building) {
		type asker struct {
			name, header, rank string
			permissions        []string
		}
		askers := []asker{{"a system key", "X-API-Key: " + systemKey, "building", nil}, {"an edge device", "X-API-Key: " + b.edgeKey(aurora), "edge", nil}}
		for email, rank := range map[string]string{"ada@example.com": "building", "ann@example.com": "admin", "ora@example.com": "operator",
			"mel@example.com": "member", "dis@example.com": "member", "loe@example.com": "member"} {
			askers = append(askers, asker{email, b.by(t, email), rank, nil})
		}
		for _, names := range append([][]string{auth.All.Names()}, slices.Collect(slices.Chunk(auth.All.Names(), 1))...) {
			_, header := b.orgKey(t, auroraOrg, names...)
			askers = append(askers, asker{"a key with " + strings.Join(names, ","), header, "key", names})
		}
		n := 0
		for _, a := range askers {
			for _, r := range signingOutLast() {
				if r.permission == permitAll {
					continue
				}
				n++
				got := b.from(n, r.method, concrete(r.path), a.header, "{}")
				sold := a.rank != "edge" && got.Code == 403 && strings.HasSuffix(r.path, "/auth/token") // to keys only, and said so
				if may := got.Code != 401 && (got.Code != 403 || sold); may != mayByPage(who[r.name()], a.rank, a.permissions) {
					t.Errorf("%s, %s: %d %s, and the page says %s", a.name, r.name(), got.Code, got.Body, who[r.name()])
				}
			}
		}
		if n < 3000 {
			t.Errorf("only %d requests", n)
		}
	}, roles)
}

// TestRefusalsAreInRoles: a person is refused in the words for people, a key in those for keys.
func TestRefusalsAreInRoles(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, key := b.orgKey(t, auroraOrg, "devices:read")
		for _, c := range []struct{ who, method, path, want string }{
			{b.by(t, "mel@example.com"), "POST", "/devices/" + aurora + "/action", "the role member may not: it takes the role operator"},
			{b.by(t, "ora@example.com"), "POST", "/rules", "the role operator may not: it takes the role admin"},
			{b.by(t, "mel@example.com"), "GET", "/gateway/users", "the role member may not: it takes the role admin"},
			{b.by(t, "mel@example.com"), "DELETE", "/claim", "the role member may not: it takes an admin of the building"},
			{b.by(t, "ann@example.com"), "DELETE", "/claim", "an admin of an organization may not: it takes a system key, or an admin of the building"},
			{key, "POST", "/bookings", "this key has no permission bookings:write"},
			{key, "GET", "/console/stream/home", "this key needs all of these permissions: " + strings.Join(console.Sees.Names(), ", ")},
			{key, "GET", "/gateway/users", "the key of an organization may not: it takes a system key, or a person with the role admin"},
		} {
			if got := b.net.do(t, c.method, c.path, c.who, "{}"); got.StatusCode != 403 || !strings.Contains(got.body, `"`+c.want+`"`) {
				t.Errorf("%s %s: %d %s, want %q", c.method, c.path, got.StatusCode, got.body, c.want)
			}
		}
		control := b.net.do(t, "POST", "/devices/"+aurora+"/control", b.by(t, "mel@example.com"), `{"device_type":"light"}`)
		if !strings.Contains(control.body, "the role member may not: it takes the role operator") || strings.Contains(control.body, "devices:write") {
			t.Error(control.body)
		}
	}, roles)
}

// secrets are words of a private booking that nobody else may see.
var secrets = []string{"Redundancies", "Mel", "mel@", "hr-17", "because of Mel"}

// TestPrivateBookingsLeakNowhere: a member, an operator and a display read every
// route, and find nothing of the private booking of another but its time.
func TestPrivateBookingsLeakNowhere(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		mel := b.by(t, "mel@example.com")
		start := time.Now().UTC().Truncate(24 * time.Hour).Add(33 * time.Hour)
		times := `"start_time":"` + start.Format(time.RFC3339) + `","minutes":60`
		made := b.net.do(t, "POST", "/bookings", mel, `{"id":"hers","meeting_space_id":"`+aurora+`","title":"Redundancies","external_id":"hr-17",`+times+`}`)
		var record bookingRecord
		if err := json.Unmarshal([]byte(made.body), &record); err != nil || made.StatusCode != 201 || record.Organizer.Name != "Mel" || value(record.Organizer.Email) != "mel@example.com" {
			t.Fatalf("made: %d %s", made.StatusCode, made.body)
		}
		for _, body := range []string{`{"private":true}`, `{"title":"Redundancies in spring"}`} { // it was not from the first
			if got := b.net.do(t, "PATCH", "/bookings/hers", mel, body); got.StatusCode != 200 {
				t.Fatalf("made private: %d %s", got.StatusCode, got.body)
			}
		}
		now := b.net.do(t, "POST", "/bookings", mel, `{"id":"now","meeting_space_id":"`+aurora+`","title":"Redundancies","private":true,"source":"walk_up","minutes":30}`)
		if now.StatusCode != 201 {
			t.Fatalf("made for now: %d %s", now.StatusCode, now.body)
		}
		for _, email := range []string{"eve@example.com", "ora@example.com", "dis@example.com", "loe@example.com"} {
			who := b.by(t, email)
			stream := b.stream(t, "/devices/events?since=2000-01-01T00:00:00Z", who)
			seen := b.readAll(t, who)
			if !strings.Contains(seen, `"id":"hers"`) || !strings.Contains(seen, "booking.updated") || !strings.Contains(seen, `"booking_id":"hers"`) {
				t.Errorf("%s does not see that the room is taken: %.300s", email, seen)
			}
			for range 200 {
				_, kind, data := stream.event()
				seen += data
				if kind == "booking.updated" {
					break
				}
			}
			stream.close()
			for _, word := range secrets {
				if at := strings.Index(seen, word); at >= 0 {
					t.Errorf("%s sees %q: …%s…", email, word, seen[max(0, at-300):min(len(seen), at+60)])
				}
			}
		}
		for _, who := range []string{mel, b.by(t, "ann@example.com"), "X-API-Key: " + systemKey} {
			if got := b.net.do(t, "GET", "/bookings/hers", who); !strings.Contains(got.body, "Redundancies in spring") || !strings.Contains(got.body, "mel@example.com") {
				t.Errorf("its organizer, an admin or a key: %s", got.body)
			}
		}
	}, roles)
}

// readAll asks every route that reads, of both versions, and joins the answers.
func (b *building) readAll(t *testing.T, who string) (seen string) {
	t.Helper()
	fill := strings.NewReplacer("{booking_id}", "hers", "{user_id}", "mel")
	for i, r := range routes() {
		if r.method != "GET" || r.permission == permitAll || strings.HasSuffix(r.path, "/send") || strings.HasSuffix(r.path, "/disable") {
			continue
		}
		got := b.from(i, "GET", concrete(fill.Replace(r.path)), who)
		seen += got.Body.String() + "\n"
	}
	for i, body := range []string{`{"to":{"booking_id":"hers"},"title":"t","body":"b"}`} { // an operator's
		seen += b.from(1000+i, "POST", "/messages", who, body).Body.String() + b.from(1000+i, "POST", "/v2.0/messages", who, body).Body.String()
	}
	for i, path := range []string{"/bookings?state=booked", "/v2.0/bookings?limit=1", "/devices/events?event_type=booking.created", "/devices/" + aurora + "/events?wait=1s&limit=200"} {
		seen += b.from(2000+i, "GET", path, who).Body.String()
	}
	busy := `{"meeting_space_id":"` + aurora + `","start_time":"` + time.Now().UTC().Truncate(24*time.Hour).Add(33*time.Hour).Format(time.RFC3339) + `","minutes":30}`
	return seen + b.from(3000, "POST", "/bookings", who, busy).Body.String()
}

// TestPeopleChangeTheirOwn: of another's booking a member and an operator change
// nothing, by whatever route; an admin and a key do.
func TestPeopleChangeTheirOwn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		start := time.Now().UTC().Truncate(24 * time.Hour).Add(33 * time.Hour)
		asked := booking.Booking{ID: "hers", SpaceID: aurora, Start: start, End: start.Add(time.Hour), Organizer: booking.Person{Email: "Mel@example.com"}}
		if _, _, err := b.agent.Bookings.Create(t.Context(), asked, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		id := `{"id":"hers","meeting_space_id":"` + aurora + `","title":"x","start_time":"` + start.Format(time.RFC3339) + `","minutes":60}`
		for _, email := range []string{"eve@example.com", "ora@example.com", "loe@example.com"} {
			who := b.by(t, email)
			for _, prefix := range []string{"", "/v1.0", "/v2.0"} {
				for _, c := range []struct{ method, path, body string }{{"PATCH", "/bookings/hers", `{"title":"x"}`}, {"DELETE", "/bookings/hers", ""},
					{"POST", "/bookings/hers/check-in", ""}, {"POST", "/bookings/hers/extend", ""}, {"POST", "/bookings/hers/end", ""}, {"POST", "/bookings", id}} {
					parts := []string{who, c.body}
					checkProblem(t, email+" "+c.method+" "+prefix+c.path, b.net.do(t, c.method, prefix+c.path, parts...), 403, "forbidden", "booking_id")
				}
				bulk := b.net.do(t, "POST", prefix+"/bookings/bulk", who, `{"operations":[{"operation":"cancel","id":"hers"},{"operation":"check_in","id":"hers"},`+
					`{"operation":"update","id":"hers","title":"x"},{"operation":"extend","id":"hers"},{"operation":"end","id":"hers"}]}`)
				if strings.Count(bulk.body, `"status":403,"problem"`) != 5 {
					t.Errorf("%s in bulk: %d %s", email, bulk.StatusCode, bulk.body)
				}
			}
			other := b.net.do(t, "POST", "/bookings", who, `{"meeting_space_id":"`+aurora+`","organizer":{"name":"Mel","email":"mel@example.com"},"start_time":"`+
				start.Add(2*time.Hour).Format(time.RFC3339)+`","minutes":30}`)
			checkProblem(t, email+" books for another", other, 403, "forbidden", "organizer")
		}
		if now, err := b.agent.Bookings.Get("hers"); err != nil || now.Revision != 1 {
			t.Errorf("changed by others: %+v, %v", now, err)
		}
		for who, header := range map[string]string{"its organizer": b.by(t, "mel@example.com"), "an admin": b.by(t, "ann@example.com"),
			"a display": b.by(t, "dis@example.com"), "a key": "X-API-Key: " + systemKey} {
			if got := b.net.do(t, "PATCH", "/bookings/hers", header, `{"title":"by `+who+`"}`); got.StatusCode != 200 {
				t.Errorf("%s: %d %s", who, got.StatusCode, got.body)
			}
		}
	}, roles)
}

// TestHiddenStaysHidden: a display moves a private booking, as anybody at the door may, and
// neither changes what it does not see of it nor reads that in an answer.
func TestHiddenStaysHidden(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		start := time.Now().UTC().Truncate(24 * time.Hour).Add(33 * time.Hour)
		asked := booking.Booking{ID: "hers", SpaceID: aurora, Title: "Redundancies", Private: true, ExternalID: "hr-17", Start: start, End: start.Add(time.Hour),
			Organizer: booking.Person{Name: "Mel", Email: "mel@example.com"}}
		if _, _, err := b.agent.Bookings.Create(t.Context(), asked, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		dis := b.by(t, "dis@example.com")
		seen := ""
		for field, value := range map[string]string{"private": "false", "title": `"Redundancies"`, "organizer": `{"name":"Door","email":"dis@example.com"}`, "external_id": `"hr-17"`} {
			edit := `"` + field + `":` + value
			for what, got := range map[string]answer{
				"PATCH":      b.net.do(t, "PATCH", "/bookings/hers", dis, "{"+edit+"}"),
				"PATCH V2.0": b.net.do(t, "PATCH", "/v2.0/bookings/hers", dis, `{"minutes":30,"start_time":"`+start.Format(time.RFC3339)+`",`+edit+"}"),
				"POST":       b.net.do(t, "POST", "/bookings", dis, `{"id":"hers",`+edit+"}"),
			} {
				checkProblem(t, what+" "+field, got, 403, "forbidden", field)
				seen += got.body
			}
			bulk := b.net.do(t, "POST", "/bookings/bulk", dis, `{"operations":[{"operation":"update","id":"hers",`+edit+`},{"operation":"create","id":"hers",`+edit+`}]}`)
			if seen += bulk.body; strings.Count(bulk.body, `"status":403,"problem"`) != 2 {
				t.Errorf("%s in bulk: %d %s", field, bulk.StatusCode, bulk.body)
			}
		}
		moved := b.net.do(t, "PATCH", "/bookings/hers", dis, `{"start_time":"`+start.Format(time.RFC3339)+`","minutes":30}`)
		if seen += moved.body; moved.StatusCode != 200 {
			t.Errorf("moved: %d %s", moved.StatusCode, moved.body)
		}
		for _, word := range secrets {
			if strings.Contains(seen, word) {
				t.Errorf("the display reads %q in %s", word, seen)
			}
		}
		if got := b.net.do(t, "PATCH", "/bookings/hers", b.by(t, "mel@example.com"), `{"private":false}`); got.StatusCode != 200 || !strings.Contains(got.body, "Redundancies") {
			t.Errorf("its organizer: %d %s", got.StatusCode, got.body)
		}
	}, roles)
}
