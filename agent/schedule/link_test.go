package schedule

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
)

// website answers with whatever calendar it has now.
type website struct {
	mu     sync.Mutex
	status int
	body   string
	during func() // happens while it answers; nil: nothing does
}

// RoundTrip makes the website the whole internet of a building.
func (w *website) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.during != nil {
		w.during()
	}
	return &http.Response{StatusCode: w.status, Request: r, Header: http.Header{"Content-Type": {"text/calendar"}},
		Body: io.NopCloser(strings.NewReader(w.body))}, nil
}

func (w *website) show(status int, body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.body = status, body
}

// ics is a calendar of meetings, each "uid hour length-in-minutes" on the day
// after the bubble's first.
func ics(meetings ...string) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n")
	for _, m := range meetings {
		var uid string
		var hour, length int
		if _, err := fmt.Sscan(m, &uid, &hour, &length); err != nil {
			panic(err)
		}
		start := time.Date(2000, 1, 2, hour, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nUID:%s\r\nDTSTAMP:20000101T000000Z\r\nDTSTART:%s\r\nDTEND:%s\r\nSUMMARY:%s\r\nEND:VEVENT\r\n",
			uid, start.Format("20060102T150405Z"), start.Add(time.Duration(length)*time.Minute).Format("20060102T150405Z"), uid)
	}
	b.WriteString("END:VCALENDAR\r\n")
	return b.String()
}

// plan lists a space's live bookings as "title hour state", sorted.
func (r *rig) plan(spaceID string) (out []string) {
	all, err := r.List(spaceID, time.Time{}, time.Time{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, b := range all {
		out = append(out, fmt.Sprintf("%s %d %s", b.Title, b.Start.Hour(), b.State))
	}
	slices.Sort(out)
	return out
}

func TestSpaceFollowsACalendar(t *testing.T) {
	bubble(t, func(t *testing.T) {
		site := &website{status: http.StatusOK, body: ics("early 9 60", "late 11 60")}
		r := openRig(t, rigOptions{})
		r.calendars.linked = &http.Client{Transport: site}
		r.run()
		link, err := r.LinkCalendar(t.Context(), room, "https://user:secret@calendar.example/hidden/path.ics", "")
		if err != nil || strings.Contains(fmt.Sprint(link), "secret") || strings.Contains(fmt.Sprint(link), "hidden") {
			t.Fatalf("linked: %+v, %v", link, err)
		}
		want := func(what string, plan ...string) {
			t.Helper()
			r.wait(16 * time.Minute)
			if got := r.plan(room); fmt.Sprint(got) != fmt.Sprint(plan) {
				t.Errorf("%s: the plan is %q, want %q", what, got, plan)
			}
		}
		want("read", "early 9 booked", "late 11 booked")
		site.show(http.StatusOK, ics("early 10 60", "late 11 60"))
		want("moved", "early 10 booked", "late 11 booked")
		site.show(http.StatusOK, "<html>sign in</html>")
		want("turned into a page", "early 10 booked", "late 11 booked")
		if link, _ = r.CalendarLink(room); link.Error == "" || link.Bookings != 2 || link.FetchedAt == nil {
			t.Errorf("the link says %+v", link)
		}
		site.show(http.StatusOK, ics("early 10 60"))
		r.wait(2 * time.Hour) // it backed off
		want("taken out", "early 10 booked", "late 11 cancelled")

		// Somebody has the room: the calendar's meeting yields, and gets it back.
		mine, _, err := r.Create(t.Context(), booking.Booking{SpaceID: room, Title: "mine",
			Start: time.Date(2000, 1, 2, 14, 0, 0, 0, time.UTC), End: time.Date(2000, 1, 2, 15, 0, 0, 0, time.UTC)}, Caller{})
		if err != nil {
			t.Fatal(err)
		}
		site.show(http.StatusOK, ics("early 10 60", "third 14 60"))
		want("in the way", "early 10 booked", "late 11 cancelled", "mine 14 booked", "third 14 displaced")
		if _, err := r.Cancel(t.Context(), mine.ID, Caller{}); err != nil {
			t.Fatal(err)
		}
		want("free again", "early 10 booked", "late 11 cancelled", "mine 14 cancelled", "third 14 booked")
		if _, err := r.LinkCalendar(t.Context(), room, "", ""); err != nil {
			t.Fatal(err)
		}
		want("unlinked", "early 10 cancelled", "late 11 cancelled", "mine 14 cancelled", "third 14 cancelled")
	})
}

func TestFeedOfASpace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		_, _, err := r.Create(t.Context(), booking.Booking{SpaceID: room, Title: "hush", Organizer: booking.Person{Name: "A. Person"},
			Start: time.Date(2000, 1, 2, 14, 0, 0, 0, time.UTC), End: time.Date(2000, 1, 2, 15, 0, 0, 0, time.UTC)}, Caller{})
		if err != nil {
			t.Fatal(err)
		}
		token, err := r.NewFeed(t.Context(), room)
		if err != nil {
			t.Fatal(err)
		}
		feed, err := r.Feed(room, token)
		if text := string(feed); err != nil || !strings.Contains(text, "SUMMARY:Booked: A. Person") || strings.Contains(text, "hush") {
			t.Errorf("the feed is %s, %v", feed, err)
		}
		for _, wrong := range []string{"", token[1:], token + "a"} {
			if _, err := r.Feed(room, wrong); problem.As(err) == nil || problem.As(err).Code != problem.NotFound {
				t.Errorf("token %q: %v", wrong, err)
			}
		}
		if err := r.RevokeFeed(t.Context(), room); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Feed(room, token); err == nil {
			t.Error("a revoked token still works")
		}
	})
}

