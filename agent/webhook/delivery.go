package webhook

import (
	"encoding/json"
	"time"

	"roomgate/agent/outgoing"
)

// schedule is the time before each retry, the platform's.
var schedule = [...]time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 24 * time.Hour}

const (
	// offlinePause is the time between two looks for the gateway's own network.
	offlinePause = time.Minute
	// longestOffline is how long a delivery waits for it; such attempts are not
	// counted, because the receiver did nothing wrong.
	longestOffline = 7 * 24 * time.Hour
	// maxAttempts is how many attempts a delivery remembers, the latest.
	maxAttempts = 8
)

// DeliveryState is where a delivery stands.
type DeliveryState string

// The states of a delivery.
const (
	Pending   DeliveryState = "pending" // it is waiting to be sent, for the first time or again
	Delivered DeliveryState = "delivered"
	Failed    DeliveryState = "failed" // given up; it can be redelivered
)

// Delivery is one notification to one webhook.
type Delivery struct {
	ID        string        `json:"id"` // also the webhook-id, the same in every attempt
	WebhookID string        `json:"webhook_id"`
	Event     string        `json:"event"`
	State     DeliveryState `json:"state"`
	CreatedAt time.Time     `json:"created_at"`
	// NextAt is when it is sent next, while it is pending.
	NextAt      time.Time `json:"next_attempt_at,omitzero"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	// Attempts are the latest, oldest first. Those that never left, because the
	// gateway has no network, are not among them.
	Count    int             `json:"attempt_count"`
	Attempts []Attempt       `json:"attempts"`
	Payload  json.RawMessage `json:"payload"`

	// Tries are the attempts that count since QueuedAt.
	Tries    int       `json:"tries"`
	QueuedAt time.Time `json:"queued_at"` // created, or redelivered
}

// Attempt is one try to deliver.
type Attempt struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"` // of HTTP; 0: no answer came
	Error  string    `json:"error,omitempty"`
	TookMS int64     `json:"took_ms"`
}

// NewDelivery is a delivery that is due at once.
func NewDelivery(id, webhookID, event string, payload json.RawMessage, now time.Time) Delivery {
	now = stamp(now)
	return Delivery{ID: id, WebhookID: webhookID, Event: event, State: Pending, CreatedAt: now, NextAt: now, QueuedAt: now,
		Attempts: []Attempt{}, Payload: payload}
}

// Again makes the delivery due at once with all its retries ahead.
func (d Delivery) Again(now time.Time) Delivery {
	d.State, d.Tries, d.NextAt, d.QueuedAt = Pending, 0, stamp(now), stamp(now)
	return d
}

// After is the delivery after an attempt that ended now.
func (d Delivery) After(a Answer, now time.Time) Delivery {
	d.Count++
	d.Attempts = append(append([]Attempt{}, d.Attempts[max(0, len(d.Attempts)-maxAttempts+1):]...), a.attempt(now))
	if !a.Offline {
		d.Tries++
	}
	d.NextAt = time.Time{}
	switch {
	case a.Success():
		d.State, d.DeliveredAt = Delivered, stamp(now)
	case a.Gone(), d.Tries > len(schedule), a.Offline && a.Waited > longestOffline:
		d.State = Failed
	case a.Offline:
		d.NextAt = stamp(now.Add(offlinePause))
	default:
		d.NextAt = stamp(now.Add(max(schedule[d.Tries-1], min(a.RetryAfter, outgoing.LongestRetryAfter))))
	}
	return d
}

// LongestWait is the most that NextAt can be ahead. More says that the clock
// was set back.
const LongestWait = 24 * time.Hour

// Pause is how long a webhook is left alone after that number of failures in a row,
// given the last answer: a receiver that is down is not asked once for every
// notification that waits.
func Pause(failures int, a Answer) time.Duration {
	if failures <= 0 {
		return 0
	}
	const first, longest = time.Second, time.Minute
	return max(min(first<<min(failures-1, 10), longest), a.RetryAfter)
}

// GivenUp is a delivery that is not sent again by itself.
func (d Delivery) GivenUp() Delivery {
	d.State, d.NextAt = Failed, time.Time{}
	return d
}
