// Package webhooktest has receivers of webhooks for tests, on the other side of
// a wire in memory. They keep what comes and answer as the test says.
package webhooktest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Domain is what the hosts of the receivers end in, as told by Lines.
const Domain = ".example.com"

// Post is a notification that came.
type Post struct {
	At     time.Time
	Host   string // of the receiver
	Header http.Header
	Body   []byte // as it came; what follows is read of it

	Event     string
	Timestamp string
	WebhookID string
	Data      map[string]any
}

// Receivers are all the receivers that there are. They are a client's transport.
type Receivers struct {
	mu     sync.Mutex
	got    []Post
	answer Answer
}

// Answer is how a receiver answers. It may wait for the end of the request.
type Answer func(host string, r *http.Request) (*http.Response, error)

// Client reaches the receivers, whatever the address.
func (r *Receivers) Client() *http.Client { return &http.Client{Transport: r} }

// RoundTrip takes a notification. Another request is an error.
func (r *Receivers) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var payload struct {
		Event     string         `json:"event"`
		Timestamp string         `json:"timestamp"`
		WebhookID string         `json:"webhook_id"`
		Data      map[string]any `json:"data"`
	}
	if json.Unmarshal(body, &payload) != nil || payload.Data == nil {
		return nil, fmt.Errorf("no notification: %s", body)
	}
	p := Post{time.Now(), req.URL.Host, req.Header, body, payload.Event, payload.Timestamp, payload.WebhookID, payload.Data}
	r.mu.Lock()
	r.got = append(r.got, p)
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		return answer(p.Host, req)
	}
	return Reply(http.StatusOK, ""), nil
}

// Reply is an answer with a status and a Retry-After, which may be empty.
func Reply(status int, retry string) *http.Response {
	w := httptest.NewRecorder()
	w.Header().Set("Retry-After", retry)
	w.WriteHeader(status)
	return w.Result()
}

// Say sets how the receivers answer from now on; nil: 200.
func (r *Receivers) Say(f Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// Always has all receivers answer with a status from now on.
func (r *Receivers) Always(status int, retry string) {
	r.Say(func(string, *http.Request) (*http.Response, error) { return Reply(status, retry), nil })
}

// Take returns what has come since the last time, oldest first.
func (r *Receivers) Take() []Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// Lines is Take as "host event booking", without the Domain.
func (r *Receivers) Lines() (all []string) {
	for _, p := range r.Take() {
		all = append(all, fmt.Sprint(strings.TrimSuffix(p.Host, Domain), " ", p.Event, " ", p.Data["booking_id"]))
	}
	return all
}
