package eventlog

import (
	"encoding/json"
	"slices"
	"time"

	"roomgate/store"
)

// scanLimit bounds how many rows of the log one question reads, so that a
// filter which nothing matches cannot hold a reader for long.
const scanLimit = 20_000

// PageSize is how many rows are read in one transaction at the most.
const PageSize = 500

// Event is one event of the log.
type Event struct {
	Cursor     uint64 // its place in the log, strictly increasing
	Type       string
	Time       time.Time
	SpaceID    string
	DeviceType string
	SubDevice  string
	Boot       string // the run of the process it happened in, see [Log.Boot]
	// Record is the platform's event record, ready to be sent:
	// {"eventType", "timestamp", "details"}.
	Record json.RawMessage
}

// Filter selects events; a zero field selects all.
type Filter struct {
	SpaceID, DeviceType, SubDevice, Type string
	Types                                []string  // any of these; nil: all
	Since, Until                         time.Time // Since inclusive, Until exclusive
	After                                uint64    // only later ones than this cursor
	Limit                                int       // 0 means 50
	Spaces                               []string  // only of these; nil: of the whole building
}

// Find returns the events after f.After, oldest first, and the cursor to go
// on from, which has moved even when nothing matched.
func (l *Log) Find(f Filter) (events []Event, next uint64, err error) {
	next = f.After
	for scanned, size := 0, f.firstPage(); scanned < scanLimit; scanned, size = scanned+size, PageSize {
		page, err := l.Page(next, size)
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

// Latest returns the newest events, oldest first, and the cursor after
// which there are none yet.
func (l *Log) Latest(f Filter) (events []Event, next uint64, err error) {
	if next, err = l.Last(); err != nil {
		return nil, 0, err
	}
	end := next + 1
	for scanned, size := 0, f.firstPage(); scanned < scanLimit && len(events) < f.limit(); scanned, size = scanned+size, PageSize {
		page, err := l.before(end, size)
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

// firstPage is how many rows to read at first: mostly every row is an event,
// and most questions filter nothing.
func (f Filter) firstPage() int { return min(max(f.limit(), 10), PageSize) }

func (f Filter) limit() int {
	if f.Limit <= 0 {
		return 50
	}
	return f.Limit
}

func (f Filter) matches(r Row) bool {
	return r.Level() == LevelEvent &&
		(f.SpaceID == "" || f.SpaceID == r.Space) &&
		(f.Spaces == nil || slices.Contains(f.Spaces, r.Space)) &&
		(f.DeviceType == "" || f.DeviceType == r.Device) &&
		(f.SubDevice == "" || f.SubDevice == r.Sub) &&
		(f.Type == "" || EventType(f.Type) == r.Type) &&
		(f.Types == nil || slices.Contains(f.Types, r.Kind())) &&
		(f.Since.IsZero() || !r.Time().Before(f.Since)) &&
		(f.Until.IsZero() || r.Time().Before(f.Until))
}

func eventOf(item store.Item[Row]) Event {
	r := item.Value
	return Event{item.Seq, r.Kind(), r.Time(), r.Space, r.Device, r.Sub, r.Boot, r.Data}
}
