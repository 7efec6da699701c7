package calendarlink

import (
	"fmt"
	"time"
)

// A page that lost more than half of the events, and so many, is doubted; of
// fewer it is an everyday thing that they are called off.
const fewLost = 3

// doubtFor is how long a calendar has to go on saying so.
const doubtFor = time.Hour

// Doubt is held against a calendar that suddenly names far fewer events than
// before, as one does that was exported halfway or was not allowed to see all.
// What it misses stays booked until it has missed it for an hour. The zero value
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
	far := o.Lost >= fewLost && 2*o.Lost > o.Held
	switch {
	case !far || d.Relinked:
		*d = Doubt{}
		return ""
	case d.since.IsZero():
		d.since = now
	case now.Sub(d.since) >= doubtFor:
		*d = Doubt{}
		return ""
	}
	return fmt.Sprintf("of the %d events that were ahead %d are missing at once: they stay booked for %d more minutes, unless they are back by then",
		o.Held, o.Lost, int((doubtFor-now.Sub(d.since)+time.Minute-1)/time.Minute))
}
