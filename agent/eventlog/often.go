package eventlog

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

const (
	// StoredAtOnce is how many changes of one fact are stored as they come.
	StoredAtOnce = 120
	// StoredEvery is how often one is stored of a fact that goes on changing: a card lasts. All
	// are shown at once, and the last one is always stored.
	StoredEvery = 10 * time.Second
)

// Pace says how often a fact is stored. A clock that is set does not move it.
type Pace struct{ next time.Time }

// Allows says whether the fact may be stored now, and counts that.
func (p *Pace) Allows(now time.Time) bool {
	if rested := now.Add(-StoredAtOnce * StoredEvery); p.next.Before(rested) {
		p.next = rested
	}
	if p.next.After(now) {
		return false
	}
	p.next = p.next.Add(StoredEvery)
	return true
}

// Alarms are what somebody tells by himself, by its kind. Of a kind that comes too often the last
// one waits.
type Alarms struct {
	mu     sync.Mutex
	byKind map[string]*alarm
}

type alarm struct {
	Pace
	held *Row
}

// Take returns the row if it is to be stored now.
func (a *Alarms) Take(kind string, row Row) (c Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byKind == nil {
		a.byKind = map[string]*alarm{}
	}
	if a.byKind[kind] == nil {
		a.byKind[kind] = &alarm{}
	}
	one := a.byKind[kind]
	if one.held = &row; one.Allows(time.Now()) {
		c.Rows, one.held = []Row{row}, nil
	}
	return c
}

// Waiting says whether an alarm waits.
func (a *Alarms) Waiting() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.byKind {
		if one.held != nil {
			return true
		}
	}
	return false
}

// Due returns what has waited for long enough, or all that waits.
func (a *Alarms) Due(all bool) (c Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.byKind {
		if one.held != nil && (all || one.Allows(time.Now())) {
			c.Rows, one.held = append(c.Rows, *one.held), nil
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b Row) int { return cmp.Compare(a.Milli, b.Milli) })
	return c
}
