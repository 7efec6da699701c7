package schedule

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/calendarlink"
	"roomgate/store"
)

const calendarAddress = "https://calendar.example/aurora.ics"

// guided is a building whose first room follows the calendar of a website.
type guided struct {
	*rig
	site *website
	yaml string
}

func startGuided(t *testing.T, body string) *guided {
	t.Helper()
	f := &guided{site: &website{status: http.StatusOK, body: body}, yaml: planned}
	f.rig = openRig(t, rigOptions{yaml: planned})
	f.start()
	f.link(calendarAddress)
	return f
}

func (f *guided) start() {
	f.calendars.linked = &http.Client{Transport: f.site}
	f.run()
}

// restart is a power cut, as far as the process goes.
func (f *guided) restart() {
	f.stop()
	f.rig = openRig(f.t, rigOptions{yaml: f.yaml, dir: f.dir})
	f.start()
}

func (f *guided) link(url string) {
	f.t.Helper()
	if _, err := f.LinkCalendar(f.t.Context(), room, url, ""); err != nil {
		f.t.Fatal(err)
	}
}

// shows lets the calendar be read with another content.
func (f *guided) shows(body string) {
	f.site.show(http.StatusOK, body)
	f.wait(16 * time.Minute)
}

// empties lets the calendar name nothing, until that is believed.
func (f *guided) empties() {
	f.shows(ics())
	f.wait(75 * time.Minute)
}

// edited is a calendar with something else written in it.
func edited(body, old, with string) string { return strings.Replace(body, old, with, 1) }

// the returns the room's booking of that title.
func (f *guided) the(title string) (found booking.Booking) {
	f.t.Helper()
	all, err := f.List(room, time.Time{}, time.Time{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, b := range all {
		if b.Title == title && found.ID != "" {
			f.t.Errorf("%s is there twice: %v", title, f.plan(room))
		}
		if b.Title == title {
			found = b
		}
	}
	return found
}

func (f *guided) wantPlan(what string, plan ...string) {
	f.t.Helper()
	if got := f.plan(room); !slices.Equal(got, plan) {
		f.t.Errorf("%s: the plan is %q, want %q", what, got, plan)
	}
	f.wantStored()
}

// weekly is a series with something more in it.
func weekly(more string) string {
	return edited(ics("early 9 60"), "SUMMARY", "RRULE:FREQ=WEEKLY;COUNT=1"+more+"\r\nSUMMARY")
}

// TestWhatLeavesACalendarComesBack goes through the ways by which an event can
// be missing for a while.
func TestWhatLeavesACalendarComesBack(t *testing.T) {
	full := ics("early 9 60", "late 11 60")
	for name, c := range map[string]struct {
		body        string // at first; empty: full
		leave, back func(*guided)
	}{
		"linked again": {leave: func(f *guided) { f.link("") }, back: func(f *guided) { f.link(calendarAddress) }},
		"linked again elsewhere, with the same events": {
			leave: func(f *guided) { f.link("") }, back: func(f *guided) { f.link("https://other.example/a.ics") }},
		"an empty answer": {leave: func(f *guided) { f.empties() }, back: func(f *guided) { f.shows(full) }},
		"half of it":      {leave: func(f *guided) { f.shows(ics("late 11 60")) }, back: func(f *guided) { f.shows(full) }},
		"called off and confirmed": {leave: func(f *guided) { f.shows(edited(full, "SUMMARY", "STATUS:CANCELLED\r\nSUMMARY")) },
			back: func(f *guided) { f.shows(edited(full, "SUMMARY", "STATUS:CONFIRMED\r\nSUMMARY")) }},
		"marked as free time": {leave: func(f *guided) { f.shows(edited(full, "SUMMARY", "TRANSP:TRANSPARENT\r\nSUMMARY")) },
			back: func(f *guided) { f.shows(full) }},
		"an exception of a series": {body: weekly(""), leave: func(f *guided) { f.shows(weekly("\r\nEXDATE:20000102T090000Z")) },
			back: func(f *guided) { f.shows(weekly("")) }},
		"a series": {body: weekly(""), leave: func(f *guided) { f.empties() }, back: func(f *guided) { f.shows(weekly("")) }},
		"moved out of what is read": {leave: func(f *guided) {
			f.shows(strings.ReplaceAll(edited(full, "20000102T100000", "20020102T100000"), "20000102T09", "20020102T09"))
		},
			back: func(f *guided) { f.shows(full) }},
		"moved into the past": {leave: func(f *guided) {
			f.shows(edited(edited(full, "20000102T100000", "19990102T100000"), "20000102T090000", "19990102T090000"))
		}, back: func(f *guided) { f.shows(full) }},
		"a restart in between": {leave: func(f *guided) { f.shows(ics()); f.restart(); f.wait(76 * time.Minute) },
			back: func(f *guided) { f.site.show(http.StatusOK, full); f.restart(); f.wait(16 * time.Minute) }},
		"the space removed and added": {
			leave: func(f *guided) {
				f.site.show(http.StatusServiceUnavailable, "")
				for _, yaml := range []string{strings.Replace(planned, "  - {id: "+room+", name: Aurora}\n", "", 1), planned} {
					if err := f.reread(yaml); err != nil {
						f.t.Fatal(err)
					}
				}
			}, back: func(f *guided) { f.shows(full) }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				if c.body == "" {
					c.body = full
				}
				f := startGuided(t, c.body)
				f.wait(16 * time.Minute)
				before := f.the("early")
				if before.State != booking.Booked {
					t.Fatalf("at first: %+v", before)
				}
				for range 3 { // and again
					c.leave(f)
					f.wait(time.Second)
					if gone := f.the("early"); gone.Live() || gone.Revision <= before.Revision {
						t.Fatalf("it has not left: %+v, after %+v", gone, before)
					}
					c.back(f)
					f.wait(time.Second)
					b := f.the("early")
					if b.State != booking.Booked || !b.Start.Equal(before.Start) || !b.End.Equal(before.End) || b.Reason != "" {
						t.Fatalf("it has not come back: %+v", b)
					}
					if b.ID != before.ID || b.Revision < before.Revision+2 {
						t.Fatalf("revision %d of %s, after %d of %s", b.Revision, b.ID, before.Revision, before.ID)
					}
					before = b
				}
				var kinds []string
				for _, h := range f.happenings() {
					if h.id == before.ID {
						kinds = append(kinds, strings.TrimPrefix(h.event, "booking."))
					}
				}
				if want := strings.Fields("created" + strings.Repeat(" cancelled created", 3)); !slices.Equal(kinds, want) {
					t.Errorf("told %q, want %q", kinds, want)
				}
				f.wantStored()
			})
		})
	}
}

