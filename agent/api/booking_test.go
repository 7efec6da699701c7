package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/goldentest"
)

// booked is a booking as a client reads it.
type booked struct {
	ID         string  `json:"id"`
	SpaceID    string  `json:"meeting_space_id"`
	Title      string  `json:"title"`
	Start      string  `json:"start_time"`
	End        string  `json:"end_time"`
	State      string  `json:"state"`
	Revision   int     `json:"revision"`
	Source     string  `json:"source"`
	CheckedIn  *string `json:"checked_in_at"`
	PlannedEnd *string `json:"planned_end_time"`
}

// UnmarshalJSON lets tests read what moments are written as.
func (m *moment) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*time.Time)(m)) }

// at is a time of the day on which virtual time begins.
func at(clock string) string { return "2000-01-01T" + clock + ":00.000Z" }

// meeting is a request for Aurora.
func meeting(from, to, more string) string {
	return `{"meeting_space_id":"` + aurora + `","start_time":"` + at(from) + `","end_time":"` + at(to) + `"` + more + `}`
}

// done sends a request about a booking that has to succeed.
func (b *building) done(status int, method, path string, parts ...string) (answer, booked) {
	b.t.Helper()
	got := b.ask(method, path, parts...)
	var is booked
	if err := json.Unmarshal([]byte(got.body), &is); err != nil || got.StatusCode != status {
		b.t.Fatalf("%s %s %v: %d %s", method, path, parts, got.StatusCode, got.body)
	}
	if want := fmt.Sprintf(`"%d"`, is.Revision); got.Header.Get("ETag") != want {
		b.t.Errorf("%s %s: ETag is %s, want %s", method, path, got.Header.Get("ETag"), want)
	}
	return got, is
}

func (b *building) book(body string, headers ...string) booked {
	b.t.Helper()
	_, is := b.done(201, "POST", "/bookings", append(headers, body)...)
	return is
}

// list is every booking there is, as it is shown.
func (b *building) list() string {
	b.t.Helper()
	return b.ask("GET", "/bookings?from=1970-01-02T00:00:00Z").body
}

func TestBookingRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		full := func(member string) string { return meeting("10:00", "11:00", ","+member) }
		for _, c := range []struct{ name, body, field string }{
			{"end before start", meeting("11:00", "10:00", ""), "end_time"},
			{"zero length", meeting("10:00", "10:00", ""), "end_time"},
			{"too short", `{"meeting_space_id":"` + aurora + `","start_time":"` + at("10:00") + `","minutes":1}`, "end_time"},
			{"too long", `{"meeting_space_id":"` + aurora + `","start_time":"` + at("10:00") + `","minutes":1500}`, "end_time"},
			{"start off grid", meeting("10:05", "11:00", ""), "start_time"},
			{"end off grid", meeting("10:00", "10:50", ""), "end_time"},
			{"off grid by a second", strings.Replace(meeting("10:00", "11:00", ""), "10:00:00", "10:00:01", 1), "start_time"},
			{"past", strings.ReplaceAll(meeting("10:00", "11:00", ""), "2000-", "1999-"), "start_time"},
			{"beyond the horizon", strings.ReplaceAll(meeting("10:00", "11:00", ""), "2000-01", "2000-08"), "start_time"},
			{"no zone", strings.Replace(meeting("10:00", "11:00", ""), ".000Z", "", 1), "start_time"},
			{"no time", strings.Replace(meeting("10:00", "11:00", ""), at("11:00"), "noon", 1), "end_time"},
			{"a day", strings.Replace(meeting("10:00", "11:00", ""), at("11:00"), "2000-01-01", 1), "end_time"},
			{"no such day", strings.ReplaceAll(meeting("10:00", "11:00", ""), "2000-01-01", "2001-02-29"), "start_time"},
			{"year one", strings.Replace(meeting("10:00", "11:00", ""), "2000-", "0001-", 1), "start_time"},
			{"year 9999", strings.Replace(meeting("10:00", "11:00", ""), at("11:00"), "9999-12-31T23:59:59-12:00", 1), "end_time"},
			{"time is a number", strings.Replace(meeting("10:00", "11:00", ""), `"`+at("11:00")+`"`, "36000", 1), "end_time"},
			{"no space", `{"start_time":"` + at("10:00") + `","minutes":30}`, "meeting_space_id"},
			{"no start", `{"meeting_space_id":"` + aurora + `","minutes":30}`, "start_time"},
			{"no end", `{"meeting_space_id":"` + aurora + `","start_time":"` + at("10:00") + `"}`, "end_time"},
			{"end is null", `{"meeting_space_id":"` + aurora + `","start_time":"` + at("10:00") + `","end_time":null}`, "end_time"},
			{"end and minutes", full(`"minutes":30`), "minutes"},
			{"no minutes", `{"meeting_space_id":"` + aurora + `","start_time":"` + at("10:00") + `","minutes":0}`, "minutes"},
			{"too many minutes", `{"meeting_space_id":"` + aurora + `","start_time":"` + at("10:00") + `","minutes":9223372036854775807}`, "minutes"},
			{"half a minute", `{"meeting_space_id":"` + aurora + `","start_time":"` + at("10:00") + `","minutes":30.5}`, "minutes"},
			{"unknown field", full(`"room":"3.07"`), "room"},
			{"field of the record", full(`"state":"checked_in"`), "state"},
			{"field twice", full(`"title":"a","title":"b"`), "title"},
			{"title is a number", full(`"title":1`), "title"},
			{"title too long", full(`"title":"` + strings.Repeat("x", 501) + `"`), "title"},
			{"private is text", full(`"private":"yes"`), "private"},
			{"organizer is text", full(`"organizer":"Ada"`), "organizer"},
			{"unknown of organizer", full(`"organizer":{"phone":"1"}`), "organizer.phone"},
			{"name is a list", full(`"organizer":{"name":[]}`), "organizer.name"},
			{"no address", full(`"organizer":{"email":"nobody"}`), "organizer.email"},
			{"source of others", full(`"source":"cloud"`), "source"},
			{"no id", full(`"id":""`), "id"},
			{"id that is a path", full(`"id":"../x"`), "id"},
			{"walk-up too long", `{"meeting_space_id":"` + aurora + `","source":"walk_up","minutes":121}`, "end_time"},
			{"walk-up of the past", `{"meeting_space_id":"` + aurora + `","source":"walk_up","end_time":"1999-12-31T23:00:00Z"}`, "end_time"},
		} {
			checkProblem(t, c.name, b.ask("POST", "/bookings", c.body), 422, "invalid", c.field)
		}
		checkProblem(t, "unknown space", b.ask("POST", "/bookings", strings.Replace(full(`"title":""`), aurora, nowhere, 1)), 404, "not_found", "meeting_space_id")
		checkProblem(t, "not JSON", b.ask("POST", "/bookings", `title=x`), 400, "malformed", "")
		checkProblem(t, "empty", b.ask("POST", "/bookings", ` `), 400, "malformed", "")
		if got := b.list(); got != `{"bookings":[]}` {
			t.Errorf("a refused booking is there: %s", got)
		}
	})
}

// TestTakenTime: the answer tells the time that is in the way, and nothing of
// whose it is.
func TestTakenTime(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.book(meeting("10:00", "11:00", `,"id":"the-id","title":"the-title","organizer":{"name":"the-name","email":"the@mail.example"}`))
		before := b.list()
		for _, c := range []struct{ from, to string }{{"10:00", "11:00"}, {"09:45", "10:15"}, {"10:45", "11:15"}, {"10:15", "10:30"}, {"09:00", "12:00"}} {
			got := b.ask("POST", "/bookings", meeting(c.from, c.to, ""))
			p := checkProblem(t, c.from, got, 409, "conflict", "start_time")
			if !strings.Contains(got.body, `"conflict":{"start_time":"2000-01-01T10:00:00.000Z","end_time":"2000-01-01T11:00:00.000Z"}`) {
				t.Errorf("%s: conflict is not told: %s", c.from, got.body)
			}
			if strings.Contains(strings.ReplaceAll(got.body, p.Type, ""), "the-") || strings.Contains(got.body, "the@") {
				t.Errorf("%s: it tells whose it is: %s", c.from, got.body)
			}
		}
		if after := b.list(); after != before {
			t.Errorf("a refused booking changed something:\n%s\n%s", before, after)
		}
		b.book(meeting("09:00", "10:00", "")) // half-open, so these only touch
		b.book(meeting("11:00", "12:00", ""))
		b.book(strings.Replace(meeting("10:00", "11:00", ""), aurora, borealis, 1))
	})
}

