// Package pushtest is a push gateway for tests: an HTTP server that behaves as
// the documentation of ntfy says (docs.ntfy.sh/publish), keeps the messages
// which it took, and fails when its script says so.
package pushtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Message is one that was taken, with the names of ntfy's JSON.
type Message struct {
	ID       string    `json:"id"`
	Time     int64     `json:"time"`
	Event    string    `json:"event"`
	Topic    string    `json:"topic"`
	Title    string    `json:"title,omitempty"`
	Message  string    `json:"message"`
	Priority int       `json:"priority,omitempty"`
	Sequence string    `json:"sequence_id,omitempty"`
	At       time.Time `json:"-"`
}

// Fault is what a script answers instead.
type Fault struct {
	Status     int
	RetryAfter string
	Lost       error // no answer comes at all; by RoundTrip only
	After      bool  // the message is taken first, and then this is answered
}

// Server is the gateway. It is a handler, and a client's transport that needs
// no network.
type Server struct {
	Token string // that is wanted; empty: anybody may publish

	mu     sync.Mutex
	taken  []Message
	asked  int
	script func(topic string) *Fault
}

// Script says how the server fails from now on; nil: not at all.
func (s *Server) Script(f func(topic string) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = f
}

// Taken returns what was taken so far, oldest first.
func (s *Server) Taken() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// Asked is how many requests have come.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

var topics = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

const maxMessage = 4096 // bytes, ntfy's message-size-limit

// ServeHTTP is ntfy's POST / with a JSON body, and its GET /v1/health.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, fault := s.judge(r)
	if fault != nil {
		if way, ok := w.(*lossy); ok && fault.Lost != nil {
			way.lost = fault.Lost
			return
		}
		if fault.RetryAfter != "" {
			w.Header().Set("Retry-After", fault.RetryAfter)
		}
		answer(w, fault.Status, map[string]any{"code": fault.Status * 100, "http": fault.Status, "error": http.StatusText(fault.Status)})
		return
	}
	if m == nil {
		answer(w, http.StatusOK, map[string]bool{"healthy": true})
		return
	}
	answer(w, http.StatusOK, m)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// judge takes a message or says why not.
func (s *Server) judge(r *http.Request) (*Message, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/v1/health":
		return nil, nil
	case r.URL.Path != "/" || r.Method != http.MethodPost && r.Method != http.MethodPut:
		return nil, &Fault{Status: http.StatusNotFound}
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 2*maxMessage+1))
	m := &Message{}
	switch {
	case err != nil || json.Unmarshal(raw, m) != nil:
		return nil, &Fault{Status: http.StatusBadRequest}
	case len(raw) > 2*maxMessage || len(m.Message) > maxMessage:
		return nil, &Fault{Status: http.StatusRequestEntityTooLarge}
	case s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token:
		return nil, &Fault{Status: http.StatusUnauthorized}
	case !topics.MatchString(m.Topic) || m.Priority < 0 || m.Priority > 5:
		return nil, &Fault{Status: http.StatusBadRequest}
	}
	var fault *Fault
	if s.script != nil {
		fault = s.script(m.Topic)
	}
	if fault == nil || fault.After {
		m.ID, m.Event, m.At = "id"+strconv.Itoa(len(s.taken)), "message", time.Now()
		m.Time = m.At.Unix()
		s.taken = append(s.taken, *m)
	}
	return m, fault
}

// RoundTrip answers a client without a network.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := &lossy{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, r)
	if w.lost != nil {
		return nil, w.lost
	}
	return w.Result(), nil
}

// lossy is an answer that may get lost on its way.
type lossy struct {
	*httptest.ResponseRecorder
	lost error
}
