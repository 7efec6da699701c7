package schedule

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/calendarlink"
	"roomgate/store"
)

// TestHalfACalendarIsDoubted: a calendar that suddenly names far fewer events
// is believed when it has done so for an hour, and says so meanwhile.
func TestHalfACalendarIsDoubted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics("a 9 60", "b 11 60", "c 13 60", "d 15 60"))
		f.wait(time.Minute)
		all := []string{"a 9 booked", "b 11 booked", "c 13 booked", "d 15 booked"}
		f.wantPlan("read", all...)
		f.shows(ics("a 10 60"))
		moved := append([]string{"a 10 booked"}, all[1:]...)
		f.wantPlan("half a calendar", moved...)
		link, err := f.CalendarLink(room)
		if err != nil || len(link.Problems) != 1 || !strings.HasPrefix(link.Problems[0], "of the 4 events that were ahead 3 are missing at once") {
			t.Errorf("the link says %+v, %v", link, err)
		}
		f.restart()
		f.wait(50 * time.Minute)
		f.wantPlan("a restart is no hour", moved...)
		f.wait(30 * time.Minute)
		f.wantPlan("an hour later", "a 10 booked", "b 11 cancelled", "c 13 cancelled", "d 15 cancelled")
		if link, err := f.CalendarLink(room); err != nil || len(link.Problems) > 0 {
			t.Errorf("the link says %+v, %v", link, err)
		}
		f.shows(ics("a 9 60", "b 11 60", "c 13 60", "d 15 60"))
		f.wantPlan("and back", all...)

		f.site.show(http.StatusOK, ics("x 9 60"))
		f.link("https://other.example/b.ics")
		f.wait(time.Second)
		f.wantPlan("another calendar", "a 9 cancelled", "b 11 cancelled", "c 13 cancelled", "d 15 cancelled", "x 9 booked")
		f.link("")
		f.wantPlan("unlinked", "a 9 cancelled", "b 11 cancelled", "c 13 cancelled", "d 15 cancelled", "x 9 cancelled")
	})
}

// TestTwoSeriesVanish: an empty calendar takes the bookings of two series away after
// an hour, and says so meanwhile.
func TestTwoSeriesVanish(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, strings.ReplaceAll(ics("a 9 60", "b 11 60"), "SUMMARY", "RRULE:FREQ=WEEKLY\r\nSUMMARY"))
		f.wait(time.Minute)
		before := f.plan(room)
		f.shows(ics())
		link, err := f.CalendarLink(room)
		if err != nil || len(before) < 4 || len(link.Problems) != 1 || !strings.Contains(link.Problems[0], fmt.Sprintf("%d, missing at once: %[1]d", len(before))) {
			t.Errorf("of %d bookings the link says %+v, %v", len(before), link, err)
		}
		f.wantPlan("an empty calendar", before...)
		f.wait(75 * time.Minute)
		for i, b := range before {
			before[i] = strings.Replace(b, "booked", "cancelled", 1)
		}
		f.wantPlan("an hour later", before...)
	})
}

// TestAnEventThatCannotBeReadIsNotMissing: its bookings stay, whatever is wrong
// with it.
func TestAnEventThatCannotBeReadIsNotMissing(t *testing.T) {
	full := weekly("")
	for name, broken := range map[string]string{
		"a start that is none":      edited(full, "DTSTART:20000102T090000Z", "DTSTART:soon"),
		"no start":                  edited(full, "DTSTART:20000102T090000Z\r\n", ""),
		"no end of the event":       edited(full, "END:VEVENT", "X-CUT:"),
		"a rule that is none":       edited(full, "FREQ=WEEKLY", "FREQ=SECONDLY"),
		"an end before the start":   edited(full, "DTEND:20000102", "DTEND:20000101"),
		"a line that is none":       edited(full, "DTSTART:20000102T090000Z", "DTSTART"),
		"another date that is none": edited(full, "SUMMARY", "RDATE:soon\r\nSUMMARY"),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := startGuided(t, full)
				f.wait(time.Minute)
				before := f.the("early")
				f.shows(broken)
				if b := f.the("early"); b != before || b.State != booking.Booked {
					t.Errorf("it is %+v", b)
				}
				if link, err := f.CalendarLink(room); err != nil || len(link.Problems) == 0 {
					t.Errorf("the link says %+v, %v", link, err)
				}
			})
		})
	}
}

