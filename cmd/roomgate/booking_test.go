package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/cmd/roomgate/show"
)

// house is a gateway as far as these tests need one: two rooms in Berlin on
// Monday, 23 November 2026, at 10:37. What it is asked to change it writes
// down, and answers with what it is told to.
type house struct {
	*httptest.Server
	t        *testing.T
	bookings []booking.Booking
	asked    string                    // the last change
	refuses  map[string]any            // the problem that it answers changes with
	states   map[string]map[string]any // by space, over the usual one
}

const (
	houseNow = "2026-11-23T09:37:00Z"
	aurora   = "a-1"
	borealis = "b-2"
)

func newHouse(t *testing.T, aurorasDay ...string) *house {
	h := &house{t: t, states: map[string]map[string]any{aurora: {}, borealis: {}}}
	h.Server = httptest.NewServer(h.handler())
	t.Cleanup(h.Close)
	c := berlin(t, houseNow)
	for i, b := range booked(t, c, aurorasDay...) {
		b.ID, b.SpaceID, b.Revision = fmt.Sprintf("01KB%022d", i+1)+"XYZ"[i%3:i%3+1], aurora, 1
		b.Title, b.Organizer = fmt.Sprintf("Meeting %d", i+1), booking.Person{Name: "A. Person", Email: "a@example.org"}
		h.bookings = append(h.bookings, b)
	}
	return h
}

func (h *house) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /gateway/spaces", func(w http.ResponseWriter, _ *http.Request) {
		space := func(id, name string) map[string]any {
			return map[string]any{"id": id, "name": name, "timezone": "Europe/Berlin", "devices": []any{}}
		}
		h.answer(w, 200, map[string]any{"meeting_spaces": []any{space(aurora, "Aurora"), space(borealis, "Borealis")}})
	})
	m.HandleFunc("GET /meetingspace/get_meeting_space", func(w http.ResponseWriter, _ *http.Request) {
		h.answer(w, 200, []any{map[string]any{"id": aurora, "slot_size": 15}, map[string]any{"id": borealis, "slot_size": 15}})
	})
	m.HandleFunc("GET /meetingspace/{id}/state", func(w http.ResponseWriter, r *http.Request) {
		s := map[string]any{"meeting_space_id": r.PathValue("id"), "status": "available", "time": houseNow, "time_trust": "trusted",
			"current": nil, "next": nil, "available_until": nil, "next_available_time": houseNow, "ring": "green", "hold": nil,
			"occupancy": map[string]any{"value": "vacant", "observed_at": "2026-11-23T09:36:48.000Z"}}
		for name, value := range h.states[r.PathValue("id")] {
			s[name] = value
		}
		h.answer(w, 200, map[string]any{"response": s})
	})
	m.HandleFunc("GET /bookings", h.list)
	m.HandleFunc("GET /bookings/{id}", func(w http.ResponseWriter, r *http.Request) {
		i := slices.IndexFunc(h.bookings, func(b booking.Booking) bool { return b.ID == r.PathValue("id") })
		if i < 0 {
			h.answer(w, 404, map[string]any{"detail": "booking_id is not a booking of this building"})
			return
		}
		h.answer(w, 200, h.bookings[i])
	})
	m.HandleFunc("POST /", h.change)
	m.HandleFunc("PATCH /", h.change)
	m.HandleFunc("DELETE /", h.change)
	return m
}

// list answers two to a page.
func (h *house) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, _ := time.Parse(time.RFC3339, q.Get("from"))
	to, err := time.Parse(time.RFC3339, q.Get("to"))
	page, next := []booking.Booking{}, ""
	for _, b := range h.bookings {
		fits := (q.Get("meeting_space_id") == "" || q.Get("meeting_space_id") == b.SpaceID) && b.End.After(from) && (err != nil || b.Start.Before(to))
		switch {
		case !fits || q.Get("cursor") >= b.ID:
		case len(page) == 2:
			next = page[1].ID
		default:
			page = append(page, b)
		}
	}
	h.answer(w, 200, map[string]any{"bookings": page, "next_cursor": next})
}

