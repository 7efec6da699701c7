package o3

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"roomgate/drivers"
)

// reading is the last report on one subtopic of this connection.
type reading struct {
	report
	at  time.Time
	err error // the report could not be read
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
	sub   string
	match func(report) bool
	got   bool
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
	r.pending = nil
	r.changed()
	return spoke
}

// report takes what came on a subtopic. Only what can be read is a sign of
// life.
func (r *readings) report(sub string, payload []byte) {
	parsed, err := parseReport(payload)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if slices.Contains(r.kept, sub) {
		r.values[sub] = reading{report: parsed, at: now, err: err}
	}
	if err == nil {
		r.heard, r.spoken = now, true
		r.confirm(sub, parsed)
	}
	r.changed()
}

func (r *readings) confirm(sub string, got report) {
	for _, e := range r.pending {
		e.got = e.got || e.sub == sub && e.match(got)
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

// progress says whether all orders are confirmed, and which is not. lost is
// the reason if the connection has gone; otherwise wake tells of news.
func (r *readings) progress(es []*expectation) (missing string, wake <-chan struct{}, lost error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range es {
		if !e.got {
			return e.sub, r.wake, r.offline()
		}
	}
	return "", r.wake, nil
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

// get returns a reading that is not older than stale (0: any age).
func (r *readings) get(sub string, stale time.Duration) (reading, error) {
	v, ok := r.values[sub]
	switch {
	case !ok:
		return v, fmt.Errorf("no report of %s since the hub was connected", sub)
	case v.err != nil:
		return v, fmt.Errorf("%s: %w", sub, v.err)
	case stale > 0 && time.Since(v.at) >= stale:
		return v, fmt.Errorf("no report of %s for %s", sub, time.Since(v.at).Round(time.Second))
	}
	return v, nil
}