// slowSite answers when it is let go.
type slowSite struct {
	*website
	asked, answer chan struct{}
}

func (s *slowSite) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked <- struct{}{}
	<-s.answer
	return s.website.RoundTrip(r)
}

// TestAnAnswerThatComesAfterTheLinkWasEnded changes nothing.
func TestAnAnswerThatComesAfterTheLinkWasEnded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		site := &slowSite{&website{status: http.StatusOK, body: ics("early 9 60")}, make(chan struct{}), make(chan struct{})}
		f := &guided{rig: openRig(t, rigOptions{yaml: planned})}
		f.calendars.linked = &http.Client{Transport: site}
		f.run()
		f.link(calendarAddress)
		<-site.asked
		f.link("")
		close(site.answer)
		f.wait(time.Minute)
		f.wantPlan("no link")
		if link, err := f.CalendarLink(room); err != nil || link.URL != "" || link.Bookings != 0 {
			t.Errorf("the link says %+v, %v", link, err)
		}
	})
}

// TestACalendarsMeetingInAnotherRoom: where the cloud has moved one to another
// room it stays there, and costs the others nothing.
func TestACalendarsMeetingInAnotherRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics("early 9 60"))
		f.wait(time.Minute)
		id := calendarlink.ID(room, "early")
		nine := time.Date(2000, 1, 2, 9, 0, 0, 0, time.UTC)
		f.take(said("s1", kindDelta, 1, slot(id, nine, nine.Add(time.Hour), `"state":"cancelled"`)))
		there := said("s2", kindDelta, 1, slot(id, nine, nine.Add(time.Hour), `"title":"early"`))
		there.Data = []byte(strings.ReplaceAll(string(there.Data), room, otherRoom))
		if got := f.take(there); got != "done" {
			t.Fatal(got)
		}
		f.shows(ics("early 9 60", "late 11 60"))
		f.wantPlan("one of two", "late 11 booked")
		if got := fmt.Sprint(f.plan(otherRoom)); got != "[early 9 booked]" {
			t.Errorf("the other room has %s", got)
		}
	})
}

// TestALinkEndsAtOnce: the end of a link and that of its bookings are one
// transaction.
func TestALinkEndsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics("early 9 60"))
		f.wait(time.Minute)
		f.wantPlan("linked", "early 9 booked")
		id := f.the("early").ID
		live := func(in string) { // in a room, so that no other stores it
			err := f.o.DB.Update(t.Context(), func(tx *store.Tx) error {
				b, err := bookings.Get(tx, id)
				b.SpaceID = in
				return errors.Join(err, bookings.Put(tx, id, b))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		live(otherRoom)
		if _, err := f.LinkCalendar(t.Context(), room, "", ""); err == nil {
			t.Fatal("it was unlinked")
		}
		if link, err := f.CalendarLink(room); err != nil || link.URL == "" {
			t.Errorf("it was unlinked in half: %+v, %v", link, err)
		}
		live(room)
	})
}

// TestClockSetBackWhileACalendarIsRead: what was over by the clock that was wrong is ahead again, and the page does not name it.
func TestClockSetBackWhileACalendarIsRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics("a 9 60", "b 11 60", "c 13 60"))
		f.wait(time.Minute)
		f.wait(time.Until(on(24+8, 0)))
		f.site.during = func() { f.clock.Jump(0) }
		f.clock.Jump(4 * time.Hour)
		f.Room(room).link.relinked.Wake()
		synctest.Wait()
		f.wantPlan("read while the clock was set back", "a 9 booked", "b 11 booked", "c 13 booked")
	})
}
