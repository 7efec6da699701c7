package book

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/journal/journaltest"
	"roomgate/agent/message"
	"roomgate/agent/problem"
	"roomgate/agent/push"
	"roomgate/agent/push/pushtest"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	org       = "acme"
	otherOrg  = "rivals"
	room      = "aurora" // of org
	pushToken = "tk_of-the-building"
)

// readers are the people whom messages reach.
var readers = []Reader{
	{ID: "ada", Email: "ada@example.com", Name: "Ada", Topic: "ada-phone"},
	{ID: "mel", Email: "mel@example.com", Name: "Mel", OrganizationID: org, Topic: "rooms-mel"},
	{ID: "bob", Email: "bob@example.com", Name: "Bob", OrganizationID: otherOrg, Topic: "rooms-bob"},
}

// rig is a book on a real store and log beside a push gateway.
type rig struct {
	*Messages
	t    *testing.T
	db   *store.DB
	log  *eventlog.Log
	out  *pushtest.Server
	text *journaltest.Log
	stop func()
	// What the cloud is asked.
	acked     uint64
	connected bool
}

// rigOptions say how the building is. The zero value has a push gateway, no
// cloud, and a clock that is trusted.
type rigOptions struct {
	dir, trust string
	rows       int // of the log; 0: 5000
	cloud      bool
	nobody     bool // there is no push gateway
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// openRig opens a book without running it.
func openRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	if o.trust == "" {
		o.trust = clock.Always
	}
	if o.rows == 0 {
		o.rows = 5000
	}
	db, _, err := store.Open(t.Context(), filepath.Join(o.dir, "test.db"), store.Options{Schema: 1, Names: append(eventlog.Buckets(), Buckets()...)})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, db: db, out: &pushtest.Server{Token: pushToken}, text: &journaltest.Log{}}
	keys, _ := auth.NewKeys(bytes.Repeat([]byte("k"), auth.SecretSize))
	log, started, c := slog.New(slog.NewTextHandler(r.text, nil)), time.Now(), clock.New(clock.Options{Mode: o.trust})
	r.log = eventlog.New(eventlog.Options{DB: db, Clock: c, Rows: o.rows, Flush: time.Second, Log: log})
	options := Options{DB: db, Events: r.log, Keys: keys, Clock: c, Log: log, Flush: time.Second, Organizers: true,
		Moment: func() auth.Moment {
			return auth.Moment{Boot: r.log.Boot(), Up: time.Since(started), Milli: time.Now().UnixMilli(), Trusted: c.Trust() == clock.Trusted}
		},
		ReaderByID:    func(id string) (Reader, bool) { return find(func(p Reader) bool { return p.ID == id }) },
		ReaderByEmail: func(email, _ string) (Reader, bool) { return find(func(p Reader) bool { return p.Email == email }) },
		HasTopic: func(organization, topic string) bool {
			_, known := find(func(p Reader) bool { return p.OrganizationID == organization && p.Topic == topic })
			return known
		},
		Booking: bookingOf, Owner: ownerOf}
	if !o.nobody {
		options.Push = push.New("https://push.test", func() (string, error) { return pushToken, nil }, &http.Client{Transport: r.out})
	}
	if o.cloud {
		options.Cloud = func() (uint64, bool, error) { return r.acked, r.connected, nil }
	}
	if r.Messages, err = Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	r.stop = sync.OnceFunc(func() { _ = db.Close() })
	t.Cleanup(func() { r.stop() })
	return r
}

// find is the first reader that fits.
func find(fits func(Reader) bool) (Reader, bool) {
	for _, p := range readers {
		if fits(p) {
			return p, true
		}
	}
	return Reader{}, false
}

// bookingOf knows a booking of Mel's, and one without an organizer.
func bookingOf(id string) (booking.Booking, error) {
	switch id {
	case "board":
		return booking.Booking{ID: id, SpaceID: room, Organizer: booking.Person{Name: "Mel", Email: "mel@example.com"}}, nil
	case "nobodys":
		return booking.Booking{ID: id, SpaceID: room}, nil
	}
	return booking.Booking{}, errors.New("there is none")
}

// ownerOf knows a space of org's, and one of nobody.
func ownerOf(spaceID string) (string, error) {
	switch spaceID {
	case room:
		return org, nil
	case "borealis":
		return "", nil
	}
	return "", problem.New(problem.NotFound, "meeting_space_id", "is not a space")
}

// startRig opens a book and runs it until the test or stop ends it.
func startRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	r := openRig(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = r.db.Run(ctx) })
	loops.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	r.stop = sync.OnceFunc(func() {
		cancel()
		loops.Wait()
		if err := r.db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// send sends a message that has to be taken.
func (r *rig) send(to message.To, title string) Info {
	r.t.Helper()
	m, err := r.Send(r.t.Context(), hello(to, title), "")
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func hello(to message.To, title string) message.Request {
	return message.Request{To: to, Title: title, Body: "hello", Source: message.FromAPI}
}

// now is how a message stands.
func (r *rig) now(id string) Info {
	r.t.Helper()
	m, err := r.Get(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// wantPush says how a message stands with the push gateway.
func (r *rig) wantPush(what, id string, state message.State, reason string) {
	r.t.Helper()
	if c := r.now(id).Channels.Push; c.State != state || !strings.Contains(c.Reason, reason) || c.Open() != c.At.IsZero() {
		r.t.Errorf("%s: %+v, want %s %q", what, c, state, reason)
	}
}

// pushed is what the gateway has taken, as "topic title".
func (r *rig) pushed() (all []string) {
	for _, m := range r.out.Taken() {
		all = append(all, m.Topic+" "+m.Title)
	}
	return all
}

func (r *rig) fails(status int, retry string) {
	r.out.Script(func(string) *pushtest.Fault { return &pushtest.Fault{Status: status, RetryAfter: retry} })
}

// failures are the events of messages that were not pushed.
func (r *rig) failures() int {
	r.t.Helper()
	events, _, err := r.log.Find(eventlog.Filter{Type: EventFailed, Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	return len(events)
}

// rows are the messages in the log.
func (r *rig) rows() (found []eventlog.Row) {
	r.t.Helper()
	page, err := r.log.Page(0, 100_000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, item := range page {
		if item.Value.Level() == eventlog.LevelMessage {
			found = append(found, item.Value)
		}
	}
	return found
}

// attempts lets time pass and says when the gateway was asked, in seconds from
// now, to the nearest one.
func (r *rig) attempts(span time.Duration) (at []string) {
	start, before := time.Now(), r.out.Asked()
	for time.Since(start) < span {
		r.wait(500 * time.Millisecond)
		if n := r.out.Asked(); n > before {
			before = n
			at = append(at, fmt.Sprint(time.Since(start).Round(time.Second)))
		}
	}
	return at
}

// fieldIn is the field at fault of a refusal.
func fieldIn(err error) string {
	if e := problem.As(err); e != nil {
		return e.Field
	}
	return ""
}
