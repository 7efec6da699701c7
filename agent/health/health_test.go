package health

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/goldentest"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// The outbox is what the cloud has not acknowledged of what the log still has,
// and lasts as long as the pace since this start lets it.
func TestOutboxOfTheReport(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		if h := r.Report(); h.OutboxDepth != 3 || h.OutboxHours != -1 || h.LogOldest != 1 {
			t.Errorf("after the start %d, %v hours, from %d", h.OutboxDepth, h.OutboxHours, h.LogOldest)
		}
		time.Sleep(2 * time.Hour)
		r.fill(97)
		r.cloud.Acked = 60
		if h := r.Report(); h.UptimeS != 7200 || h.OutboxDepth != 40 || h.OutboxHours != 9.4 { // room for 460, 48.5 an hour
			t.Errorf("%d after %d s, %v hours", h.OutboxDepth, h.UptimeS, h.OutboxHours)
		}
		r.fill(600)
		if h := r.Report(); h.OutboxDepth != 500 || h.OutboxHours != 0 || h.LogOldest != 201 {
			t.Errorf("full: %d, %v hours, from %d", h.OutboxDepth, h.OutboxHours, h.LogOldest)
		}
		r.cloud.Acked = 5000 // of a database that was restored
		if h := r.Report(); h.OutboxDepth != 0 {
			t.Errorf("acknowledged ahead: %d", h.OutboxDepth)
		}
	})
}

// What the report says of the clock, the link and this gateway.
func TestReport(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		trouble := &Trouble{Cause: "contested", Times: 7}
		r.cloud = Cloud{Connected: true, Contested: 7, Trouble: trouble}
		h := r.Report()
		if h.CloudTrouble != trouble {
			t.Errorf("the trouble is %+v", h.CloudTrouble)
		}
		goldentest.Values(t, "the report", goldentest.Pairs{"Version": {h.Version, "1.2.3"}, "CloudConnected": {h.CloudConnected, true},
			"CloudContested": {h.CloudContested, 7}, "StoreBytes == 0": {h.StoreBytes == 0, false},
			"DiskFreeBytes == 0": {h.DiskFreeBytes == 0, false}, "StoreRepair": {h.StoreRepair, nil}})
		if !h.Clock.Trusted || h.Clock.Reason != "" || h.Clock.JumpS != 0 {
			t.Errorf("the clock: %+v", h.Clock)
		}
		r.clock.Jump(48 * time.Hour)
		if c := r.Report().Clock; c.Trusted || c.Reason != "jumped" || c.JumpS != 48*3600 || !c.Now.Equal(time.Now().Add(48*time.Hour)) {
			t.Errorf("a clock that jumped: %+v", c)
		}
		if who := r.Identity(); who != (Identity{"house-1", "House", false}) {
			t.Errorf("%+v", who)
		}
	})
}

// Heartbeats go while the cloud is there, and none is kept for later.
func TestBeat(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Beat(ctx) }()
		time.Sleep(3*time.Minute + time.Second)
		stop()
		r.must(<-ended)
		if len(r.sent) != 0 {
			t.Errorf("%d sent without a cloud", len(r.sent))
		}
		r.cloud.Connected = true
		ctx, stop = context.WithCancel(t.Context())
		go func() { ended <- r.Beat(ctx) }()
		time.Sleep(3*time.Minute + time.Second)
		stop()
		r.must(<-ended)
		if len(r.sent) != 4 || r.sent[3].UptimeS != r.sent[0].UptimeS+180 {
			t.Errorf("sent %+v", r.sent)
		}
	})
}

// What a repair has found is told until somebody has looked.
func TestRepairIsTold(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		if err := r.Database.Confirm(t.Context()); err != nil {
			t.Errorf("without a repair: %v", err)
		}
		note := store.Repair{At: time.Now(), Cause: "test", Headless: true, Tables: []store.TableRepair{
			{Name: "table:bookings", Kept: 60, Found: 2, Earlier: 3, Lost: 4, Holes: 1}, {Name: "table:rules", Kept: 5}}}
		r.must(r.db.Update(t.Context(), func(tx *store.Tx) error { return store.PutRepair(tx, note) }))
		h := r.Report().StoreRepair
		if h == nil {
			t.Fatalf("%+v", h)
		}
		goldentest.Values(t, "the report", goldentest.Pairs{"Rows": {h.Rows, 67}, "Older": {h.Older, 3}, "Lost": {h.Lost, 4},
			"Unknown": {h.Unknown, 1}, "Headless": {h.Headless, true},
			`Contains(h.Tables, "bookings")`: {slices.Contains(h.Tables, "bookings"), true}})
		r.must(r.Database.Confirm(t.Context()))
		if r.Report().StoreRepair != nil || r.Database.Sound() != nil {
			t.Error("told after somebody has looked")
		}
	})
}