func (h *house) change(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.asked = strings.TrimSpace(r.Method + " " + r.URL.Path + " " + string(body))
	if h.refuses != nil {
		w.Header().Set("Content-Type", "application/problem+json")
		h.answer(w, h.refuses["status"].(int), h.refuses)
		return
	}
	b := booking.Booking{ID: "01KBNEW", SpaceID: aurora, Title: "Design review", State: booking.Booked, Source: booking.Local}
	b.Start, b.End = time.Date(2026, 11, 23, 13, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 14, 30, 0, 0, time.UTC)
	h.answer(w, 200, b)
}

func (h *house) answer(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		h.t.Error(err)
	}
}

// run runs a command line; what it prints has no blanks at the end of a line.
func (h *house) run(args ...string) (string, error) {
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append(args, "--url", h.URL))
	err := root.ExecuteContext(h.t.Context())
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return "\n" + strings.Join(lines, "\n"), err
}

func asciiTerminal(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	t.Setenv("COLUMNS", "80")
}

func TestBookingList(t *testing.T) {
	asciiTerminal(t)
	h := newHouse(t, "09:00-10:00 ended", "10:00-11:30 checked_in", "12:00-13:00 cancelled", "14:00-15:30 booked")
	h.bookings[3].Private = true
	h.bookings[2].Reason = "nobody came"
	for _, c := range []struct{ args, want string }{
		{"booking list aurora", `
Aurora  Mon 23 Nov 2026  Europe/Berlin
07  08  09  10  11  12  13  14  15  16  17  18  19
........[---[#####..........[=====..................
              ^ 10:37
TIME         TITLE                ORGANIZER  STATE       ID
09:00-10:00  Meeting 1            A. Person  ended       00001X
10:00-11:30  Meeting 2            A. Person  checked_in  00002Y
14:00-15:30  Meeting 4 (private)  A. Person  booked      00004X
1 more cancelled, released or displaced: see --all
`},
		{"booking list a-1 --all --day monday", `
Aurora  Mon 23 Nov 2026  Europe/Berlin
07  08  09  10  11  12  13  14  15  16  17  18  19
........[---[#####..........[=====..................
              ^ 10:37
TIME         TITLE                ORGANIZER  STATE       ID      REASON
09:00-10:00  Meeting 1            A. Person  ended       00001X  -
10:00-11:30  Meeting 2            A. Person  checked_in  00002Y  -
12:00-13:00  Meeting 3            A. Person  cancelled   00003Z  nobody came
14:00-15:30  Meeting 4 (private)  A. Person  booked      00004X  -
`},
		{"booking list --day 2027-03-28", `
Aurora  Sun 28 Mar 2027  Europe/Berlin  (the clocks change: 23 hours)
07  08  09  10  11  12  13  14  15  16  17  18  19
....................................................
no bookings

Borealis  Sun 28 Mar 2027  Europe/Berlin  (the clocks change: 23 hours)
07  08  09  10  11  12  13  14  15  16  17  18  19
....................................................
no bookings
`},
	} {
		if got, err := h.run(strings.Fields(c.args)...); err != nil || got != c.want {
			t.Errorf("%s: %v%swant:%s", c.args, err, got, c.want)
		}
	}
}

func TestBookingListAsJSON(t *testing.T) {
	h := newHouse(t, "09:00-10:00 ended", "14:00-15:30 booked", "16:00-17:00 booked")
	for args, want := range map[string]int{"booking list aurora": 3, "booking list": 3, "booking list borealis": 0, "booking list --day tomorrow": 0} {
		got, err := h.run(append(strings.Fields(args), "--output", "json")...)
		var all []booking.Booking
		if err := errors.Join(err, json.Unmarshal([]byte(got), &all)); err != nil || len(all) != want || all == nil {
			t.Errorf("%s: %v\n%s", args, err, got)
		}
	}
}