func TestBookingIsAnsweredInUTC(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, root := range []string{"", "/v1.0"} {
			body := `{"meeting_space_id":"` + aurora + `","start_time":"2000-01-02T10:00:00.000499+05:30","end_time":"2000-01-02T11:00:00+05:30","title":"a"}`
			got, is := b.done(201, "POST", root+"/bookings", body)
			goldentest.Values(t, "booked", goldentest.Pairs{"Start": {is.Start, "2000-01-02T04:30:00.000Z"},
				"End": {is.End, "2000-01-02T05:30:00.000Z"}, "Revision": {is.Revision, 1}, "State": {is.State, "booked"},
				"Source": {is.Source, "local"}})
			if where := got.Header.Get("Location"); where != root+"/bookings/"+is.ID {
				t.Errorf("it is at %s", where)
			}
			read, _ := b.done(200, "GET", got.Header.Get("Location"))
			if read.body != got.body || read.Header.Get("ETag") != got.Header.Get("ETag") {
				t.Errorf("read as %s, booked as %s", read.body, got.body)
			}
			_, gone := b.done(200, "DELETE", got.Header.Get("Location"))
			if gone.State != "cancelled" || gone.Revision != 2 {
				t.Errorf("cancelled: %+v", gone)
			}
		}
		checkProblem(t, "unknown", b.ask("GET", "/bookings/none"), 404, "not_found", "booking_id")
	})
}

func TestBookingRevision(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		is := b.book(meeting("10:00", "11:00", `,"title":"one"`))
		path := "/bookings/" + is.ID
		b.done(200, "PATCH", path, `If-Match: "1"`, `{"title":"two"}`)
		for _, stale := range []string{`"1"`, `"0"`, `"3"`, `2`, `W/"2"`, `"two"`, `""`, `"1", "2"`, `"-2"`} {
			for _, c := range []struct{ method, path, body string }{{"PATCH", path, `{"title":"three"}`}, {"DELETE", path, ""},
				{"POST", path + "/extend", ""}, {"POST", "/bookings", meeting("10:00", "11:00", `,"id":"`+is.ID+`","title":"three"`)}} {
				checkProblem(t, c.method+stale, b.ask(c.method, c.path, "If-Match: "+stale, c.body), 412, "revision_mismatch", "If-Match")
			}
		}
		checkProblem(t, "one that is to be made", b.ask("POST", "/bookings", `If-Match: "1"`, meeting("12:00", "13:00", "")), 412, "revision_mismatch", "If-Match")
		if _, is = b.done(200, "PATCH", path, `If-Match: *`, `{"title":"three"}`); is.Title != "three" || is.Revision != 3 {
			t.Errorf("any revision: %+v", is)
		}
		if _, is = b.done(200, "PATCH", path, `If-Match: "3"`, `{"title":"three"}`); is.Revision != 3 {
			t.Errorf("what changes nothing has a new revision: %+v", is)
		}
		b.done(200, "DELETE", path, `If-Match: "3"`)
	})
}

func TestUpdateRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := "/bookings/" + b.book(meeting("10:00", "11:00", "")).ID
		b.book(meeting("12:00", "13:00", ""))
		before := b.list()
		for _, c := range []struct {
			body   string
			status int
			code   string
			field  string
		}{
			{`{"start_time":"` + at("12:30") + `","end_time":"` + at("13:30") + `"}`, 409, "conflict", "start_time"},
			{`{"end_time":"` + at("10:00") + `"}`, 422, "invalid", "end_time"},
			{`{"minutes":30}`, 422, "invalid", "minutes"},
			{`{"meeting_space_id":"` + borealis + `"}`, 422, "invalid", "meeting_space_id"},
			{`{"organizer":{"email":"@"}}`, 422, "invalid", "organizer.email"},
			{`[]`, 400, "malformed", ""},
			{``, 400, "malformed", ""},
		} {
			checkProblem(t, c.body, b.ask("PATCH", path, c.body), c.status, c.code, c.field)
		}
		checkProblem(t, "unknown", b.ask("PATCH", "/bookings/none", `{}`), 404, "not_found", "booking_id")
		for _, operation := range []string{"check-in", "extend", "end"} {
			checkProblem(t, operation, b.ask("POST", path+"/"+operation, `{"now":true}`), 422, "invalid", "now")
			checkProblem(t, operation, b.ask("POST", path+"/"+operation), 409, "not_now", "")
			checkProblem(t, operation, b.ask("POST", "/bookings/none/"+operation), 404, "not_found", "booking_id")
		}
		for body, field := range map[string]string{`{"minutes":0}`: "minutes", `{"minutes":15,"end_time":"` + at("11:30") + `"}`: "minutes",
			`{"end_time":"soon"}`: "end_time", `{"until":"x"}`: "until"} {
			checkProblem(t, body, b.ask("POST", path+"/extend", body), 422, "invalid", field)
		}
		if after := b.list(); after != before {
			t.Errorf("a refused change changed something:\n%s\n%s", before, after)
		}
	})
}

