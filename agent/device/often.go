package device

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

const (
	// storedAtOnce is how many changes of one fact are stored as they come.
	storedAtOnce = 120
	// storedEvery is how often one is stored of a fact that goes on changing: a card lasts. All
	// are shown at once, and the last one is always stored.
	storedEvery = 10 * time.Second
)

// pace says how often something is stored. A clock that is set does not move it.
type pace struct{ next time.Time }

func (p *pace) allows(now time.Time) bool {
	if rested := now.Add(-storedAtOnce * storedEvery); p.next.Before(rested) {
		p.next = rested
	}
	if p.next.After(now) {
		return false
	}
	p.next = p.next.Add(storedEvery)
	return true
}

// alarms are what the hardware tells by itself, by its kind. Of a kind that comes too often the last one waits.
type alarms struct {
	mu     sync.Mutex
	byKind map[string]*alarm
}

type alarm struct {
	pace
	held *eventlog.Row
}

// take returns the row if it is to be stored now.
func (a *alarms) take(e drivers.Event, row eventlog.Row) eventlog.Change {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byKind == nil {
		a.byKind = map[string]*alarm{}
	}
	kind := e.Type + " " + e.Sub
	if a.byKind[kind] == nil {
		a.byKind[kind] = &alarm{}
	}
	one := a.byKind[kind]
	if !one.allows(time.Now()) {
		one.held = &row
		return eventlog.Change{}
	}
	one.held = nil
	return eventlog.Change{Rows: []eventlog.Row{row}}
}

// due returns what has waited for long enough, or all that waits.
func (a *alarms) due(all bool) (c eventlog.Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.byKind {
		if one.held != nil && (all || one.allows(time.Now())) {
			c.Rows, one.held = append(c.Rows, *one.held), nil
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b eventlog.Row) int { return cmp.Compare(a.Milli, b.Milli) })
	return c
}
