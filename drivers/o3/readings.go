package o3

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"roomgate/drivers"
)

// A hub that has said the same of itself usualRepeats times will say it again:
// from then on its silence about that is a fault.
const (
	usualRepeats = 3
	usualStale   = 5 * time.Minute // or missed times its pause, if that is longer
	missed       = 3
)

// reading is the last report on one subtopic of this connection.
type reading struct {
	report
	at      time.Time
	err     error         // the report could not be read
	repeats int           // how often the hub has said by itself what was known
	pause   time.Duration // the longest that it has waited with that
}

// after is a reading that comes after another of the same subtopic.
func (v reading) after(before reading, ordered bool) reading {
	v.repeats, v.pause = before.repeats, before.pause
	if !ordered && !before.at.IsZero() && before.report == v.report && before.err == nil && v.err == nil {
		v.repeats, v.pause = v.repeats+1, max(v.pause, v.at.Sub(before.at))
	}
	return v
}

// grows is the age from which a reading is unknown, zero for none.
func (v reading) grows(stale time.Duration) time.Duration {
	if stale == 0 && v.repeats >= usualRepeats {
		return max(usualStale, missed*v.pause)
	}
	return stale
}

// readings is what the hub has said since the connection came up, shared by
// the connection's goroutines and the driver's callers.
type readings struct {
	silence time.Duration
	kept    []string // the subtopics that matter; what else comes is only a sign of life

	mu      sync.Mutex
	up      bool
	upAt    time.Time
	tried   bool  // the first connection attempt has ended
	cause   error // why the connection is down
	heard   time.Time
	spoken  bool // a report that can be read came on this connection
	values  map[string]reading
	pending []*expectation
	wake    chan struct{} // closed and replaced whenever something is new
}

// expectation is an order that waits for its report.
type expectation struct {
	order
	at time.Time // of the report; zero: it has not come, or another has come since
}

func expectations(todo []order) []*expectation {
	es := make([]*expectation, len(todo))
	for i, o := range todo {
		es[i] = &expectation{order: o}
	}
	return es
}

func newReadings(silence time.Duration, kept ...string) *readings {
	return &readings{
		silence: silence,
		kept:    kept,
		heard:   time.Now(),
		values:  map[string]reading{},
		wake:    make(chan struct{}),
	}
}

// connected forgets what an earlier connection said.
func (r *readings) connected() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up, r.tried, r.spoken, r.upAt, r.cause = true, true, false, time.Now(), nil
	clear(r.values)
	r.changed()
}

// disconnected remembers why. It says whether the connection had been good for
// anything. Orders that wait will not be confirmed.
func (r *readings) disconnected(cause error) (spoke bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spoke = r.up && r.spoken
	r.up, r.tried, r.cause = false, true, cause
	for _, e := range r.pending {
		e.at = time.Time{}
	}
	r.pending = nil
	r.changed()
	return spoke
}

// report takes what came on a subtopic.
func (r *readings) report(sub string, payload []byte) {
	parsed, err := parseReport(payload)
	r.take(sub, parsed, err)
}

// take takes a report, or why it could not be read. Only what can be read is a
// sign of life.
func (r *readings) take(sub string, parsed report, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if slices.Contains(r.kept, sub) {
		ordered := slices.ContainsFunc(r.pending, func(e *expectation) bool { return e.sub == sub })
		r.values[sub] = reading{report: parsed, at: now, err: err}.after(r.values[sub], ordered)
	}
	if err == nil {
		r.heard, r.spoken = now, true
	}
	r.confirm(sub, parsed, err, now)
	r.changed()
}

// confirm takes the last word on what was ordered. Reports overtake each other, so
// one that says otherwise has to be followed by the right one again.
func (r *readings) confirm(sub string, got report, unread error, now time.Time) {
	for _, e := range r.pending {
		matches := unread == nil && e.sub == sub && e.match(got)
		switch {
		case matches && e.at.IsZero():
			e.at = now
		case !matches && e.sub == sub && !e.passes:
			e.at = time.Time{}
		}
	}
}

func (r *readings) changed() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// expect registers orders that wait for their reports from now on.
func (r *readings) expect(es []*expectation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.offline(); err != nil {
		return err
	}
	r.pending = append(r.pending, es...)
	return nil
}

// forget withdraws orders that nobody waits for any more.
func (r *readings) forget(es []*expectation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = slices.DeleteFunc(r.pending, func(p *expectation) bool { return slices.Contains(es, p) })
}

// progress is why the orders are not proved by what was said up to now. Once
// each is confirmed, the last of them at some time, unproven judges the whole. lost
// is the reason if the connection has gone; otherwise wake tells of news.
func (r *readings) progress(es []*expectation, unproven func(at time.Time) error) (why error, wake <-chan struct{}, lost error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var at time.Time
	for _, e := range es {
		switch {
		case e.at.IsZero():
			return fmt.Errorf("%w: no report of %s with the new value", drivers.ErrNotConfirmed, e.sub), r.wake, r.offline()
		case e.at.After(at):
			at = e.at
		}
	}
	return unproven(at), r.wake, r.offline()
}

// offline is nil while the hub can be spoken to.
func (r *readings) offline() error {
	switch {
	case !r.up && r.cause != nil:
		return fmt.Errorf("%w: %w", drivers.ErrOffline, r.cause)
	case !r.up:
		return fmt.Errorf("%w: not connected yet", drivers.ErrOffline)
	case time.Since(r.heard) >= 3*r.silence:
		return fmt.Errorf("%w: hub has reported nothing for %s", drivers.ErrOffline,
			time.Since(r.heard).Round(time.Second))
	}
	return nil
}

// quiet is for how long nothing was heard on this connection.
func (r *readings) quiet() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	since := r.upAt
	if r.heard.After(since) {
		since = r.heard
	}
	return time.Since(since)
}

// get returns a reading that is not older than stale. With 0 that is any age,
// unless the hub has said it again and again and says it no more.
func (r *readings) get(sub string, stale time.Duration) (reading, error) {
	v, ok := r.values[sub]
	switch {
	case !ok:
		return v, fmt.Errorf("no report of %s since the hub was connected", sub)
	case v.err != nil:
		return v, fmt.Errorf("%s: %w", sub, v.err)
	}
	if limit, age := v.grows(stale), time.Since(v.at); limit > 0 && age >= limit {
		return v, fmt.Errorf("%w: no report of %s for %s", drivers.ErrNoValue, sub, age.Round(time.Second))
	}
	return v, nil
}
