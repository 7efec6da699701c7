package web

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// headPart is the name of the last event of a frame. The regions before it are
// shown together with it.
const headPart = "head"

// Part is one region of a page: the id of its element, and what is in it as HTML.
type Part struct {
	Name string
	HTML []byte
}

// Source is what a Feed shows.
type Source[V any] struct {
	// Changed returns a channel that is closed when the view may be another. It is
	// asked before View.
	Changed func() <-chan struct{}
	// View is what is to be seen now, and until when that holds by itself (zero:
	// for good). Views that are deeply equal look the same.
	View func() (v V, until time.Time, err error)
	// Render makes the regions of a view, and what the script has to know of it.
	Render func(v V) (parts []Part, head any, err error)
}

// Feed renders what all who look at one page see. A view is rendered once, by the
// first of them who comes; the others get the same bytes. It may be used by many,
// and needs no loop of its own.
type Feed[V any] struct {
	source Source[V]
	boot   string // tells the revisions of this run from those of another

	mu       sync.Mutex
	changed  <-chan struct{}
	until    time.Time // by the monotonic clock; zero: never
	view     V
	parts    []keptPart
	head     []byte
	revision uint64 // 0: nothing was rendered yet
}

// keptPart is a part as it goes over the wire.
type keptPart struct {
	event    []byte
	revision uint64 // of the frame in which it last changed
}

// NewFeed makes a feed. boot is another at each start of the gateway.
func NewFeed[V any](boot string, s Source[V]) *Feed[V] { return &Feed[V]{source: s, boot: boot} }

// Frame is what a page shows, and when to look again.
type Frame struct {
	ID      string          // where a reader is who has seen it
	Events  []byte          // what a reader has to get; empty: he has seen all of it
	Changed <-chan struct{} // closed when there may be another
	Until   time.Time       // when there is another at the latest; zero: never
}

// Look returns the frame for a reader who has seen the one of that id; empty: he
// has seen none.
func (f *Feed[V]) Look(seen string) (Frame, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.renew(time.Now()); err != nil {
		return Frame{}, err
	}
	frame := Frame{ID: f.boot + "." + strconv.FormatUint(f.revision, 10), Changed: f.changed, Until: f.until}
	if seen != frame.ID {
		frame.Events = f.since(seen, frame.ID)
	}
	return frame, nil
}

// renew renders again if what was rendered may not hold any more.
func (f *Feed[V]) renew(now time.Time) error {
	if f.revision > 0 && !closed(f.changed) && (f.until.IsZero() || now.Before(f.until)) {
		return nil
	}
	changed := f.source.Changed()
	view, until, err := f.source.View()
	if err != nil {
		return err
	}
	if f.revision == 0 || !reflect.DeepEqual(view, f.view) {
		if err := f.render(view); err != nil {
			return err
		}
	}
	f.changed, f.until, f.view = changed, until, view
	return nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (f *Feed[V]) render(view V) error {
	parts, value, err := f.source.Render(view)
	if err != nil {
		return err
	}
	head, err := json.Marshal(value)
	if err != nil {
		return err
	}
	next := make([]keptPart, len(parts))
	for i, p := range parts {
		next[i] = keptPart{event(p.Name, "", p.HTML), f.revision + 1}
		if i < len(f.parts) && bytes.Equal(f.parts[i].event, next[i].event) {
			next[i] = f.parts[i]
		}
	}
	f.parts, f.head = next, head
	f.revision++
	return nil
}

// since is what changed after the frame of an id: all, if it is not of this run.
func (f *Feed[V]) since(seen, id string) []byte {
	var out []byte
	boot, number, _ := strings.Cut(seen, ".")
	after, err := strconv.ParseUint(number, 10, 64)
	if boot != f.boot || err != nil || after > f.revision {
		after = 0
	}
	for _, p := range f.parts {
		if p.revision > after {
			out = append(out, p.event...)
		}
	}
	return append(out, event(headPart, id, f.head)...)
}

// event is one of a stream (WHATWG HTML 9.2.6).
func event(name, id string, data []byte) []byte {
	out := append([]byte("event: "), name...)
	if id != "" {
		out = append(append(out, "\nid: "...), id...)
	}
	for line := range bytes.Lines(data) {
		out = append(append(out, "\ndata: "...), bytes.TrimRight(line, "\r\n")...)
	}
	return append(out, "\n\n"...)
}
