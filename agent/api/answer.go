package api

import (
	"net/http"
	"sync"
	"time"

	"roomgate/agent/problem"
	"roomgate/cloud/guest"
)

const (
	// largeAnswer is from how many bytes on an answer takes a place: until then it is
	// little beside its connection.
	largeAnswer = 16 << 10
	// maxAnswers bounds how many large answers wait for their readers at one time.
	// Each is in memory until it is read. When there are as many, whoever has most
	// of them loses one to somebody who has fewer.
	maxAnswers = 256
)

// answer sends what is computed. A large one that nobody reads loses its place to
// somebody else, and its connection with it.
func (c *call) answer(status int, contentType []string, body []byte) error {
	if len(body) < largeAnswer || !c.reading { // what is changed is not refused afterwards
		c.begin(status, contentType)
		_, _ = c.w.Write(body) // a reader that left is nobody's fault
		return nil
	}
	w := &writing{control: http.NewResponseController(c.w)}
	place := enter(c, c.answers, w.cut)
	if place == nil {
		c.w.Header().Set("Retry-After", "1")
		return &problem.Error{Code: problem.Busy, Message: "too many of your answers are unread: read them, then ask again"}
	}
	defer place.Leave()
	defer w.end()
	c.begin(status, contentType)
	_, _ = c.w.Write(body)
	return nil
}

// enter takes a place for a request; nil: there is none. An organization has no more for having many keys and users: all of
// them share one part, by credential. Anybody else counts by his credential, and then by his network, and who has none by that alone.
func enter(c *call, places *guest.Places, out func()) *guest.Place {
	if c.who.OrganizationID != "" {
		return places.EnterPart(holder(c), credential(c), out)
	}
	return places.EnterKnown(holder(c), clientAddress(c.r), out)
}

// writing is an answer that waits for its reader.
type writing struct {
	control *http.ResponseController
	mu      sync.Mutex
	over    bool // the connection may be somebody's next request
}

// cut ends the connection of a reader that does not read.
func (w *writing) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		_ = w.control.SetWriteDeadline(time.Unix(1, 0)) // without a deadline it ends by itself
	}
}

func (w *writing) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}