// TestCreateOrUpdate is V1.0's one operation for both.
func TestCreateOrUpdate(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.book(meeting("10:00", "11:00", `,"id":"erp-1","title":"one","private":true`))
		got, is := b.done(200, "POST", "/v1.0/bookings", `{"id":"erp-1","title":"two","start_time":"`+at("10:30")+`","minutes":60}`)
		goldentest.Values(t, "changed", goldentest.Pairs{"Title": {is.Title, "two"}, "Start": {is.Start, at("10:30")},
			"End": {is.End, at("11:30")}, "Revision": {is.Revision, 2},
			`"private":true`: {strings.Contains(got.body, `"private":true`), true}})
		if got.Header.Get("Location") != "" {
			t.Error("what was there has a Location")
		}
		for body, field := range map[string]string{
			`{"id":"erp-1","meeting_space_id":"` + borealis + `"}`: "meeting_space_id",
			`{"id":"erp-1","source":"walk_up"}`:                    "source",
			`{"id":"erp-1","end_time":"` + at("10:00") + `"}`:      "end_time",
		} {
			checkProblem(t, body, b.ask("POST", "/bookings", body), 422, "invalid", field)
		}
		again, _ := b.done(200, "POST", "/bookings", "Idempotency-Key: k", meeting("10:30", "11:30", `,"id":"erp-1","title":"two"`))
		if again.body != got.body {
			t.Errorf("again: %s, want %s", again.body, got.body)
		}
	})
}

func TestBookingIdempotencyKey(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		body := meeting("10:00", "11:00", `,"title":"one"`)
		first := b.book(body, "Idempotency-Key: k-1")
		_, again := b.done(200, "POST", "/bookings", "Idempotency-Key: k-1", body)
		if again.ID != first.ID || again.Revision != first.Revision {
			t.Errorf("again: %+v, want %+v", again, first)
		}
		checkProblem(t, "another booking", b.ask("POST", "/bookings", "Idempotency-Key: k-1", meeting("14:00", "15:00", "")), 422, "invalid", "Idempotency-Key")
		checkProblem(t, "bad key", b.ask("POST", "/bookings", "Idempotency-Key: a b", body), 422, "invalid", "Idempotency-Key")
		_, secret, err := b.agent.Access.CreateKey(t.Context(), "other", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		other := b.net.do(t, "POST", "/bookings", "Idempotency-Key: k-1", "X-API-Key: "+secret, meeting("14:00", "15:00", ""))
		if other.StatusCode != 201 {
			t.Errorf("the same key of another caller: %d %s", other.StatusCode, other.body)
		}
		walkUp := `{"meeting_space_id":"` + borealis + `","source":"walk_up","minutes":20}`
		first = b.book(walkUp, "Idempotency-Key: w")
		time.Sleep(90 * time.Second)
		if _, again = b.done(200, "POST", "/bookings", "Idempotency-Key: w", walkUp); again.ID != first.ID || again.Start != first.Start {
			t.Errorf("walk-up again: %+v, want %+v", again, first)
		}
		longer := strings.Replace(walkUp, "20", "40", 1)
		checkProblem(t, "a longer walk-up", b.ask("POST", "/bookings", "Idempotency-Key: w", longer), 422, "invalid", "Idempotency-Key")
	})
}

