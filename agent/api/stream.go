package api

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"roomgate/agent"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
)

const (
	// streamBeat is how often a silent stream says that it is alive.
	streamBeat = 15 * time.Second
	// streamLook is how often a silent stream looks whether its credential has
	// expired.
	streamLook = time.Second
	// streamWrite is how long a reader may take for what it is sent; one that
	// is slower is cut off, and comes back with its cursor.
	streamWrite = 10 * time.Second
	// streamRetry is when a browser comes back, in milliseconds.
	streamRetry = "retry: 3000\n\n"
)

// streamForeign is what a stream begins with whose reader has an id of another log.
const streamForeign = ": Last-Event-ID is not from this log: what follows begins at its oldest event\n\n"

// maxWaiters bounds the streams and long polls that are open at one time. When
// there are as many, the credential that has most makes room for one that has fewer.
const maxWaiters = 256

// streams are the readers of the log: they look back, wait, or follow it.
type streams struct {
	agent      *agent.Agent
	visibility visibility
	log        *slog.Logger
	waiters    guest.Places // streams and long polls
	open       atomic.Int64 // streams
}

// stream sends events as they are written (text/event-stream, WHATWG HTML
// 9.2). Without a cursor it begins with what comes next; with since, there.
func (s *streams) stream(c *call, f follow) error {
	foreign, err := s.resume(c, &f)
	if err != nil {
		return err
	}
	if err := s.begin(&f); err != nil {
		return err
	}
	place := s.enter(c)
	if place == nil {
		c.w.Header().Set("Retry-After", "10")
		return &problem.Error{Code: problem.Busy, Message: "too many streams are open: close some of yours, or poll"}
	}
	defer place.Leave()
	s.open.Add(1)
	defer s.open.Add(-1)
	w := newEventWriter(c)
	if foreign {
		w.buffer.WriteString(streamForeign)
	}
	for w.write(nil) && s.pump(c, &f, w) {
	}
	return nil
}

// resume places a stream behind the last event that its reader has. One from another
// log, as of the gateway that was here before, begins at the oldest: a browser sends
// that id again and again, whatever it is answered, and would get nothing any more.
func (s *streams) resume(c *call, f *follow) (foreign bool, err error) {
	last := c.r.Header.Get("Last-Event-ID")
	if last == "" {
		return false, nil
	}
	err = s.place(f, "Last-Event-ID", last)
	if e := problem.As(err); e != nil && e.Code == problem.Invalid {
		f.filter.After, f.placed = 0, true
		return true, nil
	}
	return false, err
}

// enter takes a place among those who wait, nil if there is none. Once it is needed
// for another credential the request is over.
func (s *streams) enter(c *call) *guest.Place {
	ctx, cancel := context.WithCancel(c.r.Context())
	place := enter(c, &s.waiters, cancel)
	if place == nil {
		cancel()
		return nil
	}
	c.r = c.r.WithContext(ctx)
	return place
}

// begin places a stream that has no cursor.
func (s *streams) begin(f *follow) (err error) {
	if !f.placed && f.filter.Since.IsZero() {
		_, f.filter.After, err = s.agent.Events.Latest(eventlog.Filter{Limit: 1})
	}
	f.placed, f.filter.Limit = true, maxLimit
	return err
}

// pump sends what there is, or waits; it is false when the stream is over.
func (s *streams) pump(c *call, f *follow, w *eventWriter) bool {
	changed, access := s.agent.Events.Changed(), s.agent.Access.Changed()
	if c.work() != nil {
		return false
	}
	found, moved, err := s.next(f)
	if err != nil {
		c.fail(s.log, err)
		return false
	}
	if s.ended(c.who) || len(found) > 0 && !w.write(found) {
		return false
	}
	if moved {
		return c.r.Context().Err() == nil
	}
	c.rest()
	return s.rest(c, w, nil, changed, access)
}

// rest waits for the log to grow, for somebody to lose access, or until it is due
// (nil: never).
func (s *streams) rest(c *call, w *eventWriter, due <-chan time.Time, changed, access <-chan struct{}) bool {
	look := time.NewTicker(streamLook)
	defer look.Stop()
	for {
		select {
		case <-changed:
			return true
		case <-due:
			return true
		case <-access:
			return true
		case <-c.r.Context().Done():
			return false
		case now := <-look.C:
			if s.ended(c.who) || now.Sub(w.last) >= streamBeat && !w.beat() {
				return false
			}
		}
	}
}

// ended says whether the credential behind a stream no longer holds.
func (s *streams) ended(who principal) bool {
	return who.via != device.ViaCLI && !s.agent.Valid(who.Principal)
}

// eventWriter writes events to one reader.
type eventWriter struct {
	c       *call
	control *http.ResponseController
	buffer  bytes.Buffer
	last    time.Time
}

func newEventWriter(c *call) *eventWriter {
	w := &eventWriter{c: c, control: http.NewResponseController(c.w)}
	patient(c.w, 0)
	c.w.Header()["X-Accel-Buffering"] = []string{"no"}
	c.begin(http.StatusOK, []string{"text/event-stream"})
	w.buffer.WriteString(streamRetry)
	return w
}

// write sends events; it is false when the reader is gone or too slow.
func (w *eventWriter) write(found []eventlog.Event) bool {
	for _, e := range found {
		w.buffer.WriteString("id: ")
		w.buffer.Write(strconv.AppendUint(w.buffer.AvailableBuffer(), e.Cursor, 10))
		w.buffer.WriteString("\nevent: ")
		w.buffer.WriteString(e.Type)
		w.buffer.WriteString("\ndata: ")
		w.buffer.Write(w.c.record(e))
		w.buffer.WriteString("\n\n")
	}
	return w.flush()
}

// beat sends a comment, which readers ignore.
func (w *eventWriter) beat() bool {
	w.buffer.WriteString(": alive\n\n")
	return w.flush()
}

func (w *eventWriter) flush() bool {
	w.c.rest()
	if w.buffer.Len() == 0 {
		return true
	}
	w.last = time.Now()
	_ = w.control.SetWriteDeadline(w.last.Add(streamWrite))
	_, err := w.c.w.Write(w.buffer.Bytes())
	w.buffer.Reset()
	return err == nil && w.control.Flush() == nil
}

// wantsStream says whether who asks reads a stream.
func (c *call) wantsStream() bool {
	return strings.Contains(c.r.Header.Get("Accept"), "text/event-stream")
}
