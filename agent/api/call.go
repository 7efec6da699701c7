package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
	"roomgate/cloud/guest"
)

const (
	// maxBody bounds a JSON request.
	maxBody = 64 << 10
	// leastBody is how large a buffer is at first.
	leastBody = 1 << 10
	// keptBody is how large a buffer is kept for the next request, or the next answer.
	keptBody = 8 << 10
	// maxParams is how many values a path may hold.
	maxParams = 2
)

// call is one request on its way. It is used again once answered, so nothing
// may keep it, nor its body.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	who     principal
	askedAt time.Time         // when it was found out who that is; zero: nobody need say
	params  [maxParams]string // the values in the path, in order
	status  int               // 0 until answered
	buffers
	of      statusOf      // what status is asked of, all day
	limiter *limiter      // where it waits for its turn; nil: it waits for none
	reading bool          // it changes nothing, and works once its body is there
	working bool          // it has a turn
	bodies  *bodies       // of the server
	held    int64         // of them
	holder  string        // of those
	answers *guest.Places // of the server, large ones; nil: any number

	operation *endpoint
	server    *Server

	v2      bool    // the operation is of V2.0
	wording wording // its own, of V2.0
}

// buffers are what the next call has too.
type buffers struct {
	body []byte
	out  bytes.Buffer // the answer, while it is encoded
}

// statusOf is a device or a sub-device.
type statusOf struct{ deviceType, sub string }

var calls = sync.Pool{New: func() any { return &call{buffers: buffers{body: make([]byte, 0, leastBody)}} }}

func newCall(w http.ResponseWriter, r *http.Request) *call {
	c := calls.Get().(*call)
	c.w, c.r = w, r
	return c
}

func (c *call) release() {
	if c.held > 0 {
		c.bodies.give(c.holder, c.held)
	}
	body, out := c.body[:0], c.out
	if cap(body) > keptBody {
		body = nil
	}
	if out.Reset(); out.Cap() > keptBody {
		out = bytes.Buffer{}
	}
	*c = call{buffers: buffers{body, out}}
	calls.Put(c)
}

// readBody returns the request's body, at most limit bytes of it. It is valid
// until the call ends.
func (c *call) readBody(limit int, contentTypes ...string) ([]byte, error) {
	typed, err := c.checkType(contentTypes)
	if err != nil {
		return nil, err
	}
	if c.r.ContentLength > int64(limit) {
		return nil, c.tooLarge(limit)
	}
	body := c.body[:0]
	for {
		if len(body) == cap(body) {
			if err := c.grow(limit); err != nil {
				return nil, err
			}
			body = c.body
		}
		n, err := c.r.Body.Read(body[len(body):cap(body)])
		if n > 0 && !typed {
			return nil, untyped(c.w, contentTypes)
		}
		body = body[:len(body)+n]
		c.body = body
		switch {
		case len(body) > limit:
			return nil, c.tooLarge(limit)
		case errors.Is(err, io.EOF):
			return body, c.received()
		case err != nil:
			return nil, &problem.Error{Code: malformed, Message: "the body ended early: send the whole of it in time"}
		}
	}
}

// received goes on to work once the body is there: who sends slowly takes no turn, and does not outlive his credential.
func (c *call) received() error {
	if c.reading {
		if err := c.work(); err != nil {
			return err
		}
	}
	return c.again()
}

// grow makes the body's buffer twice as large, at most one byte more than limit. What is
// larger than a usual request is taken from a budget: many who send slowly could
// else fill the memory with what they have sent so far.
func (c *call) grow(limit int) error {
	size := min(max(2*cap(c.body), leastBody), limit+1)
	if more := int64(size - max(cap(c.body), keptBody)); more > 0 && c.bodies != nil {
		if c.held == 0 {
			c.holder = holder(c)
		}
		if !c.bodies.take(c.holder, more) {
			c.w.Header().Set("Connection", "close") // instead of reading on
			c.w.Header().Set("Retry-After", "1")
			return &problem.Error{Code: problem.Unavailable, Message: "too many large requests are just being read: try again in a second"}
		}
		c.held += more
	}
	c.body = append(make([]byte, 0, size), c.body...)
	return nil
}

// tooLarge refuses a body, and ends the connection instead of reading on.
func (c *call) tooLarge(limit int) error {
	c.w.Header().Set("Connection", "close")
	return &problem.Error{Code: tooLarge, Message: "the body is larger than " + strconv.Itoa(limit>>10) + " KiB: send less"}
}

// untyped refuses a body that does not say what it is: a page of anybody can make
// a browser send one without asking first (Fetch Standard, section 2.2.2).
func untyped(w http.ResponseWriter, want []string) error {
	w.Header().Set("Connection", "close") // instead of reading on
	return &problem.Error{Code: unsupportedType, Field: "Content-Type", Message: "is missing: send " + strings.Join(want, " or ") + " with a body"}
}

// checkType refuses a body of another type. Without a type there may be no body; typed: there is one.
func (c *call) checkType(want []string) (typed bool, err error) {
	given := c.r.Header["Content-Type"]
	if len(c.r.Header["Content-Encoding"]) > 0 {
		return false, &problem.Error{Code: unsupportedType, Field: "Content-Encoding", Message: "is not supported: send the body as it is"}
	}
	if len(given) == 0 {
		if c.r.ContentLength > 0 {
			return false, untyped(c.w, want)
		}
		return false, nil
	}
	if slices.Contains(want, given[0]) { // as most write it
		return true, nil
	}
	media, _, _ := strings.Cut(given[0], ";")
	media = strings.TrimSpace(media)
	for _, w := range want {
		if strings.EqualFold(media, w) {
			return true, nil
		}
	}
	return false, &problem.Error{Code: unsupportedType, Field: "Content-Type", Message: "is not supported: want " + strings.Join(want, " or ")}
}

// decode reads the JSON object in the body into members.
func (c *call) decode(members ...strict.Member) error {
	body, err := c.readBody(maxBody, "application/json")
	if err != nil {
		return err
	}
	return c.worded(strict.Object(body, c.wording.members(members)))
}

// decodeAny is decode where nothing need be said: no body is an empty object.
func (c *call) decodeAny(members ...strict.Member) error {
	body, err := c.readBody(maxBody, "application/json")
	if err != nil || len(body) == 0 {
		return err
	}
	return c.worded(strict.Object(body, c.wording.members(members)))
}

// worded is an error that is in the words of the request already.
func (c *call) worded(err error) error {
	if err != nil {
		c.wording = nil
	}
	return err
}