// TestOneBookingNeverSpoilsAFeed: whatever became of a booking, the feed has
// the others.
func TestOneBookingNeverSpoilsAFeed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("good", on(3, 0), on(4, 0))
		token, err := r.NewFeed(t.Context(), room)
		if err != nil {
			t.Fatal(err)
		}
		feed := func() string {
			t.Helper()
			data, err := r.Feed(room, token)
			if text := string(data); err != nil || !strings.Contains(text, "UID:good@roomgate") {
				t.Errorf("the feed is %s, %v", text, err)
			}
			return strings.ReplaceAll(string(data), "\r\n", "\n")
		}
		for i, after := range []time.Duration{0, time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond} {
			walkUp := booking.Booking{ID: fmt.Sprint("walk-", i), SpaceID: room, Source: booking.WalkUp}
			b, _, err := r.Create(t.Context(), walkUp, Caller{})
			if err != nil {
				t.Fatal(err)
			}
			r.wait(after)
			if _, err := r.End(t.Context(), b.ID, Caller{}); err != nil {
				t.Fatal(err)
			}
			if got := feed(); !strings.Contains(got, "UID:"+b.ID+"@roomgate\n") {
				t.Errorf("ended after %s, %s is not in the feed:\n%s", after, b.ID, got)
			}
			r.wait(20 * time.Minute)
		}
		r.book("ahead", on(2, 0), on(2, 30))
		r.until(on(1, 55))
		if _, err := r.CheckIn(t.Context(), "ahead", Caller{}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.End(t.Context(), "ahead", Caller{}); err != nil {
			t.Fatal(err)
		}
		if _, of, _ := strings.Cut(feed(), "UID:ahead@roomgate\n"); !strings.Contains(of[:strings.Index(of, "END:VEVENT")], "STATUS:CANCELLED") {
			t.Errorf("what was ended before it began takes the room: %s", of)
		}
		r.Room(room).bookings.Put(booking.Booking{ID: "bad", SpaceID: room, State: booking.Ended, Revision: 1,
			Start: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), End: time.Date(10000, 1, 2, 0, 0, 0, 0, time.UTC)},
			booking.Booking{ID: "worse", SpaceID: room, State: booking.Ended, Revision: 1 << 63, Start: on(1, 0), End: on(2, 0)})
		if got := feed(); strings.Contains(got, "worse") {
			t.Errorf("the feed has %s", got)
		}
	})
}