// What is typed is what is asked for.
func TestBookingChanges(t *testing.T) {
	h := newHouse(t, "10:00-11:30 checked_in", "14:00-15:30 booked", "22:30-24:00 booked")
	h.states[aurora]["current"] = map[string]any{"id": h.bookings[0].ID}
	h.states[aurora]["next"] = map[string]any{"id": h.bookings[1].ID}
	one, two, three := h.bookings[0].ID, h.bookings[1].ID, h.bookings[2].ID
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"create", "aurora", "14:00", "15:30", "--title", "Design review", "--organizer", "A. Person <a@example.org>", "--private"},
			`POST /bookings {"meeting_space_id":"a-1","title":"Design review","private":true,"organizer":{"name":"A. Person","email":"a@example.org"},` +
				`"start_time":"2026-11-23T13:00:00Z","end_time":"2026-11-23T14:30:00Z"}`},
		{[]string{"create", "aurora", "14:00", "45m", "--day", "tomorrow"},
			`POST /bookings {"meeting_space_id":"a-1","start_time":"2026-11-24T13:00:00Z","end_time":"2026-11-24T13:45:00Z"}`},
		{[]string{"create", "aurora", "2026-07-01T14:00:00-04:00", "+1h"},
			`POST /bookings {"meeting_space_id":"a-1","start_time":"2026-07-01T18:00:00Z","end_time":"2026-07-01T19:00:00Z"}`},
		{[]string{"create", "aurora", "+2h", "13:15"},
			`POST /bookings {"meeting_space_id":"a-1","start_time":"2026-11-23T11:45:00Z","end_time":"2026-11-23T12:15:00Z"}`},
		{[]string{"create", "aurora", "now"}, `POST /bookings {"meeting_space_id":"a-1","source":"walk_up"}`},
		{[]string{"create", "aurora", "now", "30m"}, `POST /bookings {"meeting_space_id":"a-1","start_time":"2026-11-23T09:37:00Z","end_time":"2026-11-23T10:07:00Z","source":"walk_up"}`},
		{[]string{"create", "aurora", "now", "11:30"}, `POST /bookings {"meeting_space_id":"a-1","start_time":"2026-11-23T09:37:00Z","end_time":"2026-11-23T10:30:00Z","source":"walk_up"}`},
		{[]string{"update", "0002y", "--title", ""}, `PATCH /bookings/` + two + ` {"title":""}`},
		{[]string{"update", "0002y", "--private=false", "--organizer", "b@example.org"},
			`PATCH /bookings/` + two + ` {"private":false,"organizer":{"name":"","email":"b@example.org"}}`},
		{[]string{"update", "0002Y", "--start", "15:00", "--end", "30m"},
			`PATCH /bookings/` + two + ` {"start_time":"2026-11-23T14:00:00Z","end_time":"2026-11-23T14:30:00Z"}`},
		{[]string{"update", two, "--end", "16:00"}, `PATCH /bookings/` + two + ` {"end_time":"2026-11-23T15:00:00Z"}`},
		{[]string{"update", three, "--day", "tuesday"},
			`PATCH /bookings/` + three + ` {"start_time":"2026-11-24T21:30:00Z","end_time":"2026-11-24T23:00:00Z"}`},
		{[]string{"cancel", two}, `DELETE /bookings/` + two},
		{[]string{"check-in", "aurora"}, `POST /bookings/` + one + `/check-in`},
		{[]string{"extend", "AURORA"}, `POST /bookings/` + one + `/extend {"minutes":15}`},
		{[]string{"extend", "0002Y", "1h"}, `POST /bookings/` + two + `/extend {"minutes":60}`},
		{[]string{"extend", "0002Y", "16:00"}, `POST /bookings/` + two + `/extend {"end_time":"2026-11-23T15:00:00Z"}`},
		{[]string{"end", "aurora"}, `POST /bookings/` + one + `/end`},
	} {
		got, err := h.run(append([]string{"booking"}, c.args...)...)
		const line = "\nbooked  Aurora  Mon 23 Nov 2026 14:00-15:30  Design review  -  01KBNEW\n"
		if err != nil || h.asked != c.want || got != line {
			t.Errorf("%s: %v\n%s\nwant\n%s\nprinted %s", c.args, err, h.asked, c.want, got)
		}
	}
	if got, err := h.run("booking", "end", "aurora", "--output", "json"); err != nil || !strings.Contains(got, `"id": "01KBNEW"`) {
		t.Errorf("%v: %s", err, got)
	}
}

