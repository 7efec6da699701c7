package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// identifyTime bounds how long a device takes to show itself.
const identifyTime = 30 * time.Second

// acceptRequest is what the page that proves a room asks.
type acceptRequest struct {
	id, by, answer, note, deviceType, sub string

	asks     bool
	question int64
}

// acceptActions are what it may ask. Each returns how a device has shown itself.
var acceptActions = map[string]func(*Server, *call, acceptRequest) (shown []string, err error){
	"start": startWalk, "answer": answerWalk, "stop": stopWalk, "identify": identifyDevice}

// consoleAccept does what the page says that proves a room.
func consoleAccept(s *Server, c *call) error {
	var q acceptRequest
	err := c.decode(strict.Required("id", &q.id), strict.Optional("by", &q.by), strict.Optional("asks", &q.asks),
		strict.Optional("question", &q.question), strict.Optional("answer", &q.answer),
		strict.Optional("note", &q.note), strict.Optional("device_type", &q.deviceType), strict.Optional("sub_device", &q.sub))
	if err != nil {
		return err
	}
	act, known := acceptActions[c.params[0]]
	if !known {
		return &problem.Error{Code: problem.NotFound, Field: "action", Message: "is not known: want start, answer, stop or identify"}
	}
	shown, err := act(s, c, q)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		What string `json:"what,omitempty"` // how a device has shown itself
	}{strings.Join(shown, ", ")})
}

func startWalk(s *Server, c *call, q acceptRequest) ([]string, error) {
	room, err := s.console.Room(c.who.Principal, q.id)
	if err != nil {
		return nil, err
	}
	return nil, s.errands.StartWalk(room, c.who.Principal, q.by, q.asks)
}

func answerWalk(s *Server, _ *call, q acceptRequest) ([]string, error) {
	return nil, s.errands.AnswerWalk(q.id, int(q.question), q.answer, q.note)
}

func stopWalk(s *Server, _ *call, q acceptRequest) ([]string, error) {
	return nil, s.errands.StopWalk(q.id)
}

func identifyDevice(s *Server, c *call, q acceptRequest) ([]string, error) {
	patient(c.w, identifyTime)
	ctx, cancel := context.WithTimeout(c.r.Context(), identifyTime)
	defer cancel()
	room, err := s.console.Room(c.who.Principal, q.id)
	if err != nil {
		return nil, err
	}
	return s.errands.Identify(ctx, room, c.who.Principal, q.deviceType, q.sub)
}

// consoleReport answers with the last acceptance report of a space, as a page that needs
// nothing else or as JSON, to be kept.
func consoleReport(s *Server, c *call) error {
	r, err := s.errands.Report(c.params[0])
	if err != nil {
		return err
	}
	var out bytes.Buffer
	contentType, ending := "text/html; charset=utf-8", ".html"
	if c.r.URL.Query().Get("format") == "json" {
		contentType, ending = "application/json", ".json"
		err = json.NewEncoder(&out).Encode(r)
	} else {
		err = r.WriteHTML(&out)
	}
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+r.Name()+ending+`"`)
	c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
	return c.text(contentType, out.Bytes())
}
