package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"time"

	"roomgate/agent/strict"
)

// linkCalendar makes a space follow an external calendar.
func linkCalendar(s *Server, c *call) error {
	var link, externalID string
	if err := c.decode(strict.Required("url", &link), strict.Optional("external_cal_id", &externalID)); err != nil {
		return err
	}
	if link == "" {
		return invalid("url", "is empty: DELETE ends the link")
	}
	return s.link(c, link, externalID)
}

// unlinkCalendar ends that, and takes the calendar's bookings back.
func unlinkCalendar(s *Server, c *call) error { return s.link(c, "", "") }

func (s *Server) link(c *call, link, externalID string) error {
	state, err := s.agent.Bookings.LinkCalendar(c.r.Context(), c.params[0], link, externalID)
	if err != nil {
		return err
	}
	return c.response(state)
}

// calendarLink says how a space stands with its external calendar.
func calendarLink(s *Server, c *call) error {
	state, err := s.agent.Bookings.CalendarLink(c.params[0])
	if err != nil {
		return err
	}
	if c.who.Personal() { // they quote the calendar
		state.Problems, state.Error = []string{}, ""
	}
	return c.response(state)
}

// feedAnswer is a calendar feed that was made just now.
type feedAnswer struct {
	Token string `json:"token"`
	Path  string `json:"path"` // on this gateway; with the token it needs no key
}

// newFeed gives a space a calendar feed of its own.
func newFeed(s *Server, c *call) error {
	space := c.params[0]
	token, err := s.agent.Bookings.NewFeed(c.r.Context(), space)
	if err != nil {
		return err
	}
	root := "/meetingspace/"
	if c.v2 {
		root = v2Prefix + "/meeting-spaces/"
	}
	return c.wrapped(http.StatusCreated, envelope, feedAnswer{token, root + url.PathEscape(space) + "/calendar.ics?token=" + token})
}

// revokeFeed ends it.
func revokeFeed(s *Server, c *call) error {
	if err := s.agent.Bookings.RevokeFeed(c.r.Context(), c.params[0]); err != nil {
		return err
	}
	return c.none()
}

// calendarFeed is the feed itself. A calendar program sends no key, so the
// token in the URL is one, and wrong ones are counted like wrong keys.
func calendarFeed(s *Server, c *call) error {
	q, err := c.query("token")
	if err != nil {
		return err
	}
	feed, err := s.agent.Bookings.Feed(c.params[0], q.text("token"))
	if err != nil {
		if allowed, _ := s.entrance.tries.take(clientAddress(c.r), time.Now()); !allowed {
			return s.entrance.slowDown(c)
		}
		return err
	}
	sum := sha256.Sum256(feed)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	c.w.Header().Set("ETag", tag)
	if held(c.r.Header["If-None-Match"], tag) {
		c.begin(http.StatusNotModified, []string{"text/calendar"})
		return nil
	}
	return c.text("text/calendar; charset=utf-8", feed)
}