// What cannot be meant is not asked for.
func TestBookingWords(t *testing.T) {
	h := newHouse(t, "10:00-11:30 checked_in", "14:00-15:30 booked", "15:30-16:00 booked", "16:00-17:00 booked")
	h.bookings[2].ID = "other-" + h.bookings[1].ID
	for args, want := range map[string]int{
		"create nowhere now": exitRefused, "create aurora 14:00": exitUsage, "create aurora soon 15:00": exitUsage,
		"create aurora now --day tomorrow": exitUsage, "create aurora 14:00 30": exitUsage, "create aurora 02:30 30m --day 2026-03-29": exitUsage,
		"create aurora now 0m": exitUsage, "create aurora 14:00 15:00 --day someday": exitUsage,
		"update 0001X": exitUsage, "update 0001X --start later": exitUsage, "update 0001X --day 2026-02-30": exitUsage,
		"cancel 01X": exitUsage, "cancel nothing": exitRefused, "cancel 00002Y": exitRefused, "end aurora": exitRefused, "extend 0001X 15": exitUsage,
		"list aurora --day 30": exitUsage,
	} {
		h.asked = ""
		_, err := h.run(append([]string{"booking"}, strings.Fields(args)...)...)
		var f *fault
		if !errors.As(err, &f) || f.code != want || h.asked != "" {
			t.Errorf("%s: %v, want code %d; asked %q", args, err, want, h.asked)
		}
	}
	_, err := h.run("booking", "cancel", "00002Y")
	if err == nil || err.Error() != `2 bookings end in "00002Y": `+h.bookings[1].ID+", "+h.bookings[2].ID+": give more of the id" {
		t.Errorf("got %v", err)
	}
}

// A refusal speaks of the room's time, and says what to do.
func TestBookingRefusals(t *testing.T) {
	h := newHouse(t, "10:00-11:30 checked_in", "14:00-15:30 booked", "15:30-16:07 booked")
	h.states[aurora]["current"] = map[string]any{"id": h.bookings[0].ID}
	conflict := map[string]any{"status": 409, "code": "conflict", "field": "start_time", "detail": "start_time is not free",
		"conflict": map[string]any{"start_time": "2026-11-23T13:00:00.000Z", "end_time": "2026-11-23T14:30:00.000Z"}}
	hold := map[string]any{"status": 409, "detail": "start_time is not free", "conflict": map[string]any{"start_time": "2026-11-24T13:00:00.000Z", "end_time": nil}}
	problem := func(status int, field, detail string) map[string]any {
		return map[string]any{"status": status, "field": field, "detail": detail}
	}
	for _, c := range []struct {
		args    string
		refuses map[string]any
		want    string
	}{
		{"create aurora 14:30 15:30", conflict, "Aurora is taken from 14:00 to 15:30: take 16:15 to 17:15, or Borealis from 14:30 to 15:30"},
		{"create aurora now 4h", conflict, "Aurora is taken from 14:00 to 15:30: take 16:15 to 20:15, or Borealis from 10:37 to 14:37"},
		{"create aurora 14:30 9h", conflict, "Aurora is taken from 14:00 to 15:30: take Borealis from 14:30 to 23:30"},
		{"create aurora 14:30 1h --day tomorrow", hold, "Aurora is taken from Tue 14:00 on: choose another room"},
		{"extend aurora 3h", conflict, "Aurora is taken from 14:00 to 15:30: this one can end at 14:00 at the latest"},
		{"update aurora --end 14:15", conflict, "Aurora is taken from 14:00 to 15:30: take 16:15 to 20:30, or Borealis from 10:00 to 14:15"},
		{"check-in 00002Y", problem(409, "", "it is too early: check-in opens at 2026-11-23T12:50Z"), "it is too early: check-in opens at 13:50"},
		{"create aurora 08:00 09:00", problem(422, "start_time", "start_time is past: the current slot may be booked, none before it"),
			"start_time is past (it is 10:37 there): the current slot may be booked, none before it; --day takes another day"},
		{"create aurora 22:00 01:00", problem(422, "end_time", "end_time is before start_time"), "end_time is before start_time: over midnight give a length, as 2h"},
	} {
		h.refuses = c.refuses
		_, err := h.run(append([]string{"booking"}, strings.Fields(c.args)...)...)
		var f *fault
		if !errors.As(err, &f) || f.code != exitRefused || err.Error() != c.want {
			t.Errorf("%s:\n%v\nwant\n%s", c.args, err, c.want)
		}
	}
	h.refuses = map[string]any{"status": 507, "detail": "the gateway's storage is full"}
	var f *fault
	if _, err := h.run("booking", "end", "aurora"); !errors.As(err, &f) || f.code != exitFailed {
		t.Errorf("a full disk: %v", err)
	}
}

