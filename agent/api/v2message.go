package api

import (
	"net/http"

	"roomgate/agent/message"
	"roomgate/agent/message/book"
)

// timedMessage is a message of V2.0.
type timedMessage struct {
	book.Info
	OrganizationID maybe         `json:"organization_id"` // null: it is the building's
	SpaceID        maybe         `json:"meeting_space_id"`
	CreatedAt      moment        `json:"created_at"`
	ExpiresAt      moment        `json:"expires_at"`
	Channels       timedChannels `json:"channels"`
}

// timedChannels are the ways to a mobile device.
type timedChannels struct {
	Cloud timedChannel `json:"cloud"`
	Push  timedChannel `json:"push"`
}

// timedChannel is how a message fares on a way.
type timedChannel struct {
	message.Channel
	At moment `json:"at"` // null: its state is not final
}

func newTimedMessage(m book.Info) timedMessage {
	return timedMessage{m, maybe(m.OrganizationID), maybe(m.SpaceID), moment(m.CreatedAt), moment(m.ExpiresAt),
		timedChannels{timedChannel{m.Channels.Cloud, moment(m.Channels.Cloud.At)}, timedChannel{m.Channels.Push, moment(m.Channels.Push.At)}}}
}

// message answers with a message, of the version.
func (c *call) message(status int, m book.Info) error {
	if c.v2 {
		return c.json(status, newTimedMessage(m))
	}
	return c.json(status, m)
}

// timedMessages answers with a page of them, the newest first.
func (c *call) timedMessages(found []book.Info, next string) error {
	return c.json(http.StatusOK, page[timedMessage]{records(found, newTimedMessage), maybe(next)})
}
