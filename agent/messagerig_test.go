package agent

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"roomgate/agent/journal/journaltest"
	"roomgate/agent/message"
	"roomgate/agent/message/book"
	"roomgate/agent/push/pushtest"
	"roomgate/store"
)

const pushToken = "tk_of-the-building"

// reachable has a room of an organization, people with topics and without, and
// a push gateway.
const reachable = `
gateway: {id: test}
clock: {trust: TRUST}
messages: {organizers: true}
push: {url: "https://push.test", token: ` + pushToken + `, topic: "rooms-{user_id}"}
users:
  - {id: ada, email: Ada@example.com, name: Ada, role: admin, push_topic: ada-phone}
  - {id: mel, email: mel@example.com, name: Mel, organization_id: ` + org + `}
  - {id: bob, email: bob@example.com, name: Bob, organization_id: ` + otherOrg + `}
  - {id: off, email: off@example.com, name: Off, enabled: false}
spaces:
  - {id: ` + room + `, name: Aurora, organization_id: ` + org + `}
  - {id: ` + otherRoom + `, name: Borealis}
`

// storedMessages is the table of package book.
var storedMessages = store.NewTable[storedMessage]("messages")

type storedMessage struct {
	message.Message
	Push message.Channel `json:"push"`
}

// messageRig is a building with a push gateway.
type messageRig struct {
	*rig
	out *pushtest.Server
	log *journaltest.Log
}

// openMessageRig opens a building without running it. An empty trust is always.
func openMessageRig(t *testing.T, o rigOptions, trust string) *messageRig {
	t.Helper()
	if trust == "" {
		trust = "always"
	}
	if o.yaml == "" {
		o.yaml = reachable
	}
	o.yaml = strings.Replace(o.yaml, "TRUST", trust, 1)
	r := &messageRig{out: &pushtest.Server{Token: pushToken}, log: &journaltest.Log{}}
	o.push, o.log = &http.Client{Transport: r.out}, slog.New(slog.NewTextHandler(r.log, nil))
	r.rig = openRig(t, o)
	return r
}

func startMessageRig(t *testing.T, o rigOptions, trust string) *messageRig {
	t.Helper()
	r := openMessageRig(t, o, trust)
	r.run()
	return r
}

// send sends a message that has to be taken.
func (r *messageRig) send(to message.To, title string) book.Info {
	r.t.Helper()
	m, err := r.Messages.Send(r.t.Context(), hello(to, title), "")
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func hello(to message.To, title string) message.Request {
	return message.Request{To: to, Title: title, Body: "hello", Source: message.FromAPI}
}

// now is how a message stands.
func (r *messageRig) now(id string) book.Info {
	r.t.Helper()
	m, err := r.Messages.Get(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// wantPush says how a message stands with the push gateway.
func (r *messageRig) wantPush(what, id string, state message.State, reason string) {
	r.t.Helper()
	if c := r.now(id).Channels.Push; c.State != state || !strings.Contains(c.Reason, reason) || c.Open() != c.At.IsZero() {
		r.t.Errorf("%s: %+v, want %s %q", what, c, state, reason)
	}
}

// pushed is what the gateway has taken, as "topic title".
func (r *messageRig) pushed() (all []string) {
	for _, m := range r.out.Taken() {
		all = append(all, m.Topic+" "+m.Title)
	}
	return all
}

func (r *messageRig) fails(status int, retry string) {
	r.out.Script(func(string) *pushtest.Fault { return &pushtest.Fault{Status: status, RetryAfter: retry} })
}
