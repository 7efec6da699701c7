package api

import (
	"net/http"

	"roomgate/agent/webhook"
)

// timedWebhook is a webhook of V2.0, with the secret that was made for it.
type timedWebhook struct {
	webhookAnswer
	CreatedAt     moment `json:"created_at"`
	UpdatedAt     moment `json:"updated_at"`
	RotatesUntil  moment `json:"secret_rotates_until"` // null: there is one secret
	LastSuccessAt moment `json:"last_success_at"`      // null: none
	LastFailureAt moment `json:"last_failure_at"`      // null: none
}

func newTimedWebhook(a webhookAnswer) timedWebhook {
	return timedWebhook{a, moment(a.CreatedAt), moment(a.UpdatedAt), moment(a.RotatesUntil), moment(a.LastSuccessAt), moment(a.LastFailureAt)}
}

func webhookID(w webhook.Info) string { return w.ID }

// webhook answers with a webhook, of the version.
func (c *call) webhook(status int, a webhookAnswer) error {
	if c.v2 {
		return c.json(status, newTimedWebhook(a))
	}
	return c.data(status, a)
}

// timedDelivery is a delivery of V2.0.
type timedDelivery struct {
	webhook.Delivery
	CreatedAt   moment         `json:"created_at"`
	QueuedAt    moment         `json:"queued_at"`
	NextAt      moment         `json:"next_attempt_at"` // null: it is not pending
	DeliveredAt moment         `json:"delivered_at"`    // null: it is not
	Attempts    []timedAttempt `json:"attempts"`
}

// timedAttempt is one try to deliver.
type timedAttempt struct {
	webhook.Attempt
	At moment `json:"at"`
}

func newTimedDelivery(d webhook.Delivery) timedDelivery {
	t := timedDelivery{d, moment(d.CreatedAt), moment(d.QueuedAt), moment(d.NextAt), moment(d.DeliveredAt), make([]timedAttempt, len(d.Attempts))}
	for i, a := range d.Attempts {
		t.Attempts[i] = timedAttempt{a, moment(a.At)}
	}
	return t
}

// delivery answers with a delivery, of the version.
func (c *call) delivery(status int, d webhook.Delivery) error {
	if c.v2 {
		return c.json(status, newTimedDelivery(d))
	}
	return c.data(status, d)
}

// deliveries answers with a page of them.
func (c *call) deliveries(found []webhook.Delivery, next string) error {
	if !c.v2 {
		return c.json(http.StatusOK, dataAnswer{found, next})
	}
	return c.json(http.StatusOK, page[timedDelivery]{records(found, newTimedDelivery), maybe(next)})
}
