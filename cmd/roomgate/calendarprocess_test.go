//go:build integration && faults

package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
)

// calendarServer is an external calendar, and what goes wrong with it.
type calendarServer struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	body   string
	asked  int
}

func startCalendar(t *testing.T) *calendarServer {
	t.Helper()
	s := &calendarServer{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		w.Header().Set("Content-Type", "text/calendar")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.body)
	}))
	t.Cleanup(s.Close)
	return s
}

// answers sets what the calendar answers from now on, and says how often it was asked before.
func (s *calendarServer) answers(status int, body string) (before int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body = status, body
	return s.asked
}

func (s *calendarServer) askedSince(before int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked > before
}

// meetings are a calendar of these, one after the other from the same hour of tomorrow on. One in small letters is called off.
func meetings(names string) string {
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(30 * time.Hour)
	b := strings.Builder{}
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n")
	for _, c := range names {
		name := strings.ToUpper(string(c))
		at := day.Add(time.Duration(name[0]-'A') * time.Hour)
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nUID:%s\r\nDTSTART:%s\r\nDTEND:%s\r\nSUMMARY:%s\r\n", name, at.Format("20060102T150405Z"), at.Add(time.Hour).Format("20060102T150405Z"), name)
		if name != string(c) {
			b.WriteString("STATUS:CANCELLED\r\n")
		}
		b.WriteString("END:VEVENT\r\n")
	}
	return b.String() + "END:VCALENDAR\r\n"
}

// follow lets the gateway read a calendar, now.
func (d *badDisk) follow(s *calendarServer, status int, body string) {
	d.t.Helper()
	before := s.answers(status, body)
	path := "/meetingspace/" + demoRoom + "/calendar"
	if got, err := d.call(http.MethodPost, path, map[string]string{"url": s.URL + "/room.ics"}, nil); err != nil || got != http.StatusOK {
		d.t.Fatalf("%s: %d, %v", path, got, err)
	}
	awaitThat(d.t, "the calendar is read", func() bool { return s.askedSince(before) })
}

// doubts says that the link to the calendar shows what is wrong with it.
func (d *badDisk) doubts() bool {
	var link struct {
		Response struct {
			Error    string   `json:"error"`
			Problems []string `json:"problems"`
		} `json:"response"`
	}
	status, err := d.call(http.MethodGet, "/meetingspace/"+demoRoom+"/calendar", nil, &link)
	return err == nil && status == http.StatusOK && (link.Response.Error != "" || len(link.Response.Problems) > 0)
}

// remove asks for something to be taken away.
func (d *badDisk) remove(path string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodDelete, d.base+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("X-API-Key", crashKey)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode >= 300 {
		d.t.Fatalf("DELETE %s: %d", path, got.StatusCode)
	}
}

// booked are the meetings that the room is booked for, as "ABC".
func (d *badDisk) booked() string {
	d.t.Helper()
	var titles []string
	for _, b := range d.plan(demoRoom) {
		if b.State == booking.Booked {
			titles = append(titles, b.Title)
		}
	}
	slices.Sort(titles)
	return strings.Join(titles, "")
}

// TestCalendarOfAGateway: whatever its calendar answers for a while, a room is booked for what it names, as soon as it names it again,
// and not for what people took back here.
func TestCalendarOfAGateway(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{arguments: []string{"--allow-loopback", "--cloud", "mqtt://" + freeAddress(t)}})
	calendar := startCalendar(t)
	all := meetings("ABCDEFG")
	d.follow(calendar, http.StatusOK, all)
	awaitThat(t, "all are booked", func() bool { return d.booked() == "ABCDEFG" })
	for id, b := range d.plan(demoRoom) {
		if b.Title == "G" {
			d.remove("/bookings/" + id)
		}
	}
	const rest = "ABCDEF" // people took G back
	faults := map[string]struct {
		status int
		body   string
		during string
	}{
		"one is missing":    {http.StatusOK, meetings("BCDEFG"), "BCDEF"},
		"two are missing":   {http.StatusOK, meetings("ABCEG"), "ABCE"},
		"one is called off": {http.StatusOK, meetings("ABcDEFG"), "ABDEF"},
		"most are missing":  {http.StatusOK, meetings("AG"), rest}, // doubted for an hour
		"nothing is there":  {http.StatusOK, meetings(""), rest},
		"it is cut":         {http.StatusOK, all[:len(all)/2], rest},
		"it is another":     {http.StatusOK, "<html>log in</html>", rest},
		"it is not there":   {http.StatusNotFound, "", rest},
		"its server fails":  {http.StatusBadGateway, "", rest},
	}
	injected := 0
	again := func(what string) {
		t.Helper()
		injected++
		began := time.Now()
		d.follow(calendar, http.StatusOK, all)
		awaitThat(t, what+", and all is well again", func() bool { return d.booked() == rest && !d.doubts() })
		d.longest = max(d.longest, time.Since(began))
	}
	for _, what := range slices.Sorted(maps.Keys(faults)) {
		c := faults[what]
		d.follow(calendar, c.status, c.body)
		if c.during == rest { // it is believed not to be so, and that is said
			awaitThat(t, what+": the link says that something is wrong", d.doubts)
		}
		awaitThat(t, what+": the room has "+c.during, func() bool { return d.booked() == c.during })
		again(what)
	}
	d.follow(calendar, http.StatusOK, meetings("BCDEFG"))
	awaitThat(t, "one is missing before the power goes", func() bool { return d.booked() == "BCDEF" })
	d.kill()
	d.start()
	again("the power was off while one was missing")
	d.remove("/meetingspace/" + demoRoom + "/calendar")
	awaitThat(t, "nothing is booked without the calendar", func() bool { return d.booked() == "" })
	again("it was unlinked")
	if t.Failed() {
		return
	}
	for key, n := range map[string]int{"injected": injected, "survived": injected, "lost": 0, "doubled": 0} {
		t.Attr(key, strconv.Itoa(n))
	}
	t.Attr("recovery", d.longest.String())
}