// An event about the gateway names it as the device.
func TestNoteGateway(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		r.must(r.NoteGateway(t.Context(), "updateFailed", map[string]any{"version": "1.2.0", "reason": "it hung"}))
		all := r.find("updateFailed")
		if len(all) != 1 {
			t.Fatalf("%v", all)
		}
		for _, want := range []string{`"eventType":"updateFailed"`, `"device":"gateway"`, `"version":"1.2.0"`, `"reason":"it hung"`} {
			if !strings.Contains(string(all[0].Record), want) {
				t.Errorf("%s has no %s", all[0].Record, want)
			}
		}
	})
}

// That another gateway has this id is told once an hour, not with each connection.
func TestDuplicateIDIsTold(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		for n := range 30 {
			r.TellContested(t.Context(), 5+n)
			time.Sleep(3 * time.Minute)
		}
		all := r.find("gatewayContested")
		if len(all) != 2 {
			t.Fatalf("%d events", len(all))
		}
		for _, want := range []string{`"device":"gateway"`, `"gateway_id":"house-1"`, `"count":5`} {
			if !strings.Contains(string(all[0].Record)+string(all[1].Record), want) {
				t.Errorf("%s has no %s", all[0].Record, want)
			}
		}
		if got := strings.Count(r.said.String(), "another gateway probably uses the id"); got != 2 {
			t.Errorf("logged %d times", got)
		}
	})
}

// Every family of the metrics is there once, with what the queues say.
func TestMetrics(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		r.clock.Jump(48 * time.Hour)
		r.queues = Queues{Mail: Waiting{true, 2, 1500 * time.Millisecond, ""}.Queue(), Push: Waiting{true, 1, time.Minute, "it answered 401"}.Queue(),
			Webhooks: webhook.Summary{Active: 2, Failing: 1, Waiting: 3, Troubled: []webhook.Troubled{{Reason: "it answered 500"}}}}
		var b bytes.Buffer
		r.WriteMetrics(&b)
		for _, line := range []string{"roomgate_clock_trusted 0", "roomgate_outbox_messages 3", "roomgate_cloud_connected 0",
			`roomgate_outward_configured{queue="webhooks"} 1`, `roomgate_outward_waiting{queue="mail"} 2`, `roomgate_outward_oldest_seconds{queue="mail"} 1.5`,
			`roomgate_outward_failing{queue="mail"} 0`, `roomgate_outward_failing{queue="push"} 1`, `roomgate_outward_failing{queue="webhooks"} 1`,
			`roomgate_webhooks{state="failing"} 1`} {
			if !strings.Contains(b.String(), "\n"+line+"\n") {
				t.Errorf("the metrics lack %q", line)
			}
		}
		seen := map[string]bool{}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "# TYPE ") && seen[line] {
				t.Errorf("%q is there twice", line)
			}
			seen[line] = true
		}
	})
}

// A broker that is not reached over the network is not told of.
func TestNetwork(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		r.config.Broker.Listen, r.config.HTTP.TLS.Certificate = "127.0.0.1:1883", "cert.pem"
		n := r.Network()
		if n.Broker != nil || !n.HTTP.TLS || n.Page("/claim") != "https://192.0.2.7:8080/claim" {
			t.Errorf("%+v", n)
		}
		r.config.Broker.Listen = "192.0.2.8:1883"
		if n := r.Network(); n.Broker == nil || n.Broker.Port != 1883 || n.Broker.TLS || !slices.Equal(n.Broker.Addresses, []string{"192.0.2.8"}) {
			t.Errorf("%+v", n.Broker)
		}
	})
}

// A gateway that may not trust its clock says why.
func TestClockThatIsNeverTrusted(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		r.config.Clock.Trust = clock.Never
		r.o.Clock = clock.New(clock.Options{Mode: clock.Never})
		if c := r.Report().Clock; c.Trusted || c.Reason != clock.Never {
			t.Errorf("%+v", c)
		}
	})
}