// TestMeeting lives through one: it is too early, then it is checked in,
// extended, not extended, and ended.
func TestMeeting(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		is := b.book(meeting("00:15", "00:30", ""))
		b.book(meeting("01:00", "02:00", ""))
		path := "/bookings/" + is.ID
		early := checkProblem(t, "too early", b.ask("POST", path+"/check-in"), 409, "not_now", "")
		if !strings.Contains(early.Detail, "too early") {
			t.Errorf("it says %q", early.Detail)
		}
		time.Sleep(6 * time.Minute)
		if _, is = b.done(200, "POST", path+"/check-in", "{}"); is.State != "checked_in" || is.CheckedIn == nil {
			t.Errorf("checked in: %+v", is)
		}
		b.done(200, "POST", path+"/check-in", `If-Match: "2"`)
		checkProblem(t, "extended to the end it has", b.ask("POST", path+"/extend", `{"end_time":"`+at("00:30")+`"}`), 422, "invalid", "end_time")
		if _, is = b.done(200, "POST", path+"/extend"); is.End != at("00:45") || is.PlannedEnd == nil || *is.PlannedEnd != at("00:30") {
			t.Errorf("extended: %+v", is)
		}
		got := b.ask("POST", path+"/extend", `{"minutes":30}`)
		checkProblem(t, "the next meeting stands", got, 409, "conflict", "end_time")
		if !strings.Contains(got.body, `"conflict":{"start_time":"`+at("01:00")+`"`) {
			t.Errorf("it does not say when: %s", got.body)
		}
		b.done(200, "POST", path+"/extend", `{"end_time":"2000-01-01T02:00:00+01:00"}`)
		time.Sleep(14 * time.Minute)
		if _, is = b.done(200, "POST", path+"/end"); is.State != "ended" || is.PlannedEnd == nil || is.End >= at("00:30") {
			t.Errorf("ended: %+v", is)
		}
		checkProblem(t, "over", b.ask("POST", path+"/extend"), 409, "not_now", "")
		checkProblem(t, "over", b.ask("PATCH", path, `{"title":"x"}`), 409, "not_now", "")
	})
}

func TestWalkUp(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.book(meeting("00:15", "00:45", ""))
		is := b.book(`{"meeting_space_id":"` + aurora + `","source":"walk_up"}`)
		if is.State != "checked_in" || is.Source != "walk_up" || is.CheckedIn == nil || is.End != at("00:15") {
			t.Errorf("it gives way to the next: %+v", is)
		}
		other := b.book(`{"meeting_space_id":"` + borealis + `","source":"walk_up","title":"x"}`)
		start, _ := time.Parse(time.RFC3339, other.Start)
		end, _ := time.Parse(time.RFC3339, other.End)
		if end.Sub(start) != 30*time.Minute || time.Since(start) > time.Minute {
			t.Errorf("it takes half an hour from now: %+v", other)
		}
		checkProblem(t, "occupied", b.ask("POST", "/bookings", `{"meeting_space_id":"`+borealis+`","source":"walk_up","minutes":10}`), 409, "conflict", "start_time")
	})
}

// TestFullStore: what cannot be kept is refused by that name, is not there,
// and what was kept is still answered.
func TestFullStore(t *testing.T) {
	const budget = 1 << 20
	inBuilding(t, func(t *testing.T, b *building) {
		title := strings.Repeat("x", 500)
		day := time.Now().UTC().Truncate(24 * time.Hour)
		for i := range 4000 {
			start := day.Add(24*time.Hour + time.Duration(i)*time.Hour).Format(time.RFC3339)
			got := b.ask("POST", "/bookings", fmt.Sprintf(`{"id":"b%d","meeting_space_id":"%s","start_time":"%s","minutes":60,"title":"%s"}`, i, aurora, start, title))
			if got.StatusCode == 201 {
				continue
			}
			checkProblem(t, "full", got, 507, "storage_full", "")
			checkProblem(t, "what was refused", b.ask("GET", fmt.Sprintf("/bookings/b%d", i)), 404, "not_found", "booking_id")
			b.done(200, "GET", fmt.Sprintf("/bookings/b%d", i-1))
			if got := b.sign("/meetingspace/" + aurora + "/state"); got.Next == nil || got.Next.ID != "b0" {
				t.Errorf("the state is %+v", got)
			}
			return
		}
		t.Error("it is never full")
	}, func(c *config.Config) { c.Store.MaxSize = budget })
}

// TestBookingOfTheSystemKey names the organization of its meeting space, and no address where none was given.
func TestBookingOfTheSystemKey(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for i, path := range []string{"/bookings", "/v2.0/bookings"} {
			start := fmt.Sprintf("1%d:00", i)
			got := b.ask("POST", path, meeting(start, fmt.Sprintf("1%d:30", i), `,"organizer":{"name":"Ada"}`))
			if want := `"organization_id":"` + auroraOrg + `"`; got.StatusCode != 201 || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d %s, want %s", path, got.StatusCode, got.body, want)
			}
			if literal := i == 0; strings.Contains(got.body, `"email":""`) != literal {
				t.Errorf("%s: %s", path, got.body)
			}
		}
	})
}
