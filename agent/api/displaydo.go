package api

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"roomgate/agent"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/edge"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/strict"
	"roomgate/agent/web"
)

// displayPanel answers with a panel that somebody at the door has opened.
func displayPanel(s *Server, c *call) error {
	space, err := s.agent.Site.Space(c.params[0])
	if err != nil {
		return err
	}
	view, _, err := s.doors.view(space.ID)
	if err != nil {
		return err
	}
	var body []byte
	switch c.params[1] {
	case "why":
		var e web.Evidence
		if e, err = s.doors.evidence(space); err == nil {
			body, err = web.RenderWhy(view, e)
		}
	case "later":
		var from time.Time
		if from, err = c.laterFrom(); err == nil {
			body, err = web.RenderLater(view, offers(space.Room, view), from, len(takenBack(view)) > 0)
		}
	case "booked":
		body, err = web.RenderBooked(view, takenBack(view))
	case "rooms":
		body, err = web.RenderRooms(view, s.otherRooms(space))
	case "report":
		body, err = web.RenderReport(view)
	default:
		err = &problem.Error{Code: problem.NotFound, Field: "panel", Message: "is not known: want why, later, booked, rooms or report"}
	}
	if err != nil {
		return err
	}
	return c.page(http.StatusOK, body)
}

// laterFrom is the start from which somebody wants to see those that can be booked; zero:
// from the first one.
func (c *call) laterFrom() (time.Time, error) {
	text := c.r.URL.Query().Get("from")
	if text == "" {
		return time.Time{}, nil
	}
	from, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return from, invalid("from", "is no time: want one like 2026-11-23T15:00:00Z")
	}
	return from, nil
}

// offers are all the starts later today that can be booked.
func offers(r *schedule.Room, v web.View) (all []web.Offer) {
	slot := max(v.Rules.Slot, time.Minute)
	y, m, d := v.Now.Date()
	end := time.Date(y, m, d+1, 0, 0, 0, 0, v.Now.Location())
	midnight := time.Date(y, m, d, 0, 0, 0, 0, v.Now.Location())
	start := midnight.Add(v.Now.Sub(midnight).Truncate(slot) + slot)
	for ; start.Before(end); start = start.Add(slot) {
		o := web.Offer{Start: start}
		for _, length := range web.LaterLengths {
			asked := booking.Booking{Start: start, End: start.Add(length), Source: booking.Local}
			if v.Rules.AtDoor(asked, v.Now, v.Today) == nil && r.Would(asked) == nil {
				o.Lengths = append(o.Lengths, length)
			}
		}
		if len(o.Lengths) > 0 {
			all = append(all, o)
		}
	}
	return all
}

// otherRooms are those of the same organization that are free now.
func (s *Server) otherRooms(of *site.Space) (all []web.Room) {
	now := s.agent.Now()
	own, _ := s.agent.Site.OrganizationOf(of.ID) // none is an organization too
	for _, space := range s.agent.Site.Spaces() {
		organization, err := s.agent.Site.OrganizationOf(space.ID)
		sign := space.Room.At(now)
		if err != nil || space.ID == of.ID || organization != own || sign.Status != booking.Available {
			continue
		}
		c := space.Room.Config()
		all = append(all, web.Room{Name: space.Name, Place: whereabouts(c.Room, c.IndoorLocation), Capacity: c.Capacity, Until: sign.AvailableUntil,
			Seen: space.Presence().Value == schedule.Occupied})
	}
	return all
}

// doorRequest is what a button of the page sends.
type doorRequest struct {
	minutes   int64
	until     time.Time
	start     time.Time
	bookingID string
	what      string
}

// displayDo does what somebody at the door wants, and answers with a panel that
// tells the outcome.
func displayDo(s *Server, c *call) error {
	if err := s.ownOrigin(c.r); err != nil {
		return err
	}
	space, err := s.agent.Site.Space(c.params[0])
	if err != nil {
		return err
	}
	var d doorRequest
	err = c.decodeAny(strict.Optional("minutes", &d.minutes), strict.Optional("until", &d.until), strict.Optional("start", &d.start),
		strict.Optional("booking_id", &d.bookingID), strict.Optional("what", &d.what))
	if err != nil {
		return err
	}
	body, err := s.doAtDoor(c, space, c.params[1], d)
	e := problem.As(err)
	if err == nil {
		return c.page(http.StatusOK, body)
	}
	if e == nil || e.Code == problem.Internal || e.Field == "action" {
		return err
	}
	view, _, err := s.doors.view(space.ID)
	if err == nil {
		body, err = web.RenderRefusal(view, e)
	}
	if err != nil {
		return err
	}
	status, _ := encodeProblem(e)
	return c.page(status, body)
}

func (s *Server) doAtDoor(c *call, space *site.Space, action string, d doorRequest) ([]byte, error) {
	var b booking.Booking
	var err error
	switch action {
	case web.DoPhone:
		return s.letPhoneIn(c, space)
	case web.DoReport:
		err = s.reportProblem(c, space, d.what)
	case web.DoBook:
		b, err = s.bookAtDoor(c, space, d)
	case web.DoCheckIn, web.DoExtend, web.DoEnd, web.DoUndo:
		b, err = s.changeAtDoor(c, space, action, d)
	default:
		err = &problem.Error{Code: problem.NotFound, Field: "action", Message: "is not known: want book, check-in, extend, end, undo, report or phone"}
	}
	if err != nil {
		return nil, err
	}
	view, _, err := s.doors.view(space.ID)
	if err != nil {
		return nil, err
	}
	return web.RenderDone(view, action, b)
}