// TestWhatPeopleSettledStays: what was cancelled, ended or released here does
// not come back with the calendar, unless that moves it.
func TestWhatPeopleSettledStays(t *testing.T) {
	full := ics("early 9 60", "late 11 60")
	cancel := func(f *guided, id string) error {
		_, err := f.Cancel(f.t.Context(), id, Caller{})
		return err
	}
	late := func(hour, minute int) time.Time { return time.Date(2000, 1, 2, hour, minute, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		at     time.Time
		settle func(f *guided, id string) error
		want   booking.State
	}{
		"cancelled by a person": {late(8, 0), cancel, booking.Cancelled},
		"cancelled by the cloud": {late(8, 0), func(f *guided, id string) error {
			f.take(said("s1", kindSnapshot, 1, slot(id, late(9, 0), late(10, 0), `"state":"cancelled","title":"early"`)))
			return nil
		}, booking.Cancelled},
		"removed by the cloud": {late(8, 0), func(f *guided, id string) error {
			f.take(said("s1", kindDelta, 1, "", id))
			return nil
		}, booking.Cancelled},
		"moved here, then cancelled": {late(8, 0), func(f *guided, id string) error {
			f.site.show(http.StatusServiceUnavailable, "")
			start, end := late(15, 0), late(16, 0)
			if _, err := f.Change(f.t.Context(), id, booking.Edit{Start: &start, End: &end}, Caller{}); err != nil {
				return err
			}
			return cancel(f, id)
		}, booking.Cancelled},
		"ended early": {late(9, 5), func(f *guided, id string) error {
			_, err := f.End(f.t.Context(), id, Caller{})
			return err
		}, booking.Ended},
		"released, for nobody came": {late(9, 11), func(*guided, string) error { return nil }, booking.Released},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := startGuided(t, full)
				f.until(c.at)
				id := f.the("early").ID
				if err := c.settle(f, id); err != nil {
					t.Fatal(err)
				}
				settled := f.booking(id)
				if settled.State != c.want {
					t.Fatalf("it is %s, want %s", settled.State, c.want)
				}
				for _, content := range []string{full, ics("late 11 60"), full, edited(full, "SUMMARY:early", "SEQUENCE:3\r\nSUMMARY:early")} {
					f.shows(content)
					f.wait(time.Minute)
					if now := f.the("early"); now != settled {
						t.Errorf("it became %+v", now)
					}
				}
				f.link("")
				f.link(calendarAddress)
				f.wait(time.Minute)
				f.restart()
				f.wait(16 * time.Minute)
				if now := f.the("early"); !booking.Same(now, settled) {
					t.Errorf("linked again it became %+v", now)
				}
				f.shows(ics("early 14 60", "late 11 60"))
				f.wait(time.Hour)
				if got := f.plan(room); !slices.Contains(got, "early 14 booked") {
					t.Errorf("moved by the calendar, it is not there: %q", got)
				}
			})
		})
	}
}

// TestRowsOfAnEarlierVersionComeBack: 536cb25 wrote why a calendar's booking
// was cancelled; a row that does not say so was cancelled by people.
func TestRowsOfAnEarlierVersionComeBack(t *testing.T) {
	for reason, want := range map[string]booking.State{
		"removed from the calendar": booking.Booked, "the meeting space was removed from the building": booking.Booked,
		"": booking.Cancelled, "removed by the cloud": booking.Cancelled,
	} {
		t.Run(reason, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := startGuided(t, ics())
				f.wait(time.Minute)
				id := calendarlink.ID(room, "early")
				row := fmt.Sprintf(`{"id":%q,"meeting_space_id":%q,"title":"early","organizer":{"name":"","email":""},`+
					`"start_time":"2000-01-02T09:00:00Z","end_time":"2000-01-02T10:00:00Z","state":"cancelled","revision":2,"source":"calendar",`+
					`"external_id":"early","created_at":"2000-01-01T00:00:00Z","updated_at":"2000-01-01T00:05:00Z","reason":%q,"marks":{}}`, id, room, reason)
				f.putRow("bookings", id, row)
				f.site.show(http.StatusOK, ics("early 9 60"))
				f.restart()
				f.wait(16 * time.Minute)
				if b := f.the("early"); b.ID != id || b.State != want {
					t.Errorf("it is %+v, want %s", b, want)
				}
			})
		})
	}
}

// putRow stores a row as an earlier version wrote it.
func (f *guided) putRow(table, key, row string) {
	f.t.Helper()
	rows := store.NewTable[json.RawMessage](table)
	if err := f.db.Update(f.t.Context(), func(tx *store.Tx) error { return rows.Put(tx, key, json.RawMessage(row)) }); err != nil {
		f.t.Fatal(err)
	}
}
