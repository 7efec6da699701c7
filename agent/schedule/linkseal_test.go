package schedule

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"roomgate/store"
)

const secretLink = "https://me:canary@calendar.example/hidden.ics"

// planOf is what is stored for the room.
func (r *rig) planOf(id string) (p storedPlan) {
	r.t.Helper()
	if err := r.db.View(func(tx *store.Tx) (err error) { p, err = plans.Get(tx, id); return err }); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// TestLinksAreSealed looks for the address of a calendar in the database, and
// for the calendar after a restart.
func TestLinksAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, site := t.TempDir(), &website{status: http.StatusOK, body: ics("early 9 60")}
		r := startRig(t, rigOptions{dir: dir, calendars: site})
		if _, err := r.LinkCalendar(t.Context(), room, secretLink, ""); err != nil {
			t.Fatal(err)
		}
		r.stop()
		file, err := os.ReadFile(filepath.Join(dir, "test.db"))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(file, []byte("canary")) || bytes.Contains(file, []byte("hidden.ics")) {
			t.Error("the address of the calendar is in the database")
		}
		r = startRig(t, rigOptions{dir: dir, calendars: site})
		r.wait(16 * time.Minute)
		if got := r.plan(room); len(got) != 1 || got[0] != "early 9 booked" {
			t.Errorf("after a restart the plan is %q", got)
		}
	})
}

// TestPlainLinksAreSealed opens what an earlier version has stored, also of a
// space that is gone.
func TestPlainLinksAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		old := storedPlan{Calendar: new(secretLink), Revision: 7}
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			if err := plans.Put(tx, "gone", old); err != nil {
				return err
			}
			return plans.Put(tx, room, old)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.SealLinks(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{room, "gone"} {
			p := r.planOf(id)
			if p.Calendar != nil || len(p.Sealed) == 0 || p.Revision != 7 {
				t.Errorf("%s is stored as %+v", id, p)
			}
			if url, err := p.linked(r.o.Keys, id); err != nil || *url != secretLink {
				t.Errorf("%s is linked to %v, %v", id, url, err)
			}
		}
		commits := r.db.Stats().Commits
		if err := r.SealLinks(t.Context()); err != nil || r.db.Stats().Commits != commits {
			t.Errorf("the next start writes again, %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLinksOfAnotherDevice opens a database without its device secret: nothing
// is read, nothing cancelled, and the link says why. An unlinked space stays so.
func TestLinksOfAnotherDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, site := t.TempDir(), &website{status: http.StatusOK, body: ics("early 9 60")}
		r := startRig(t, rigOptions{dir: dir, calendars: site})
		if _, err := r.LinkCalendar(t.Context(), room, secretLink, ""); err != nil {
			t.Fatal(err)
		}
		r.wait(16 * time.Minute)
		r.stop()

		site.show(http.StatusOK, ics("other 12 60"))
		r = startRig(t, rigOptions{dir: dir, calendars: site, secret: "another"})
		r.wait(16 * time.Minute)
		link, err := r.CalendarLink(room)
		if err != nil || link.URL != "" || link.Error != lostLink {
			t.Errorf("the link says %+v, %v", link, err)
		}
		if got := r.plan(room); len(got) != 1 || got[0] != "early 9 booked" {
			t.Errorf("without the secret the plan is %q", got)
		}
		if _, err := r.NewFeed(t.Context(), room); err != nil { // what else is set keeps what is sealed
			t.Fatal(err)
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir, calendars: site}) // the secret is back
		r.wait(16 * time.Minute)
		if link, err = r.CalendarLink(room); err != nil || link.URL == "" || link.Error != "" {
			t.Errorf("with the secret the link says %+v, %v", link, err)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir, calendars: site, secret: "another"})
		if link, err = r.LinkCalendar(t.Context(), room, "", ""); err != nil || link.Error != "" || link.Bookings != 0 {
			t.Errorf("unlinked: %+v, %v", link, err)
		}
	})
}
