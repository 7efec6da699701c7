package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"roomgate/agent/acceptance"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// identifyTime bounds how long a device takes to show itself.
const identifyTime = 30 * time.Second

// consoleAccept does what the page says that proves a room.
func consoleAccept(s *Server, c *call) error {
	var id, by, answer, note, deviceType, sub string
	var asks bool
	var question int64
	err := c.decode(strict.Required("id", &id), strict.Optional("by", &by), strict.Optional("asks", &asks),
		strict.Optional("question", &question), strict.Optional("answer", &answer),
		strict.Optional("note", &note), strict.Optional("device_type", &deviceType), strict.Optional("sub_device", &sub))
	if err != nil {
		return err
	}
	var room acceptance.Room
	var shown []string
	switch c.params[0] {
	case "start":
		if room, err = s.console.Room(c.who.Principal, id); err == nil {
			err = s.errands.StartWalk(room, c.who.Principal, by, asks)
		}
	case "answer":
		err = s.errands.AnswerWalk(id, int(question), answer, note)
	case "stop":
		err = s.errands.StopWalk(id)
	case "identify":
		patient(c.w, identifyTime)
		ctx, cancel := context.WithTimeout(c.r.Context(), identifyTime)
		defer cancel()
		if room, err = s.console.Room(c.who.Principal, id); err == nil {
			shown, err = s.errands.Identify(ctx, room, c.who.Principal, deviceType, sub)
		}
	default:
		err = &problem.Error{Code: problem.NotFound, Field: "action", Message: "is not known: want start, answer, stop or identify"}
	}
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		What string `json:"what,omitempty"` // how a device has shown itself
	}{strings.Join(shown, ", ")})
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
