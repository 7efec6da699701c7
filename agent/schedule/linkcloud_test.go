package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
)

func nineOnTheSecond() (from, to time.Time) {
	from = time.Date(2000, 1, 2, 9, 0, 0, 0, time.UTC)
	return from, from.Add(time.Hour)
}

// TestASnapshotFromBeforeTheReturn: the cloud may send all that is booked before
// it hears that a meeting is back. Without it twice, the cloud has decided.
func TestASnapshotFromBeforeTheReturn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics("early 9 60"))
		f.wait(time.Minute)
		id := f.the("early").ID
		from, to := nineOnTheSecond()
		f.take(said("s1", kindSnapshot, 1, slot(id, from, to, `"title":"early"`)))
		f.empties()
		f.wantPlan("gone", "early 9 cancelled")
		f.shows(ics("early 9 60"))
		before := f.the("early")
		if before.CloudRevision != 1 {
			t.Fatalf("the cloud does not know it: %+v", before)
		}
		told := len(f.toldUp())
		f.take(said("s2", kindSnapshot, 2, ""))
		if b := f.the("early"); b != before || len(f.toldUp()) != told+1 {
			t.Errorf("a snapshot from before made it %+v, told %q", b, f.toldUp()[told:])
		}
		f.take(said("s3", kindSnapshot, 3, ""))
		f.shows(ics("early 9 60"))
		f.wantPlan("decided", "early 9 cancelled")
	})
}

// TestACloudThatInsistsIsAnsweredOnce: one of an earlier version takes every
// cancellation for final, and says so whenever it hears otherwise.
func TestACloudThatInsistsIsAnsweredOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics("early 9 60"))
		f.wait(time.Minute)
		f.empties()
		gone := f.the("early")
		f.shows(ics("early 9 60"))
		from, to := nineOnTheSecond()
		told := len(f.toldUp())
		for i := 1; i <= 5; i++ {
			f.take(said(fmt.Sprint("s", i), kindDelta, i, slot(gone.ID, from, to, `"title":"early"`, `"source":"calendar"`, `"state":"cancelled"`,
				`"reason":"`+booking.LeftCalendar+`"`, fmt.Sprint(`"revision":`, gone.Revision), `"updated_at":"`+gone.UpdatedAt.Format(time.RFC3339)+`"`)))
		}
		if b := f.the("early"); b.State != booking.Booked || len(f.toldUp()) != told+1 {
			t.Errorf("it is %+v, and the cloud was told %q", b, f.toldUp()[told:])
		}
	})
}

// TestDisplacedMeetingReturnsAtOnce: also while the calendar cannot be read.
func TestDisplacedMeetingReturnsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics())
		f.wait(time.Minute)
		from, to := nineOnTheSecond()
		mine := f.book("mine", from, to)
		f.shows(ics("early 9 60"))
		f.wantPlan("in the way", "early 9 displaced", "mine 9 booked")
		f.site.show(503, "")
		f.wait(time.Hour)
		if _, err := f.Cancel(t.Context(), mine.ID, Caller{}); err != nil {
			t.Fatal(err)
		}
		f.wait(time.Second)
		f.wantPlan("free", "early 9 booked", "mine 9 cancelled")
	})
}

// TestBothSidesOfAReturn: a cloud that merges has what the building has, also if
// it booked the room while the meeting was away.
func TestBothSidesOfAReturn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := startGuided(t, ics("early 9 60"))
		f.wait(time.Minute)
		f.empties()
		from, to := nineOnTheSecond()
		f.take(said("s1", kindDelta, 1, slot("theirs", from, to, `"title":"theirs"`)))
		f.shows(ics("early 9 60"))
		f.wantPlan("too late", "early 9 displaced", "theirs 9 booked")
		f.take(said("s2", kindDelta, 2, "", "theirs"))
		f.wait(time.Second)
		f.wantPlan("given back", "early 9 booked", "theirs 9 cancelled")
		var kinds []string
		for _, h := range f.happenings() {
			if h.id == f.the("early").ID {
				kinds = append(kinds, strings.TrimPrefix(h.event, "booking."))
			}
		}
		if got := strings.Join(kinds, " "); got != "created cancelled displaced created" {
			t.Errorf("told %s", got)
		}
	})
}