func TestShortIDs(t *testing.T) {
	ids := []string{"k1234567890", "k2234567890", "abc", "01KBZZZZQ4RDX7", "b-0"}
	all := make([]booking.Booking, len(ids))
	for i, id := range ids {
		all[i].ID = id
	}
	got := shortIDs(all)
	want := map[string]string{ids[0]: "1234567890", ids[1]: "2234567890", "abc": "abc", ids[3]: "Q4RDX7", "b-0": "b-0"}
	for id, short := range want {
		if got[id] != short {
			t.Errorf("%s is shown as %q, want %q", id, got[id], short)
		}
	}
}

func FuzzPerson(f *testing.F) {
	for _, seed := range []string{"A. Person <a@example.org>", "a@example.org", `"Person, A." <a@example.org>`, "A. Person", "<", "a <b> c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := parsePerson(text)
		if again := parsePerson(p.Name + " <" + p.Email + ">"); p.Name != "" && p.Email != "" && again != p {
			t.Errorf("%q is %+v, read again %+v", text, p, again)
		}
	})
}

func TestPerson(t *testing.T) {
	for text, want := range map[string]booking.Person{
		"A. Person <a@example.org>":       {Name: "A. Person", Email: "a@example.org"},
		`"Person, A."  < a@example.org >`: {Name: "Person, A.", Email: "a@example.org"},
		"<a@example.org>":                 {Email: "a@example.org"},
		" a@example.org":                  {Email: "a@example.org"},
		"A. Person":                       {Name: "A. Person"},
		"":                                {},
	} {
		if got := parsePerson(text); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

// berlin is the clock of the house; now is RFC 3339.
func berlin(t *testing.T, now string) show.Clock {
	t.Helper()
	zone, err1 := time.LoadLocation("Europe/Berlin")
	at, err2 := time.Parse(time.RFC3339, now)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return show.Clock{Zone: zone, Now: at}
}

// booked is what is booked today: "10:00-11:00 checked_in".
func booked(t *testing.T, c show.Clock, texts ...string) (all []booking.Booking) {
	t.Helper()
	for _, text := range texts {
		times, state, _ := strings.Cut(text, " ")
		from, until, _ := strings.Cut(times, "-")
		start, err1 := c.At(from, c.Today())
		end, err2 := c.At(until, c.Today())
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		all = append(all, booking.Booking{State: booking.State(state), Start: start, End: end})
	}
	return all
}

// Why a booking has lost its room is said by the clock of the room.
func TestReasonOfABookingByTheClockOfItsRoom(t *testing.T) {
	at := time.Date(2026, 11, 23, 13, 0, 0, 0, time.UTC)
	r := room{clock: show.Clock{Zone: time.FixedZone("CET", 3600), Now: at}}
	line := r.line(booking.Booking{ID: "b", State: booking.Displaced, Start: at, End: at.Add(time.Hour),
		Reason: "another booking has the right to the room: 2026-11-23 13:30 to 14:30 UTC"})
	if want := "displaced (another booking has the right to the room: Mon 23 Nov 14:30 to 15:30)  "; !strings.HasPrefix(line, want) {
		t.Errorf("%q, want %q", line, want)
	}
}
