package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
	"roomgate/agent/webhook"
)

// dataAnswer is the platform's envelope of its core operations.
type dataAnswer struct {
	Data any    `json:"data"`
	Next string `json:"next_cursor,omitempty"` // of a page that is not the last
}

func (c *call) data(status int, v any) error { return c.wrapped(status, "data", v) }

// webhookAnswer is a webhook with the secret that was made for it, shown once.
type webhookAnswer struct {
	webhook.Info
	Secret string `json:"secret,omitempty"`
}

// createWebhook registers who is told of what.
func createWebhook(s *Server, c *call) error {
	var r webhook.Request
	var events []json.RawMessage
	var secret string
	err := c.decode(strict.Required("organization_id", &r.OrganizationID), strict.Required("url", &r.URL),
		strict.Required("events", &events), strict.Optional("secret", &secret))
	if err != nil {
		return err
	}
	if r.Events, err = texts("events", events); err != nil {
		return err
	}
	if err := owns(c.who, "organization_id", r.OrganizationID); err != nil {
		return err
	}
	r.Secret = webhook.Secret(secret)
	w, made, err := s.agent.Webhooks.Create(c.r.Context(), r)
	if err != nil {
		return err
	}
	return c.webhook(http.StatusCreated, webhookAnswer{w, made})
}

// texts reads an array of texts.
func texts(field string, values []json.RawMessage) ([]string, error) {
	out := make([]string, len(values))
	for i, v := range values {
		var err error
		if out[i], err = strict.Text(field, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// listWebhooks lists those of an organization, or all that the caller may see.
func listWebhooks(s *Server, c *call) error {
	q, err := c.listQuery("organization_id")
	if err != nil {
		return err
	}
	organization := q.text("organization_id")
	if organization == "" {
		organization = organizationOf(c.who)
	}
	if err := owns(c.who, "organization_id", organization); err != nil {
		return err
	}
	all := s.agent.Webhooks.List(organization)
	if c.v2 {
		return list(c, q, all, webhookID, func(w webhook.Info) timedWebhook { return newTimedWebhook(webhookAnswer{w, ""}) })
	}
	if all == nil {
		all = []webhook.Info{}
	}
	return c.data(http.StatusOK, all)
}

// ownWebhook finds the webhook that the path names, if the caller may see it.
func (s *Server) ownWebhook(c *call) (webhook.Info, error) {
	w, err := s.agent.Webhooks.Get(c.params[0])
	if err == nil {
		err = owns(c.who, "id", w.OrganizationID)
	}
	return w, err
}

func getWebhook(s *Server, c *call) error {
	w, err := s.ownWebhook(c)
	if err != nil {
		return err
	}
	return c.webhook(http.StatusOK, webhookAnswer{w, ""})
}

// changeWebhook changes what is given; "state": "active" makes a failing or a
// disabled one try again.
func changeWebhook(s *Server, c *call) error {
	if _, err := s.ownWebhook(c); err != nil {
		return err
	}
	var change webhook.Change
	var events *[]json.RawMessage
	var state *string
	err := c.decode(strict.Given("url", &change.URL), strict.Given("events", &events), strict.Given("state", &state))
	if err != nil {
		return err
	}
	if events != nil {
		list, err := texts("events", *events)
		if err != nil {
			return err
		}
		change.Events = &list
	}
	if state != nil {
		change.State = (*webhook.State)(state)
	}
	w, err := s.agent.Webhooks.Change(c.r.Context(), c.params[0], change)
	if err != nil {
		return err
	}
	return c.webhook(http.StatusOK, webhookAnswer{w, ""})
}

func deleteWebhook(s *Server, c *call) error {
	if _, err := s.ownWebhook(c); err != nil {
		return err
	}
	if err := s.agent.Webhooks.Delete(c.r.Context(), c.params[0]); err != nil {
		return err
	}
	return c.none()
}

// rotateSecret gives a webhook another secret. The old one signs too for a
// while, so that the receiver can change over.
func rotateSecret(s *Server, c *call) error {
	if _, err := s.ownWebhook(c); err != nil {
		return err
	}
	var secret string
	const most = int64(webhook.MaxOverlap / time.Hour)
	hours := int64(webhook.Overlap / time.Hour)
	if err := c.decodeAny(strict.Optional("secret", &secret), strict.Optional("overlap_hours", &hours)); err != nil {
		return err
	}
	if hours < 0 || hours > most {
		return invalid("overlap_hours", "is out of range: want 0 to "+strconv.FormatInt(most, 10))
	}
	w, made, err := s.agent.Webhooks.Rotate(c.r.Context(), c.params[0], webhook.Secret(secret), time.Duration(hours)*time.Hour)
	if err != nil {
		return err
	}
	return c.webhook(http.StatusOK, webhookAnswer{w, made})
}

// testWebhook delivers a test now, and answers with the result.
func testWebhook(s *Server, c *call) error {
	if _, err := s.ownWebhook(c); err != nil {
		return err
	}
	d, err := s.agent.Webhooks.Test(c.r.Context(), c.params[0])
	if err != nil {
		return err
	}
	return c.delivery(http.StatusOK, d)
}

// listDeliveries is what a webhook was sent, the newest first.
func listDeliveries(s *Server, c *call) error {
	if _, err := s.ownWebhook(c); err != nil {
		return err
	}
	q, err := c.query("limit", "cursor")
	if err != nil {
		return err
	}
	limit, err := q.number("limit", 1, 200, 50)
	if err != nil {
		return err
	}
	found, next, err := s.agent.Webhooks.Deliveries(c.params[0], int(limit), q.text("cursor"))
	if err != nil {
		return err
	}
	if found == nil {
		found = []webhook.Delivery{}
	}
	return c.deliveries(found, next)
}

// redeliver sends a delivery again, with all its retries.
func redeliver(s *Server, c *call) error {
	if _, err := s.ownWebhook(c); err != nil {
		return err
	}
	d, err := s.agent.Webhooks.Redeliver(c.r.Context(), c.params[0], c.params[1])
	if err != nil {
		return err
	}
	return c.delivery(http.StatusAccepted, d)
}

// organizationOf is the organization that a caller belongs to; empty: all.
func organizationOf(p principal) string { return p.OrganizationID }

// owns refuses what is of another organization, as if it was not there.
func owns(p principal, field, organization string) error {
	if own := organizationOf(p); own == "" || own == organization {
		return nil
	}
	thing := "a webhook"
	if field == "organization_id" {
		thing = "an organization"
	}
	return &problem.Error{Code: problem.NotFound, Field: field, Message: "is not " + thing + " of this gateway"}
}
