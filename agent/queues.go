package agent

import (
	"fmt"
	"io"
	"time"

	"roomgate/agent/webhook"
)

// Outward is how what the building tells others stands, besides the cloud.
type Outward struct {
	Mail     OutwardQueue    `json:"mail"` // letters that wait for the relay
	Push     OutwardQueue    `json:"push"` // messages that wait for the push gateway
	Webhooks webhook.Summary `json:"webhooks"`
}

// OutwardQueue is what waits for one who takes it.
type OutwardQueue struct {
	Configured bool    `json:"configured"`
	Waiting    int     `json:"waiting"`
	OldestS    float64 `json:"oldest_s"`          // seconds since the oldest came, as far as that is known
	Failing    string  `json:"failing,omitempty"` // why nothing is taken now; empty: it is
}

// Outward returns how what the building tells others stands.
func (a *Agent) Outward() Outward {
	return Outward{waitingQueue(a.mail.Status()).outward(), waitingQueue(a.Messages.Status()).outward(), a.Webhooks.Summary()}
}

// waitingQueue is how what waits for one who takes it fares, as its queue says it.
type waitingQueue struct {
	Configured bool
	Waiting    int
	Oldest     time.Duration
	Failing    string
}

// outward is the queue as it is shown.
func (q waitingQueue) outward() OutwardQueue {
	return OutwardQueue{q.Configured, q.Waiting, seconds3(q.Oldest), q.Failing}
}

// seconds3 is a length of time in seconds, to the millisecond.
func seconds3(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// write adds the figures to the metrics.
func (o Outward) write(w io.Writer) {
	hooks := OutwardQueue{Configured: o.Webhooks.Active+o.Webhooks.Failing+o.Webhooks.Disabled > 0, Waiting: o.Webhooks.Waiting, OldestS: o.Webhooks.OldestS}
	if o.Webhooks.Failing > 0 {
		hooks.Failing = o.Webhooks.Troubled[0].Reason
	}
	queues := []struct {
		name string
		OutwardQueue
	}{{"mail", o.Mail}, {"push", o.Push}, {"webhooks", hooks}}
	each := func(name, help string, value func(OutwardQueue) any) {
		fmt.Fprintf(w, "# HELP roomgate_outward_%s %s\n# TYPE roomgate_outward_%s gauge\n", name, help, name)
		for _, q := range queues {
			fmt.Fprintf(w, "roomgate_outward_%s{queue=%q} %v\n", name, q.name, value(q.OutwardQueue))
		}
	}
	each("configured", "1 if the building can tell others this way.", func(q OutwardQueue) any { return number(q.Configured) })
	each("waiting", "What waits to be told.", func(q OutwardQueue) any { return q.Waiting })
	each("oldest_seconds", "How long the oldest of it has waited.", func(q OutwardQueue) any { return q.OldestS })
	each("failing", "1 while the other side takes nothing, of webhooks if any fails.", func(q OutwardQueue) any { return number(q.Failing != "") })
	fmt.Fprintf(w, "# HELP roomgate_webhooks Webhooks by their state.\n# TYPE roomgate_webhooks gauge\n")
	for _, s := range []struct {
		state webhook.State
		count int
	}{{webhook.Active, o.Webhooks.Active}, {webhook.Failing, o.Webhooks.Failing}, {webhook.Disabled, o.Webhooks.Disabled}} {
		fmt.Fprintf(w, "roomgate_webhooks{state=%q} %d\n", s.state, s.count)
	}
}
