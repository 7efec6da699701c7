package push

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"roomgate/agent/outgoing"
)

const (
	// Timeout bounds one attempt, from the look-up of the name to the answer.
	Timeout = 10 * time.Second
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 4 << 10
	userAgent = "Roomgate-Push/1"
)

// Note is a message as a push gateway takes it.
type Note struct {
	ID       string // the same note again has the same
	Topic    string
	Title    string
	Body     string
	Priority int // 1 to 5; 3 is usual
}

// wire is a Note as ntfy has it (docs.ntfy.sh/publish, "Publish as JSON").
type wire struct {
	Topic    string `json:"topic"`
	Title    string `json:"title"`
	Message  string `json:"message"`
	Priority int    `json:"priority"`
	Sequence string `json:"sequence_id"`
}

// Gateway is a push gateway.
type Gateway struct {
	url    string
	token  func() (string, error)
	client http.Client
}

// New makes a gateway at an address. The token is asked for before each note,
// so that a new one counts; an empty one is not sent. Redirects are never
// followed and no cookies are kept, whatever the client says.
func New(url string, token func() (string, error), client *http.Client) *Gateway {
	g := &Gateway{strings.TrimRight(url, "/"), token, *client}
	g.client.Jar, g.client.Timeout = nil, 0
	g.client.CheckRedirect = outgoing.Redirects(0)
	return g
}

// NewClient returns the client that a gateway is reached with, wherever the
// configuration says that it is. The authorities are those of the system if nil.
func NewClient(authorities *x509.CertPool) *http.Client {
	return outgoing.New(outgoing.Options{Policy: outgoing.Policy{Anywhere: true}, Timeout: Timeout, MaxBody: maxAnswer, Authorities: authorities})
}

// Close lets the connections go that nobody uses.
func (g *Gateway) Close() { g.client.CloseIdleConnections() }

// Send makes one attempt. Whatever happens is in the answer.
func (g *Gateway) Send(ctx context.Context, n Note) Answer {
	body, err := json.Marshal(wire{n.Topic, n.Title, n.Body, n.Priority, n.ID})
	if err != nil {
		return Answer{Error: "the message cannot be written", Kind: Never}
	}
	return g.ask(ctx, http.MethodPost, "/", body)
}

// Look asks a gateway whether it is well, and sends nothing.
func (g *Gateway) Look(ctx context.Context) Answer {
	return g.ask(ctx, http.MethodGet, "/v1/health", nil)
}

func (g *Gateway) ask(ctx context.Context, method, path string, body []byte) Answer {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	token, err := g.token()
	if err != nil {
		return Answer{Error: "its token cannot be read: see push.token_file", Kind: Later}
	}
	r, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return Answer{Error: "push.url cannot be read", Kind: Later}
	}
	r.Header.Set("User-Agent", userAgent)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := g.client.Do(r)
	if err != nil {
		return broken(err)
	}
	defer func() { _ = answer.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // the head has said it all
	return judge(answer, said, time.Now())
}
