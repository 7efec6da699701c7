package api

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"roomgate/agent/edge"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
	"roomgate/agent/web"
)

// displayPage answers with the page at a door, which holds no secret: what it shows
// comes by its stream, for who is paired.
func displayPage(s *Server, c *call) error {
	web.Guard(c.w.Header())
	space := s.agent.Site.Find(c.params[0])
	if space == nil {
		body, err := web.RenderNone()
		if err != nil {
			return err
		}
		return c.page(http.StatusNotFound, body)
	}
	body, err := web.RenderShell(space.ID, space.Name, space.Config.Display.Language, s.address(c.r)+"/console/displays?id="+space.ID)
	if err != nil {
		return err
	}
	return c.page(http.StatusOK, body)
}

// page answers with HTML, a whole page or what is put into one.
func (c *call) page(status int, body []byte) error {
	c.changed()
	c.begin(status, []string{"text/html; charset=utf-8"})
	_, _ = c.w.Write(body) // a reader that left is nobody's fault
	return nil
}

// address is where a phone finds the gateway: where the page that asks has found it,
// unless that is on this machine.
func (s *Server) address(r *http.Request) string {
	name := hostName(r.Host)
	ip, err := netip.ParseAddr(name)
	if name == "localhost" || name == "" || err == nil && ip.IsLoopback() {
		if own := s.agent.Health.Network().Page(""); own != "" {
			return own
		}
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// doorLink is the page at the door of a space with a pairing code, which a browser there
// opens and is paired by; empty: the gateway serves no HTTP.
func (s *Server) doorLink(spaceID, code string) string {
	base := s.agent.Health.Network().Base()
	if base == "" {
		return ""
	}
	return base + "/display/" + spaceID + "#code=" + code
}

// webFile answers with a script or a stylesheet. Its name changes with it, so it may
// be kept for good.
func webFile(_ *Server, c *call) error {
	a, ok := web.FindAsset(c.params[0])
	if !ok {
		return &problem.Error{Code: problem.NotFound, Message: "there is no such file: load the page again"}
	}
	body := a.Plain
	h := c.w.Header()
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(strings.Join(c.r.Header["Accept-Encoding"], ","), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.Packed
	}
	h["X-Content-Type-Options"] = noSniff
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Type", a.Type)
	c.status = http.StatusOK
	_, _ = c.w.Write(body) // a reader that left is nobody's fault
	return nil
}

// displayStream sends what the page of a room shows, and what of it changes, as
// HTML by region.
func displayStream(s *Server, c *call) error {
	feed, err := s.doors.feed(c.params[0])
	if err != nil {
		return err
	}
	return s.frames(c, feed)
}

// frames is what somebody looks at, one after the other.
type frames interface {
	Look(seen string) (web.Frame, error)
}

// frames sends the frames of a page to one who looks.
func (s *Server) frames(c *call, feed frames) error {
	seen := c.r.Header.Get("Last-Event-ID")
	frame, err := feed.Look(seen)
	if err != nil {
		return err
	}
	if !c.wantsStream() {
		return c.text("text/event-stream", frame.Events)
	}
	place := s.streams.enter(c)
	if place == nil {
		c.w.Header().Set("Retry-After", "10")
		return &problem.Error{Code: problem.Busy, Message: "too many streams are open: close some of yours, or poll"}
	}
	defer place.Leave()
	s.streams.open.Add(1)
	defer s.streams.open.Add(-1)
	w := newEventWriter(c)
	for w.flush() && s.showFrame(c, feed, w, &seen) {
	}
	return nil
}

// frameEvery is the least time between two frames of a stream: in a burst of events
// the last state counts.
const frameEvery = 50 * time.Millisecond

// showFrame sends what is new, and waits for more; it is false when the stream is
// over.
func (s *Server) showFrame(c *call, feed frames, w *eventWriter, seen *string) bool {
	access := s.agent.Access.Changed()
	if c.work() != nil {
		return false
	}
	frame, err := feed.Look(*seen)
	if err != nil || s.streams.ended(c.who) {
		return false // the space is gone, or who looks
	}
	if len(frame.Events) > 0 {
		w.buffer.Write(frame.Events)
		*seen = frame.ID
		if !w.flush() {
			return false
		}
		if loop.Sleep(c.r.Context(), frameEvery); c.r.Context().Err() != nil {
			return false
		}
	}
	c.rest()
	wait := time.Hour
	if !frame.Until.IsZero() {
		wait = max(time.Until(frame.Until), 0)
	}
	until := time.NewTimer(wait)
	defer until.Stop()
	return s.streams.rest(c, w, until.C, frame.Changed, access)
}

// displayPair gives the page of a room its key for a code: that of an admin, or that
// of a link. The code says of which room.
func displayPair(s *Server, c *call) error {
	if err := s.ownOrigin(c.r); err != nil {
		return err
	}
	var code, serial string
	if err := c.decode(strict.Required("code", &code), strict.Optional("serial", &serial)); err != nil {
		return err
	}
	d, secret, err := s.agent.Edges.Register(c.r.Context(), code, edge.Device{Kind: edge.Display, Name: "page at the door", Serial: serial, Address: remoteAddress(c.r)}, clientAddress(c.r))
	if e := problem.As(err); e != nil {
		status, _ := encodeProblem(e)
		language := ""
		if space := s.agent.Site.Find(c.params[0]); space != nil {
			language = space.Config.Display.Language
		}
		return c.page(status, web.RenderPairRefusal(language, e))
	}
	if err != nil {
		return err
	}
	return c.json(http.StatusCreated, struct {
		Key     string `json:"key"`
		Kind    string `json:"kind"`
		SpaceID string `json:"meeting_space_id"`
		BeatS   int64  `json:"heartbeat_s"` // for a display
	}{secret, d.Kind, d.SpaceID, int64(s.beatEvery(d) / time.Second)})
}