// bookAtDoor books the room from now on, or from a later start of today.
func (s *Server) bookAtDoor(c *call, space *site.Space, d doorRequest) (b booking.Booking, err error) {
	if space.Room.State().TimeTrust != clock.Trusted {
		return b, &problem.Error{Code: problem.NotNow, Message: "cannot be booked here: the gateway does not know what time it is"}
	}
	who := c.caller()
	if who.Key, err = requestKey(c); err != nil {
		return b, err
	}
	length := time.Duration(d.minutes) * time.Minute
	if length < 0 || length > 24*time.Hour {
		return b, invalid("minutes", "is out of range: want 1 to 1440")
	}
	asked := booking.Booking{ID: doorID(who.Key), SpaceID: space.ID, Source: booking.WalkUp, Start: s.agent.Now().UTC().Truncate(time.Second), End: d.until}
	if !d.start.IsZero() {
		asked.Start, asked.Source = d.start, booking.Local
	}
	if asked.End.IsZero() && length > 0 {
		asked.End = asked.Start.Add(length)
	}
	who.AtDoor = c.who.Kind == agent.KindEdge
	if who.Organizer != "" {
		asked.Organizer = booking.Person{Name: c.who.Name, Email: c.who.Email}
	}
	b, _, err = s.agent.Bookings.Create(c.r.Context(), asked, who)
	return b, err
}

const (
	// undoFor is how long a booking that has begun can be taken back where it was made: as
	// long as the panel is shown that offers it.
	undoFor = 2 * time.Minute
)

// doorID is the id of what is booked at a door; a repeated request has the same key.
func doorID(key string) string {
	if key == "" {
		key = strings.ToLower(rand.Text())
	}
	return booking.MadeAtDoor + strings.TrimPrefix(key, "http-")
}

// undoable refuses to take back what was not booked at the door, and of that what is not
// just made and has begun: who stands there ends it. A booking with a name is its organizer's.
func undoable(b booking.Booking, now time.Time) error {
	ahead := b.State == booking.Booked && b.Start.After(now)
	switch {
	case !strings.HasPrefix(b.ID, booking.MadeAtDoor) || b.Organizer != (booking.Person{}):
		return &problem.Error{Code: problem.NotNow, Field: "booking_id", Message: "was not booked at the door: ask who organizes the meeting to cancel it"}
	case !ahead && now.Sub(b.CreatedAt).Abs() > undoFor:
		return &problem.Error{Code: problem.NotNow, Field: "booking_id", Message: "has begun: end it"}
	}
	return nil
}

// takenBack are the bookings of today that were made at the door and can be cancelled there.
func takenBack(v web.View) (all []booking.Booking) {
	for _, b := range v.Today {
		if b.Live() && b.Start.After(v.Now) && undoable(b, v.Now) == nil {
			all = append(all, b)
		}
	}
	return all
}

// changeAtDoor does something to a booking of the room.
func (s *Server) changeAtDoor(c *call, space *site.Space, action string, d doorRequest) (b booking.Booking, err error) {
	if b, err = s.agent.Bookings.Get(d.bookingID); err != nil {
		return b, err
	}
	if b.SpaceID != space.ID {
		_, err = s.agent.Bookings.Get(nobody)
		return b, err
	}
	ctx, who := c.r.Context(), c.caller()
	switch action {
	case web.DoCheckIn:
		return s.agent.Bookings.CheckIn(ctx, b.ID, who)
	case web.DoUndo:
		if err = undoable(b, s.agent.Now()); err != nil {
			return b, err
		}
		return s.agent.Bookings.Cancel(ctx, b.ID, who)
	case web.DoExtend:
		who.AtDoor = c.who.Kind == agent.KindEdge
		if !d.until.IsZero() {
			return s.agent.Bookings.Extend(ctx, b.ID, d.until, 0, who)
		}
		if d.minutes < 0 || d.minutes > 24*60 {
			return b, invalid("minutes", "is out of range: want 1 to 1440")
		}
		by := cmp.Or(time.Duration(d.minutes)*time.Minute, extendBy)
		return s.agent.Bookings.Extend(ctx, b.ID, time.Time{}, by, who)
	}
	return s.agent.Bookings.End(ctx, b.ID, who)
}

// reportProblem writes down what somebody has reported, with what the devices are
// like.
func (s *Server) reportProblem(c *call, space *site.Space, what string) error {
	if !slices.Contains(web.Problems, what) {
		return invalid("what", "is not known: want "+strings.Join(web.Problems, ", "))
	}
	state := map[string]string{}
	for _, d := range space.Devices {
		for _, r := range d.Readings() {
			text := r.Value
			if r.Offline() {
				text = strings.TrimSpace(device.Offline + " " + r.Reason)
			}
			state[strings.TrimSpace(r.DeviceType+" "+r.SubDevice)] = text
		}
	}
	return s.agent.Edges.Report(c.r.Context(), space.ID, what, state, c.who.Name)
}

// letPhoneIn makes a link for one phone, which shows the page for a while.
func (s *Server) letPhoneIn(c *call, space *site.Space) ([]byte, error) {
	code, _, err := s.agent.Edges.NewPhoneCode(c.r.Context(), space.ID, c.who.displayID())
	if err != nil {
		return nil, err
	}
	view, _, err := s.doors.view(space.ID)
	if err != nil {
		return nil, err
	}
	return web.RenderPhone(view, s.address(c.r)+"/display/"+space.ID+"#code="+code, edge.PhoneLife)
}

// ownOrigin refuses what a page of another origin sends. A credential in a header
// cannot be sent by one without asking first; this is for a browser with a fault.
func (s *Server) ownOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(s.origins, origin) {
		return nil
	}
	if u, err := url.Parse(origin); err == nil && strings.EqualFold(u.Host, r.Host) {
		return nil
	}
	return &problem.Error{Code: problem.Forbidden, Field: "Origin", Message: "is another than the gateway's: open the page at the address of the gateway"}
}
