package book

import (
	"maps"
	"slices"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/message"
	"roomgate/agent/problem"
)

const (
	// Keep is how many messages are remembered, the oldest that are done with go
	// first. What goes up of them is in the log, whatever is forgotten.
	Keep = 1000
	// keepOver is how many more than Keep are forgotten at once.
	keepOver = 50
	// MaxQueued bounds those that wait for the push gateway, and
	// MaxQueuedOfOrganization those of one organization; then no more are taken.
	// A message that was taken is never dropped before it expires.
	MaxQueued               = 500
	MaxQueuedOfOrganization = 200
)

// index is what memory has of the messages: only what moves them.
type index struct {
	// mu guards what follows. It is never held across a write or a request.
	mu      sync.Mutex
	list    []*entry // oldest first
	byID    map[string]*entry
	byKey   map[string]*entry
	unsaved map[string]storedMessage // newer than the store has them
	failing string                   // why the gateway takes nothing now; empty: it does
}

// entry is what memory has of a message.
type entry struct {
	id, key, organization string
	sequence              uint64 // of its row in the log
	push                  message.State
	posted                auth.Moment
	life                  time.Duration
	tries                 int
	due                   time.Time // not before
	reason                string    // why the last try failed
}

func newIndex() *index {
	return &index{byID: map[string]*entry{}, byKey: map[string]*entry{}, unsaved: map[string]storedMessage{}}
}

// status is what waits for the push gateway.
func (x *index) status(now auth.Moment) Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Status{Failing: x.failing}
	for _, e := range x.list {
		if e.push != message.Queued {
			continue
		}
		s.Waiting++
		if age, known := now.Since(e.posted); known {
			s.Oldest = max(s.Oldest, age)
		}
	}
	return s
}

// newer is a message that the store does not have like that yet.
func (x *index) newer(id string) (s storedMessage, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, ok = x.unsaved[id]
	return s, ok
}

// byRequest finds the message of an earlier request; nil: there is none.
func (x *index) byRequest(key string) *entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.byKey[key]
}

func (x *index) has(id string) bool { return x.find(id).id != "" }

// find returns what memory has of a message; the zero value if nothing.
func (x *index) find(id string) entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.byID[id]; e != nil {
		return *e
	}
	return entry{}
}

// admit refuses a message that the push gateway's queue has no room for, and
// any while old ones cannot be forgotten fast enough.
func (x *index) admit(organization string, pushed bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.list) >= 2*Keep {
		return problem.New(problem.Full, "", "too many messages came at once: try again in a minute")
	}
	all, own := 0, 0
	for _, e := range x.list {
		if e.push == message.Queued {
			all++
			if e.organization == organization {
				own++
			}
		}
	}
	if pushed && (all >= MaxQueued || organization != "" && own >= MaxQueuedOfOrganization) {
		return problem.New(problem.Full, "", "%d messages wait for the push gateway, no more are taken: see why it takes none", all)
	}
	return nil
}

// show takes over a message that was stored.
func (x *index) show(s storedMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := &entry{id: s.ID, key: s.Key, organization: s.OrganizationID, sequence: s.Sequence, push: s.Push.State, posted: s.Posted, life: s.Life}
	at, _ := slices.BinarySearchFunc(x.list, e.sequence, func(e *entry, sequence uint64) int {
		return int(min(max(int64(e.sequence-sequence), -1), 1))
	})
	x.list = slices.Insert(x.list, at, e)
	x.byID[e.id] = e
	if e.key != "" {
		x.byKey[e.key] = e
	}
}

// page returns the newest messages before a sequence, and whether there are
// older ones.
func (x *index) page(organization string, before uint64, limit int) (found []entry, more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range slices.Backward(x.list) {
		switch {
		case e.sequence >= before, organization != "" && e.organization != organization:
		case len(found) == limit:
			return found, true
		default:
			found = append(found, *e)
		}
	}
	return found, false
}

// unsavedNow are the messages that the store does not have like that yet.
func (x *index) unsavedNow() map[string]storedMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return maps.Clone(x.unsaved)
}

// saved forgets what the store has now. Only the pusher adds to it.
func (x *index) saved(stored map[string]storedMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id := range stored {
		delete(x.unsaved, id)
	}
}

// queue returns what waits for the push gateway, oldest first.
func (x *index) queue() (waiting []entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.list {
		if e.push == message.Queued {
			waiting = append(waiting, *e)
		}
	}
	return waiting
}

// note says why a message still waits.
func (x *index) note(id, reason string, tries int, due time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.byID[id]; e != nil {
		e.reason, e.tries, e.due = reason, tries, due
	}
}

// settle shows the outcome of a message. The store has it later.
func (x *index) settle(s storedMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unsaved[s.ID] = s
	if e := x.byID[s.ID]; e != nil {
		e.push, e.tries, e.reason = s.Push.State, s.Push.Attempts, s.Push.Reason
	}
}

func (x *index) setFailing(reason string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failing = reason
}

// over are the ids of the oldest messages that are done with, once there are
// enough of them to be worth a write.
func (x *index) over() (old []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	over := len(x.list) - Keep
	if over < keepOver {
		return nil
	}
	for _, e := range x.list {
		if _, waits := x.unsaved[e.id]; e.push != message.Queued && !waits && len(old) < over {
			old = append(old, e.id)
		}
	}
	return old
}

// drop forgets messages.
func (x *index) drop(ids ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		if e := x.byID[id]; e != nil {
			delete(x.byID, id)
			if x.byKey[e.key] == e {
				delete(x.byKey, e.key)
			}
		}
	}
	x.list = slices.DeleteFunc(x.list, func(e *entry) bool { return x.byID[e.id] == nil })
}
