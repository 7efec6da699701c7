package calendar

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"roomgate/agent/outgoing"
)

const (
	defaultInterval = 5 * time.Minute
	timeout         = 30 * time.Second
	firstBackOff    = time.Minute
	longestBackOff  = time.Hour
	longestRetry    = 6 * time.Hour // of a Retry-After; a wrong one must not end a feed
	maxRedirects    = 3
	// maxHeld is how much of a calendar is held, packed, until it is fetched
	// again: ten times as much unpacked. There is one for each room.
	maxHeld = 1 << 20 // bytes
)

// Feed is an external calendar that is fetched again and again. Set the
// fields before the first use; the methods may be called from any goroutine.
//
// The feed goes wherever its Client lets it.
type Feed struct {
	URL      string         // http or https; user:password@ is sent as basic authentication and never shown
	Client   *http.Client   // as NewClient makes it
	Zone     *time.Location // of floating and all-day times; nil: UTC
	Interval time.Duration  // between fetches that succeed; 0: 5 min

	fetching sync.Mutex // one fetch at a time; the network must not hold up mu
	mu       sync.Mutex
	held     held
	failures int
	due      time.Time // when Next ends; it keeps the monotonic clock
	random   func() float64
}

// held is the last good calendar and how the server names it.
type held struct {
	etag, modified string
	packed         []byte // compressed; nil: none yet
	sum            [sha256.Size]byte
}

// Result is what a calendar says for one window of time.
type Result struct {
	Occurrences []Occurrence
	Problems    []string // what could not be understood, see parse
	Unread      []string // UIDs of events of which at least a part was left out
	Named       []string // UIDs of all events that were read, also of those that are called off or at another time
	Unchanged   bool     // the calendar is the one of the fetch before
}

// ErrNoCalendar is returned by Expand before the first fetch that succeeded.
var ErrNoCalendar = errors.New("the calendar has not been fetched yet")

// Fetch gets the calendar once and lists what touches [from, to). An unchanged
// calendar is worked out again, because the window may have moved. An error
// says for a person what happened; the calendar held so far stays (Expand).
func (f *Feed) Fetch(ctx context.Context, from, to time.Time) (Result, error) {
	f.fetching.Lock()
	defer f.fetching.Unlock()
	f.mu.Lock()
	old := f.held
	f.mu.Unlock()

	result, now, err := f.fetch(ctx, old, from, to)

	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = now
	if err != nil {
		f.failed(ctx, err)
		return Result{}, err
	}
	f.failures = 0
	f.due = time.Now().Add(f.interval())
	return result, nil
}

// fetch returns what to hold from now on: an answer replaces the old calendar
// only if it could be read.
func (f *Feed) fetch(ctx context.Context, old held, from, to time.Time) (Result, held, error) {
	got, err := f.get(ctx, old)
	if err != nil {
		return Result{}, old, err
	}
	wrap := func(err error) error {
		return f.failure(got.inside, http.StatusOK, err.Error(), err)
	}
	if got.unchanged {
		result, err := old.expand(f.Zone, from, to)
		result.Unchanged = true
		if err != nil { // a 304 is of no use for what cannot be read
			old.etag, old.modified = "", ""
			return Result{}, old, wrap(err)
		}
		return result, old, nil
	}
	now := held{etag: got.etag, modified: got.modified, packed: old.packed, sum: sha256.Sum256(got.body)}
	same := old.packed != nil && now.sum == old.sum
	if !same {
		now.packed = pack(got.body)
	}
	body := got.body
	got.body = nil // so that it can go as soon as its events are read
	result, err := parse(body, f.Zone, from, to)
	if err != nil {
		return Result{}, old, wrap(err)
	}
	if len(now.packed) > maxHeld { // it is fetched whole each time
		now = held{}
	}
	result.Unchanged = same
	return result, now, nil
}

// Expand works the calendar of the last good fetch out for another window,
// without the network: while a feed fails, the days go on.
func (f *Feed) Expand(from, to time.Time) (Result, error) {
	f.mu.Lock()
	now := f.held
	f.mu.Unlock()
	result, err := now.expand(f.Zone, from, to)
	result.Unchanged = err == nil
	return result, err
}

func (h held) expand(zone *time.Location, from, to time.Time) (Result, error) {
	if h.packed == nil {
		return Result{}, ErrNoCalendar
	}
	r, err := gzip.NewReader(bytes.NewReader(h.packed))
	if err != nil {
		return Result{}, err
	}
	body, err := io.ReadAll(r) // it was bounded when it was packed
	if err != nil {
		return Result{}, err
	}
	return parse(body, zone, from, to)
}

// pack compresses a calendar to a tenth: a gateway holds one for each room.
func pack(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

func (f *Feed) interval() time.Duration {
	if f.Interval <= 0 {
		return defaultInterval
	}
	return f.Interval
}

// Next says how long to wait until the next fetch is due; 0 before the first.
// After success that is the interval; after failures 1 min, doubled each time
// up to 1 h, less up to a fifth by chance, so that gateways which lost the same
// server do not come back together. A longer Retry-After, up to 6 h, counts.
func (f *Feed) Next() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.due.IsZero() {
		return 0
	}
	return max(0, time.Until(f.due))
}

func (f *Feed) failed(ctx context.Context, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return // the caller stopped; the server did nothing wrong
	}
	wait := firstBackOff << min(f.failures, 10)
	f.failures++
	random := f.random
	if random == nil {
		random = rand.Float64
	}
	wait = min(wait, longestBackOff)
	wait -= time.Duration(random() * float64(wait) / 5)
	var fetch *FetchError
	if errors.As(err, &fetch) {
		wait = max(wait, min(fetch.RetryAfter, longestRetry))
	}
	f.due = time.Now().Add(wait)
}

// readBody reads at most maxBytes, also of what a small answer unpacks to.
func readBody(resp *http.Response) ([]byte, error) {
	r := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" { // undone here, where what it unpacks to is bounded
		packed, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		r = packed
	}
	body, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if errors.Is(err, outgoing.ErrTooLarge) || err == nil && len(body) > maxBytes {
		err = ErrTooLarge
	}
	return body, err
}
