package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

const (
	// defaultLimit and maxLimit are how many events one answer has.
	defaultLimit = 50
	maxLimit     = 200
	// longestWait bounds a long poll.
	longestWait = time.Minute
	// longestType bounds the name of an event in a filter.
	longestType = 64
)

// eventQuery is what may be asked of the events of the building; for those of
// one space the space stands in the path.
var (
	spaceEventQuery = []string{"device_type", "sub_device", "event_type", "since", "until", "limit", "cursor", "wait"}
	eventQuery      = append([]string{"meeting_space_id"}, spaceEventQuery...)
)

// follow is a reader's place in the log.
type follow struct {
	filter eventlog.Filter
	who    access.Principal
	placed bool // filter.After says where; else the newest come first
}

// events answers with what has happened in the building, or follows it.
func events(s *Server, c *call) error {
	q, err := c.query(eventQuery...)
	if err != nil {
		return err
	}
	return s.streams.answer(c, q, q.text("meeting_space_id"))
}

// spaceEvents is the same for one space.
func spaceEvents(s *Server, c *call) error {
	q, err := c.query(spaceEventQuery...)
	if err != nil {
		return err
	}
	return s.streams.answer(c, q, c.params[0])
}

// answer sends what is in the log, at once or once there is something, or
// follows it.
func (s *streams) answer(c *call, q query, space string) error {
	f, err := s.follow(&c.who, q, space)
	if err != nil {
		return err
	}
	if c.v2 { // V1.0 answers that there are none, as ever
		if err := s.knownKind(f.filter.Type); err != nil {
			return err
		}
	}
	if c.wantsStream() {
		return s.stream(c, f)
	}
	wait, err := duration("wait", cmp.Or(q.text("wait"), "0s"), longestWait)
	if err != nil {
		return err
	}
	found, err := s.poll(c, &f, wait)
	if err != nil {
		return err
	}
	return c.events(found, f.filter.After)
}

// follow reads the filter and the cursor.
func (s *streams) follow(who *principal, q query, space string) (f follow, err error) {
	if err := s.visibility.ownSpace(who, space); space != "" && err != nil {
		return f, err
	}
	if f.filter, err = s.filter(q, space); err != nil {
		return f, err
	}
	f.who = who.Principal
	if q.text("cursor") != "" {
		err = s.place(&f, "cursor", q.text("cursor"))
	} else if !f.filter.Since.IsZero() { // from there on, oldest first: what does not fit comes with the cursor
		f.placed = true
	}
	return f, err
}

// place continues from a cursor. One from beyond the end is from another log,
// and would silently skip what comes.
func (s *streams) place(f *follow, field, cursor string) error {
	at, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return invalid(field, "is not a cursor: send next_cursor of an earlier answer")
	}
	_, end, err := s.agent.Events.Latest(eventlog.Filter{After: at, Limit: 1})
	if err != nil {
		return err
	}
	if at > end {
		return invalid(field, "is not from this log: start again without it")
	}
	f.filter.After, f.placed = at, true
	return nil
}

func (s *streams) filter(q query, space string) (eventlog.Filter, error) {
	f := eventlog.Filter{SpaceID: space, DeviceType: q.text("device_type"),
		SubDevice: drivers.Canonical(q.text("sub_device")), Type: q.text("event_type")}
	if space != "" {
		if _, err := s.agent.Site.StatusAll(space); err != nil {
			return f, err
		}
	}
	if err := checkNames(f); err != nil {
		return f, err
	}
	limit, err := q.number("limit", 1, maxLimit, defaultLimit)
	if err != nil {
		return f, err
	}
	f.Limit = int(limit)
	if f.Since, err = q.time("since"); err != nil {
		return f, err
	}
	f.Until, err = q.time("until")
	return f, err
}

// checkNames refuses a filter that could never match.
func checkNames(f eventlog.Filter) error {
	if f.DeviceType != "" {
		if err := unknownType(f.DeviceType); err != nil {
			return err
		}
	}
	if f.SubDevice != "" && !isSubDevice(f.SubDevice) {
		return invalid("sub_device", "is not known: want one of "+strings.Join(drivers.SubDevices(drivers.TypeO3), ", "))
	}
	if len(f.Type) > longestType {
		return invalid("event_type", "is longer than "+strconv.Itoa(longestType)+" characters")
	}
	return nil
}

func isSubDevice(name string) bool {
	for _, t := range drivers.Types() {
		for _, sub := range drivers.SubDevices(t) {
			if sub == name {
				return true
			}
		}
	}
	return false
}

// poll reads events, and waits for some if there are none.
func (s *streams) poll(c *call, f *follow, wait time.Duration) ([]eventlog.Event, error) {
	if wait > 0 {
		if place := s.enter(c); place != nil {
			defer place.Leave()
			patient(c.w, wait)
		} else {
			wait = 0 // answered at once: still right, only less handy
		}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), wait)
	defer cancel()
	for {
		changed, access := s.agent.Events.Changed(), s.agent.Access.Changed()
		if err := c.work(); err != nil {
			return nil, nil // nobody waits for it any more
		}
		found, moved, err := s.next(f)
		if err == nil && wait > 0 && s.ended(c.who) { // while it waited
			return nil, unauthorized("", "the credential was withdrawn or has expired meanwhile: send another one")
		}
		if err != nil || len(found) > 0 {
			return found, err
		}
		if moved && c.r.Context().Err() == nil { // an empty answer says that there is no more: so look through all
			continue
		}
		if ctx.Err() != nil {
			return found, nil
		}
		c.rest()
		select {
		case <-changed:
		case <-access:
		case <-ctx.Done():
		}
	}
}

// next reads the next events and moves on; moved is false at the log's end.
// It goes by who owns a space now: it may have been given to somebody else
// since the stream began.
func (s *streams) next(f *follow) (found []eventlog.Event, moved bool, err error) {
	f.filter.Spaces = s.agent.Site.SpacesSeen(f.who)
	read := s.agent.Events.Latest
	if f.placed {
		read = s.agent.Events.Find
	}
	found, next, err := read(f.filter)
	if err != nil {
		return nil, false, err
	}
	moved = f.placed && next > f.filter.After
	f.filter.After, f.placed = next, true
	return s.visibility.eventsSeenBy(&f.who, found), moved, nil
}

// patient lets an answer take longer than others may.
func patient(w http.ResponseWriter, wait time.Duration) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // a writer without deadlines keeps the server's
	_ = rc.SetWriteDeadline(time.Now().Add(wait + writeTimeout))
}

func (c *call) events(found []eventlog.Event, cursor uint64) error {
	if c.v2 {
		return c.typedEvents(found, cursor)
	}
	records := make([]json.RawMessage, len(found))
	for i, e := range found {
		records[i] = e.Record
	}
	return c.json(http.StatusOK, struct {
		Events []json.RawMessage `json:"events"`
		Next   string            `json:"next_cursor"`
	}{records, strconv.FormatUint(cursor, 10)})
}
