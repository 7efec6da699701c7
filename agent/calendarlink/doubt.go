package calendarlink

import (
	"fmt"
	"time"
)

// A page that lost more than half of the events or of their bookings, and so many,
// is doubted, and one that lost all; of fewer it is an everyday thing that they are
// called off.
const fewLost = 3

// doubtFor is how long a calendar has to go on saying so.
const doubtFor = time.Hour

// Doubt is held against a calendar that suddenly names far fewer events than
// before, as one does that was exported halfway or was not allowed to see all.
// A meeting that it misses stays booked until it has missed it for an hour. The zero value
// is ready for use.
type Doubt struct {
	// Relinked says that another calendar was linked: its first page is
	// believed, for nothing of the one before has to be in it.
	Relinked bool
	since    time.Time
}

// Held says whether a page is doubted.
func (d *Doubt) Held() bool { return !d.since.IsZero() }

// Of is why the outcome of a page that was read is not believed yet, to be
// shown; empty: it is. The time has to be one that only passes.
func (d *Doubt) Of(o Outcome, now time.Time) string {
	events := many(o.Lost, o.Held)
	switch {
	case !events && !many(o.Gone, o.Booked) && (o.Gone == 0 || o.Gone < o.Booked) || d.Relinked:
		*d = Doubt{}
		return ""
	case d.since.IsZero():
		d.since = now
	case now.Sub(d.since) >= doubtFor:
		*d = Doubt{}
		return ""
	}
	minutes := int((doubtFor - now.Sub(d.since) + time.Minute - 1) / time.Minute)
	if events {
		return fmt.Sprintf("of the %d events that were ahead %d are missing at once: they stay booked for %d more minutes, unless they are back by then", o.Held, o.Lost, minutes)
	}
	return fmt.Sprintf("bookings that were ahead: %d, missing at once: %d. They stay booked for %d more minutes, unless they are back by then", o.Booked, o.Gone, minutes)
}

// many says that so many of all are too many to be believed at once.
func many(lost, all int) bool { return lost >= fewLost && 2*lost > all }
