package api

import (
	"encoding/json"
	"net/http"

	"roomgate/agent/strict"
	"roomgate/drivers"
)

// maxDone bounds the answers in one heartbeat.
const maxDone = 64

// edgeHeartbeat takes the sign of life of an edge device. That of a room
// display's page gets its commands.
func edgeHeartbeat(s *Server, c *call) error {
	var space string
	var raw json.RawMessage
	var beat edgeBeat
	err := c.decode(append(beat.members(), strict.Optional("meeting_space_id", &space), strict.Optional("done", &raw))...)
	if err != nil {
		return err
	}
	if page, err := beat.take(s, c, &space); err != nil {
		return err
	} else if !page {
		return c.orders(nil)
	}
	done, err := parseDone(raw)
	if err != nil {
		return err
	}
	if err := s.visibility.ownSpace(&c.who, space); err != nil {
		return err
	}
	orders, err := s.agent.Site.PageBeat(space, done)
	if err != nil {
		return err
	}
	return c.orders(orders)
}

// parseDone reads the list of a page's answers.
func parseDone(raw json.RawMessage) (done []drivers.PageDone, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, invalid("done", "is not a list")
	}
	for _, item := range strict.Each(raw) {
		if item[0] != '{' {
			return nil, invalid("done", "has an item that is not an object")
		}
		if len(done) == maxDone {
			return nil, invalid("done", "has more than 64 items")
		}
		var d drivers.PageDone
		err := strict.Value([]strict.Member{strict.Required("id", &d.ID), strict.Optional("error", &d.Error)}, "done", item)
		if err != nil {
			return nil, err
		}
		d.Error = strict.Clip(d.Error)
		done = append(done, d)
	}
	return done, nil
}

func (c *call) orders(orders []drivers.PageCommand) error {
	if orders == nil {
		orders = []drivers.PageCommand{}
	}
	return c.json(http.StatusOK, struct {
		Orders []drivers.PageCommand `json:"orders"`
	}{orders})
}
