package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"roomgate/agent/outgoing"
)

const (
	// Timeout bounds one attempt, from the look-up of the name to the answer.
	Timeout = 10 * time.Second
	// maxAnswer is how much of an answer is read, in bytes: enough to keep the
	// connection. Nothing of it is kept, or a webhook could be used to read
	// what only the gateway can reach.
	maxAnswer = 4 << 10
	userAgent = "Roomgate-Webhook/1"
)

// Sender sends notifications.
type Sender struct {
	client http.Client
}

// NewClient returns the client that notifications are sent with.
func NewClient(p outgoing.Policy) *http.Client {
	return outgoing.New(outgoing.Options{Policy: p, Timeout: Timeout, MaxBody: maxAnswer})
}

// NewSender sends with a client as NewClient makes it. Redirects are never
// followed and no cookies are kept, whatever the client says.
func NewSender(c *http.Client) *Sender {
	own := *c
	own.Jar, own.Timeout = nil, 0
	own.CheckRedirect = outgoing.Redirects(0)
	return &Sender{own}
}

// Close lets the connections go that nobody uses.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send makes one attempt. Whatever happens is in the answer.
func (s *Sender) Send(ctx context.Context, url, id string, body []byte, secrets []Secret) Answer {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	start := time.Now()
	a := s.send(ctx, url, id, body, secrets)
	a.Took = time.Since(start)
	return a
}

func (s *Sender) send(ctx context.Context, url, id string, body []byte, secrets []Secret) Answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Answer{Error: "the url cannot be read: change it"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	sign(req.Header, id, body, secrets, time.Now())
	resp, err := s.client.Do(req)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // the head has said it all
	return judge(resp, time.Now())
}
