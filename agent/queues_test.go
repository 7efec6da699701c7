package agent

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/health"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/message"
	"roomgate/agent/webhook"
)

// wantMetrics looks for lines of the metrics.
func (r *rig) wantMetrics(lines ...string) {
	r.t.Helper()
	var b bytes.Buffer
	r.Health.WriteMetrics(&b)
	for _, line := range lines {
		if !strings.Contains(b.String(), "\n"+line+"\n") {
			r.t.Errorf("the metrics lack %q", line)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "# TYPE ") && seen[line] {
			r.t.Errorf("%q is there twice", line)
		}
		seen[line] = true
	}
}

func TestQueueOfPush(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startMessageRig(t, rigOptions{}, "")
		r.fails(401, "")
		for range 3 {
			r.send(message.To{UserID: "ada"}, "x")
			r.wait(time.Minute)
		}
		q := r.Health.Queues().Push
		goldentest.Values(t, "push", goldentest.Pairs{"Configured": {q.Configured, true}, "Waiting": {q.Waiting, 3},
			"OldestS < 180": {q.OldestS < 180, false}, "OldestS > 181": {q.OldestS > 181, false},
			"401": {strings.Contains(q.Failing, "401"), true}})
		r.wantMetrics(`roomgate_outward_waiting{queue="push"} 3`, `roomgate_outward_failing{queue="push"} 1`, `roomgate_outward_configured{queue="mail"} 0`)
		r.out.Script(nil)
		r.wait(10 * time.Minute)
		if q := r.Health.Queues().Push; q != (health.Queue{Configured: true}) {
			t.Errorf("afterwards %+v", q)
		}
	})
}

func TestQueueOfWebhooks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t)
		w := r.hook("a", owner, webhook.BookingCreated)
		r.hook("b", owner, webhook.BookingEnd)
		off := webhook.Disabled
		if _, err := r.Webhooks.Change(t.Context(), r.hook("c", owner, webhook.BookingEnd).ID, webhook.Change{State: &off}); err != nil {
			t.Fatal(err)
		}
		r.out.Always(500, "")
		r.book("b1", on(40, 0), on(40, 30))
		r.wait(27 * time.Hour)
		r.book("b2", on(41, 0), on(41, 30))
		r.wait(30 * time.Second)
		o := r.Health.Queues().Webhooks
		if len(o.Troubled) != 1 {
			t.Fatalf("%+v", o)
		}
		goldentest.Values(t, "webhooks", goldentest.Pairs{"Active": {o.Active, 1}, "Failing": {o.Failing, 1}, "Disabled": {o.Disabled, 1},
			"Waiting": {o.Waiting, 1}, "OldestS < 30": {o.OldestS < 30, false}, "OldestS > 31": {o.OldestS > 31, false},
			"Troubled[0].ID": {o.Troubled[0].ID, w.ID}, "Troubled[0].Host": {o.Troubled[0].Host, "a.example.com"},
			"no Troubled[0].Reason": {o.Troubled[0].Reason == "", false}})
		r.wantMetrics(`roomgate_webhooks{state="failing"} 1`, `roomgate_outward_waiting{queue="webhooks"} 1`, `roomgate_outward_failing{queue="webhooks"} 1`)
	})
}

func TestQueueOfMail(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, "", "always", mailtest.Options{Pipe: true})
		if err := mailAdmins(t.Context(), r.Agent, "", "subject", "text"); err != nil {
			t.Fatal(err)
		}
		if q := r.Health.Queues().Mail; !q.Configured || q.Waiting != 1 || q.OldestS < 0 || q.Failing != "" {
			t.Errorf("%+v", q)
		}
		r.wantMetrics(`roomgate_outward_waiting{queue="mail"} 1`, `roomgate_outward_configured{queue="push"} 0`)
		r.relay.Close()
		r.run()
		r.wait(time.Second)
		if q := r.Health.Queues().Mail; q.Waiting != 1 || q.OldestS < 1 || !strings.Contains(q.Failing, "mail relay: connect") {
			t.Errorf("with a relay that is gone: %+v", q)
		}
	})
}
