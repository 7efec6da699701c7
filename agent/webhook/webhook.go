package webhook

import (
	"slices"
	"time"

	"roomgate/agent/outgoing"
)

// State is where a webhook stands.
type State string

// The states of a webhook. A failing one still gets everything and is
// active again with its first success; a disabled one gets nothing.
const (
	Active   State = "active"
	Failing  State = "failing"
	Disabled State = "disabled"
)

// Webhook is who gets which events. Its secrets are kept beside it.
type Webhook struct {
	ID             string    `json:"id"`
	OrganizationID string    `json:"organization_id"`
	URL            string    `json:"url"`
	Events         []string  `json:"events"`
	State          State     `json:"state"`
	Reason         string    `json:"reason,omitempty"` // why it is failing or disabled
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	// RotatesUntil is when the old secret ends; zero: there is none.
	RotatesUntil time.Time `json:"secret_rotates_until,omitzero"`

	LastSuccessAt time.Time `json:"last_success_at,omitzero"`
	LastFailureAt time.Time `json:"last_failure_at,omitzero"`
	LastError     string    `json:"last_error,omitempty"` // of the last failure
	// Dropped counts the deliveries that were given up because too many waited.
	Dropped int `json:"dropped"`
}

// Request asks for a webhook.
type Request struct {
	OrganizationID string   `json:"organization_id"`
	URL            string   `json:"url"`
	Events         []string `json:"events"`
	Secret         Secret   `json:"secret"` // empty: one is made
}

// maxOrganization is the longest organization id, in bytes.
const maxOrganization = 200

// New makes an active webhook of a request, and its secrets.
func New(id string, r Request, p outgoing.Policy, now time.Time) (Webhook, Secrets, error) {
	if r.Secret == "" {
		r.Secret = NewSecret()
	}
	w := Webhook{ID: id, OrganizationID: r.OrganizationID, URL: r.URL, Events: slices.Clone(r.Events), State: Active,
		CreatedAt: stamp(now), UpdatedAt: stamp(now)}
	if err := w.check(p); err != nil {
		return Webhook{}, Secrets{}, err
	}
	if err := r.Secret.check(); err != nil {
		return Webhook{}, Secrets{}, err
	}
	return w, Secrets{Current: r.Secret}, nil
}

func (w Webhook) check(p outgoing.Policy) error {
	switch {
	case w.OrganizationID == "":
		return invalid("organization_id", "is missing: name the organization that is notified")
	case len(w.OrganizationID) > maxOrganization:
		return invalid("organization_id", "is longer than %d bytes", maxOrganization)
	}
	if err := CheckURL(p, w.URL); err != nil {
		return err
	}
	return checkEvents(w.Events)
}

// Change is what shall be different; nil: as it is.
type Change struct {
	URL    *string   `json:"url"`
	Events *[]string `json:"events"`
	State  *State    `json:"state"` // Active, which also ends failing, or Disabled
}

// With returns the changed webhook.
func (w Webhook) With(c Change, p outgoing.Policy, now time.Time) (Webhook, error) {
	out := w
	if c.URL != nil {
		out.URL = *c.URL
	}
	if c.Events != nil {
		out.Events = slices.Clone(*c.Events)
	}
	if c.State != nil && *c.State != w.State {
		switch *c.State {
		case Active:
			out.State, out.Reason = Active, ""
		case Disabled:
			out.State, out.Reason = Disabled, "disabled by request"
		default:
			return w, invalid("state", "is %s: want active or disabled", quoted(string(*c.State)))
		}
	}
	out.UpdatedAt = stamp(now)
	return out, out.check(p)
}

// Wants says whether it gets that event of that organization. What
// belongs to no organization goes to all.
func (w Webhook) Wants(event, organization string) bool {
	return w.State != Disabled && slices.Contains(w.Events, event) &&
		(organization == "" || organization == w.OrganizationID)
}

// stamp is a time as it is stored and shown.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
