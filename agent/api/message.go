package api

import (
	"net/http"
	"strconv"
	"time"

	"roomgate/agent/message"
	"roomgate/agent/message/book"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// sendMessage takes a message to somebody's mobile device.
func sendMessage(s *Server, c *call) error {
	r := message.Request{OrganizationID: organizationOf(c.who), Source: message.FromAPI}
	var to message.To
	var priority string
	err := c.decode(strict.Required("to", []strict.Member{strict.Optional("email", &to.Email), strict.Optional("user_id", &to.UserID),
		strict.Optional("booking_id", &to.BookingID),
		strict.Optional("topic", &to.Topic)}), strict.Required("title", &r.Title), strict.Required("body", &r.Body), strict.Optional("priority", &priority),
		strict.Optional("meeting_space_id", &r.SpaceID), strict.Optional("expires_at", &r.ExpiresAt), strict.Optional("ttl", lifetime(&r.Life)))
	if err != nil {
		return err
	}
	r.To, r.Priority = to, message.Priority(priority)
	if err := s.visibility.ownMessageParts(&c.who, r); err != nil {
		return err
	}
	key, err := requestKey(c)
	if err != nil {
		return err
	}
	sent, err := s.agent.Messages.Send(c.r.Context(), r, key)
	if key != "" && isUsed(err) {
		return invalid(headerIdempotencyKey, "was used before for another message: choose a new one")
	}
	if err != nil {
		return err
	}
	return c.message(http.StatusAccepted, s.visibility.messageSeenBy(&c.who.Principal, sent))
}

// ownMessageParts refuses a space and a booking that who asks does not see.
func (s visibility) ownMessageParts(who *principal, r message.Request) error {
	if r.SpaceID != "" {
		if err := s.ownSpace(who, r.SpaceID); err != nil {
			return err
		}
	}
	if r.To.BookingID != "" && s.ownBooking(who, r.To.BookingID) != nil {
		return &problem.Error{Code: problem.NotFound, Field: "to.booking_id", Message: "is not a booking of this building"}
	}
	return nil
}

// lifetime reads how long something is worth while: seconds, or a text as 30m.
func lifetime(into *time.Duration) strict.Decoder {
	return func(field string, value []byte) (err error) {
		want := "want seconds, or a text as 30m or 12h"
		if field == "ttl_s" { // the name in V2.0, which has seconds only
			want = "want seconds"
		}
		if value[0] == '"' && field != "ttl_s" {
			var words string
			if words, err = strict.Unquote(value); err == nil {
				*into, err = time.ParseDuration(words)
			}
		} else {
			var seconds uint64
			seconds, err = strconv.ParseUint(string(value), 10, 31)
			*into = time.Duration(seconds) * time.Second
		}
		if err != nil || *into <= 0 {
			return invalid(field, "is not a length of time: "+want)
		}
		return nil
	}
}

// listMessages lists messages with how they fare, the newest first.
func listMessages(s *Server, c *call) error {
	q, err := c.query("limit", "cursor")
	if err != nil {
		return err
	}
	limit, err := q.number("limit", 1, 200, 50)
	if err != nil {
		return err
	}
	found, next, err := s.agent.Messages.List(c.who.OrganizationID, int(limit), q.text("cursor"))
	if err != nil {
		return err
	}
	if c.v2 {
		return c.timedMessages(found, next)
	}
	return c.json(http.StatusOK, struct {
		Messages []book.Info `json:"messages"`
		Next     string      `json:"next_cursor,omitempty"`
	}{found, next})
}

// getMessage answers with one message.
func getMessage(s *Server, c *call) error {
	m, err := s.agent.Messages.Get(c.params[0])
	if err != nil {
		return err
	}
	return c.message(http.StatusOK, s.visibility.messageSeenBy(&c.who.Principal, m))
}

// ownMessage refuses a message that is of another organization.
func (s visibility) ownMessage(who *principal, id string) error {
	m, err := s.agent.Messages.Get(id)
	if err == nil && !who.Sees(m.OrganizationID) {
		_, err = s.agent.Messages.Get(nobody)
	}
	return err
}
