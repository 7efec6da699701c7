package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"roomgate/agent/device"
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

// Values of headers that are the same in every answer; net/http only reads
// them.
var (
	typeJSON    = []string{"application/json"}
	typeProblem = []string{"application/problem+json"}
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
)

// begin writes the head of an answer. A reading of a device is true for a moment
// only, so nobody may store it.
func (c *call) begin(status int, contentType []string) {
	c.rest() // it is computed: who reads slowly keeps nobody waiting
	h := c.w.Header()
	h["Content-Type"] = contentType
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	c.status = status
	if status != http.StatusOK {
		c.w.WriteHeader(status)
	}
}

// raw answers 200 with JSON that is encoded already.
func (c *call) raw(body []byte) error { return c.answer(http.StatusOK, typeJSON, body) }

// json answers with v.
func (c *call) json(status int, v any) error { return encode(c, status, "", v, "") }

// encode answers with v between two texts.
func encode(c *call, status int, before string, v any, after string) error {
	c.out.WriteString(before)
	if err := json.NewEncoder(&c.out).Encode(v); err != nil {
		return err
	}
	c.out.Truncate(c.out.Len() - len("\n"))
	c.out.WriteString(after)
	c.changed()
	return c.answer(status, typeJSON, uniformTimes(c.out.Bytes()))
}

// response answers 200 with {"response": v}, the platform's envelope.
func (c *call) response(v any) error { return c.wrapped(http.StatusOK, envelope, v) }

// envelope is the platform's for devices and spaces.
const envelope = "response"

// text answers 200 with a text that may be shown at once.
func (c *call) text(contentType string, body []byte) error {
	return c.answer(http.StatusOK, []string{contentType}, body)
}

// fail answers with a problem, and logs what is our own fault.
func (c *call) fail(log *slog.Logger, err error) {
	e := c.wording.refusal(device.AsError(err))
	if e.Code == problem.Internal {
		log.Error("request failed", "method", c.r.Method, "path", c.r.URL.Path, "error", err)
	}
	if c.status != 0 { // too late: a stream has begun
		return
	}
	_ = c.work() // who left while waiting is answered for nobody
	status, body := encodeProblem(e)
	var slow *problem.SlowDown
	switch {
	case status == http.StatusUnauthorized:
		c.w.Header()["Www-Authenticate"] = challenges
	case errors.As(err, &slow):
		c.w.Header().Set("Retry-After", strconv.Itoa(int(slow.After.Seconds())))
	}
	c.begin(status, typeProblem)
	_, _ = c.w.Write(body)
}

// none answers 204: it is done, and there is nothing to say.
func (c *call) none() error {
	c.changed()
	c.rest()
	c.status = http.StatusNoContent
	c.w.WriteHeader(c.status)
	return nil
}
