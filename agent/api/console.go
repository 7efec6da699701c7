package api

import (
	"context"
	"net/http"
	"time"

	"roomgate/agent"
	"roomgate/agent/access"
	"roomgate/agent/console"
	"roomgate/agent/errand"
	"roomgate/agent/health"
	"roomgate/agent/rule"
	"roomgate/agent/strict"
	"roomgate/agent/web"
)

// consolePage answers with a page of the console, which holds no secret: what it shows
// comes by its stream, for who has signed in.
func consolePage(s *Server, c *call) error {
	web.Guard(c.w.Header())
	name := c.params[0]
	if name == "" {
		name = "overview"
	}
	body, found, err := s.console.Shell(name)
	if err != nil {
		return err
	}
	if !found {
		return c.page(http.StatusNotFound, body)
	}
	return c.page(http.StatusOK, body)
}

// consoleSession lets an admin in for a code that roomgate console has printed.
func consoleSession(s *Server, c *call) error {
	if err := s.ownOrigin(c.r); err != nil {
		return err
	}
	var code string
	if err := c.decode(strict.Required("code", &code)); err != nil {
		return err
	}
	token, expires, err := s.agent.Access.Console.SignIn(c.r.Context(), code, clientAddress(c.r))
	if err != nil {
		return err
	}
	return c.json(http.StatusCreated, struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}{token, expires})
}

// endConsoleSession ends the session that asks, and no other one.
func endConsoleSession(s *Server, c *call) error {
	if err := s.agent.Access.SignOutSession(c.r.Context(), c.who.Principal); err != nil {
		return err
	}
	return c.none()
}

// consoleStream sends what a page of the console shows, and what of it changes.
func consoleStream(s *Server, c *call) error {
	feed, err := s.console.Feed(c.params[0], c.who.Principal, c.r.URL.Query())
	if err != nil {
		return err
	}
	if c.wantsStream() {
		ctx, cancel := context.WithCancel(c.r.Context())
		defer cancel()
		place, err := s.console.Enter(c.who.Principal, cancel)
		if err != nil {
			return err
		}
		defer place.Leave()
		c.r = c.r.WithContext(ctx)
	}
	return s.frames(c, feed)
}

// consolePanel answers with a dialog of the console.
func consolePanel(s *Server, c *call) error {
	body, err := s.console.Panel(c.params[0], c.who.Principal, c.r.URL.Query())
	if err != nil {
		return err
	}
	return c.page(http.StatusOK, body)
}

func newConsole(o Options, errands *errand.Errands) *console.Console {
	sees := visibility{o.Agent}
	return console.New(console.Options{Agent: o.Agent, Version: o.Version, Findings: o.Findings, Errands: errands, Machine: o.Machine,
		Kinds: append(agent.EventKinds(), auditKinds()...), SeenBy: seenBy, EventsSeenBy: sees.eventsSeenBy,
		Audited: append(auditKinds(), plainAudit),
		SeesRule: func(who *access.Principal, r rule.Rule) bool {
			return sees.ownsRule(&principal{Principal: *who}, r) == nil
		}})
}

func newErrands(o Options) *errand.Errands {
	return errand.New(errand.Options{Means: o.Errands, Version: o.Version, Now: o.Agent.Now,
		Health:  func() *health.Monitor { return o.Agent.Health },
		Valid:   func(who access.Principal) bool { return who == operator.Principal || o.Agent.Valid(who) },
		Changed: func() <-chan struct{} { return o.Agent.Access.Changed() }})
}

// Run does what somebody has begun at the console, and nobody need wait for, until ctx ends.
func (s *Server) Run(ctx context.Context) error { return s.errands.Run(ctx) }
