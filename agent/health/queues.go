package health

import (
	"fmt"
	"io"
	"time"

	"roomgate/agent/webhook"
)

// Queues is how what the building tells others stands, besides the cloud.
type Queues struct {
	Mail     Queue           `json:"mail"` // letters that wait for the relay
	Push     Queue           `json:"push"` // messages that wait for the push gateway
	Webhooks webhook.Summary `json:"webhooks"`
}

// Queue is what waits for one who takes it.
type Queue struct {
	Configured bool    `json:"configured"`
	Waiting    int     `json:"waiting"`
	OldestS    float64 `json:"oldest_s"`          // seconds since the oldest came, as far as that is known
	Failing    string  `json:"failing,omitempty"` // why nothing is taken now; empty: it is
}

// Waiting is how what waits for one who takes it fares, as its queue says it.
type Waiting struct {
	Configured bool
	Waiting    int
	Oldest     time.Duration // 0: not known, or nothing waits
	Failing    string
}

// Queue is the same as it is shown.
func (w Waiting) Queue() Queue {
	return Queue{w.Configured, w.Waiting, seconds3(w.Oldest), w.Failing}
}

// Queues returns how what the building tells others stands.
func (m *Monitor) Queues() Queues { return m.o.Queues() }

// seconds3 is a length of time in seconds, to the millisecond.
func seconds3(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// write adds the figures to the metrics.
func (q Queues) write(w io.Writer) {
	hooks := Queue{Configured: q.Webhooks.Active+q.Webhooks.Failing+q.Webhooks.Disabled > 0, Waiting: q.Webhooks.Waiting, OldestS: q.Webhooks.OldestS}
	if q.Webhooks.Failing > 0 {
		hooks.Failing = q.Webhooks.Troubled[0].Reason
	}
	queues := []struct {
		name string
		Queue
	}{{"mail", q.Mail}, {"push", q.Push}, {"webhooks", hooks}}
	each := func(name, help string, value func(Queue) any) {
		fmt.Fprintf(w, "# HELP roomgate_outward_%s %s\n# TYPE roomgate_outward_%s gauge\n", name, help, name)
		for _, one := range queues {
			fmt.Fprintf(w, "roomgate_outward_%s{queue=%q} %v\n", name, one.name, value(one.Queue))
		}
	}
	each("configured", "1 if the building can tell others this way.", func(q Queue) any { return number(q.Configured) })
	each("waiting", "Entries waiting to be sent.", func(q Queue) any { return q.Waiting })
	each("oldest_seconds", "How long the oldest of it has waited.", func(q Queue) any { return q.OldestS })
	each("failing", "1 while the other side takes nothing, of webhooks if any fails.", func(q Queue) any { return number(q.Failing != "") })
	fmt.Fprintf(w, "# HELP roomgate_webhooks Webhooks by their state.\n# TYPE roomgate_webhooks gauge\n")
	for _, s := range []struct {
		state webhook.State
		count int
	}{{webhook.Active, q.Webhooks.Active}, {webhook.Failing, q.Webhooks.Failing}, {webhook.Disabled, q.Webhooks.Disabled}} {
		fmt.Fprintf(w, "roomgate_webhooks{state=%q} %d\n", s.state, s.count)
	}
}
