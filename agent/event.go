package agent

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"roomgate/drivers"
	"roomgate/store"
)

// scanLimit bounds how many rows of the log one question reads, so that a
// filter which nothing matches cannot hold a reader for long.
const scanLimit = 20_000

// scanPage is how many rows are read in one transaction.
const scanPage = 500

// Event is one event of the log.
type Event struct {
	Cursor     uint64 // its place in the log, strictly increasing
	Type       string
	Time       time.Time
	SpaceID    string
	DeviceType string
	SubDevice  string
	// Record is the platform's event record, ready to be sent:
	// {"eventType", "timestamp", "details"}.
	Record json.RawMessage
}

// EventFilter selects events; a zero field selects all.
type EventFilter struct {
	SpaceID, DeviceType, SubDevice, Type string
	Since, Until                         time.Time // Since inclusive, Until exclusive
	After                                uint64    // only later ones than this cursor
	Limit                                int       // 0 means 50
	Spaces                               []string  // only of these; nil: of the whole building
}

// eventRecord is what the platform's record of an event is made of:
// {"eventType", "timestamp", "details"}.
type eventRecord struct {
	Type                    string
	Time                    time.Time // written in UTC with milliseconds
	Space, Device, DeviceID string    // go into the details
	Details                 map[string]any
}

// timeLayout is how the platform writes times.
const timeLayout = "2006-01-02T15:04:05.000Z"

// event makes the log row of something that happened to a device.
func (d *device) event(kind, sub string, at time.Time, details map[string]any) row {
	name := sub
	if name == "" {
		name = d.Type
	}
	r := eventRecord{kind, at, d.spaceID, name, d.ID, details}
	data, err := r.encode()
	if err != nil { // a driver's detail that JSON cannot say
		d.log.Error("event has details that cannot be encoded", "event", kind, "error", err)
		r.Details = nil
		data, _ = r.encode()
	}
	return d.agent.row(eventType(kind), at, d.spaceID, d.Type, sub, data)
}

// alert is an event about a temperature that left its range or came back.
func (d *device) alert(kind string, r Reading) row {
	celsius, _ := strconv.ParseFloat(r.Value, 64)
	return d.event(kind, r.SubDevice, r.ObservedAt, map[string]any{
		"temperature": celsius, "status": r.Status, "low": d.live().Alert.Low, "high": d.live().Alert.High,
	})
}

// Events returns the events after f.After, oldest first, and the cursor to go
// on from, which has moved even when nothing matched.
func (a *Agent) Events(f EventFilter) (events []Event, next uint64, err error) {
	next = f.After
	for scanned, size := 0, f.firstPage(); scanned < scanLimit; scanned, size = scanned+size, scanPage {
		page, err := a.page(next, size)
		if err != nil {
			return nil, next, err
		}
		for _, item := range page {
			next = item.Seq
			if f.matches(item.Value) {
				events = append(events, eventOf(item))
			}
			if len(events) == f.limit() {
				return events, next, nil
			}
		}
		if len(page) < size {
			break
		}
	}
	return events, next, nil
}

// LatestEvents returns the newest events, oldest first, and the cursor after
// which there are none yet.
func (a *Agent) LatestEvents(f EventFilter) (events []Event, next uint64, err error) {
	if next, err = a.lastSeq(); err != nil {
		return nil, 0, err
	}
	end := next + 1
	for scanned, size := 0, f.firstPage(); scanned < scanLimit && len(events) < f.limit(); scanned, size = scanned+size, scanPage {
		page, err := a.pageBefore(end, size)
		if err != nil {
			return nil, next, err
		}
		for _, item := range page {
			end = item.Seq
			if f.matches(item.Value) && len(events) < f.limit() {
				events = append(events, eventOf(item))
			}
		}
		if len(page) < size {
			break
		}
	}
	slices.Reverse(events)
	return events, next, nil
}

func (a *Agent) pageBefore(seq uint64, limit int) (page []store.Item[row], err error) {
	err = a.db.View(func(tx *store.Tx) error {
		page, err = a.logRows.Before(tx, seq, limit)
		return err
	})
	return page, err
}

func (a *Agent) page(after uint64, limit int) (page []store.Item[row], err error) {
	err = a.db.View(func(tx *store.Tx) error {
		page, err = a.logRows.After(tx, after, limit)
		return err
	})
	return page, err
}

func (a *Agent) lastSeq() (seq uint64, err error) {
	err = a.db.View(func(tx *store.Tx) error {
		seq = a.logRows.Last(tx)
		return nil
	})
	return seq, err
}

// firstPage is how many rows to read at first: mostly every row is an event,
// and most questions filter nothing.
func (f EventFilter) firstPage() int { return min(max(f.limit(), 10), scanPage) }

func (f EventFilter) limit() int {
	if f.Limit <= 0 {
		return 50
	}
	return f.Limit
}

func (f EventFilter) matches(r row) bool {
	return r.level() == levelEvent &&
		(f.SpaceID == "" || f.SpaceID == r.Space) &&
		(f.Spaces == nil || slices.Contains(f.Spaces, r.Space)) &&
		(f.DeviceType == "" || f.DeviceType == r.Device) &&
		(f.SubDevice == "" || drivers.Canonical(f.SubDevice) == r.Sub) &&
		(f.Type == "" || eventType(f.Type) == r.Type) &&
		(f.Since.IsZero() || !r.time().Before(f.Since)) &&
		(f.Until.IsZero() || r.time().Before(f.Until))
}

func eventOf(item store.Item[row]) Event {
	r := item.Value
	return Event{item.Seq, r.Type[len(levelEvent)+1:], r.time(), r.Space, r.Device, r.Sub, r.Data}
}

// broadcast wakes everybody who waits for the log to grow.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// EventsChanged returns a channel that is closed when the log has grown. Take
// it before asking for events, or one may be missed.
func (a *Agent) EventsChanged() <-chan struct{} { return a.grown.wait() }
