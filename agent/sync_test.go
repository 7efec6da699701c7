package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/cloud/broker"
	"roomgate/drivers"
)

// heaven is a cloud in memory: a broker, and a backend that writes down what
// comes up.
type heaven struct {
	t      *testing.T
	broker *broker.Broker
	link   *cloud.Link // of the backend
	wires  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	down  bool
	got   []taken
}

type taken struct {
	level, rest string
	retained    bool
	cloud.Envelope
}

func (h *heaven) dial(context.Context, string, string) (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		return nil, fmt.Errorf("no route")
	}
	near, far := net.Pipe()
	h.conns = append(h.conns, near, far)
	h.wires.Go(func() { _ = h.broker.Serve(far) })
	return near, nil
}

// cut ends every connection, and refuses new ones while out.
func (h *heaven) cut(out bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = out
	for _, c := range h.conns {
		_ = c.Close()
	}
	h.conns = nil
}

// openHeaven starts the cloud; publish sends a message down to the gateway.
func openHeaven(t *testing.T) (h *heaven, publish func(level string, retained bool, e cloud.Envelope)) {
	t.Helper()
	b, err := broker.Open(broker.Options{AllowAnonymousLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	h = &heaven{t: t, broker: b}
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() {
		if err := b.Run(ctx); err != nil {
			t.Errorf("broker: %v", err)
		}
	})
	topics := cloud.Topics{Gateway: "test"}
	link := cloud.NewLink(cloud.LinkOptions{URL: "mqtt://cloud", ClientID: "backend", Dial: h.dial, MaxBackoff: time.Second, Log: slog.New(slog.DiscardHandler),
		Subscribe: []string{topics.Up("#")}, Receive: func(_ context.Context, m cloud.Message) error {
			e, err := cloud.Decode(m.Payload)
			if err != nil {
				t.Errorf("%s: %v", m.Topic, err)
			}
			_, level, rest, _ := topics.Parse(m.Topic)
			h.mu.Lock()
			defer h.mu.Unlock()
			h.got = append(h.got, taken{level, rest, m.Retained, e})
			return nil
		}})
	h.link = link
	loops.Go(func() { _ = link.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		loops.Wait()
		h.cut(true)
		h.wires.Wait()
	})
	return h, func(level string, retained bool, e cloud.Envelope) {
		t.Helper()
		payload, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := link.Publish(t.Context(), cloud.Message{Topic: topics.Down(level), Payload: payload, QoS: 1, Retained: retained}); err != nil {
			t.Fatal(err)
		}
	}
}

// receipts are the states of the receipts that came up for a command.
func (h *heaven) receipts(id string) (states []device.State) {
	for _, m := range h.taken("receipt") {
		var r device.Receipt
		if err := json.Unmarshal(m.Data, &r); err != nil {
			h.t.Error(err)
		}
		if r.CommandID == id {
			states = append(states, r.State)
		}
	}
	return states
}

func (h *heaven) taken(level string) (some []taken) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.got {
		if m.level == level {
			some = append(some, m)
		}
	}
	return some
}

func withCloud(acks string) string {
	return "cloud: {url: 'mqtt://cloud', acks: " + acks + "}\n" + building
}

func command(id string, data map[string]any) cloud.Envelope {
	full := map[string]any{"meeting_space_id": room, "device_type": "light", "action": "on"}
	for k, v := range data {
		full[k] = v
	}
	raw, _ := json.Marshal(full)
	return cloud.Envelope{ID: id, Source: "backend", Type: "roomgate.command", Time: time.Now(), Data: raw}
}

// startCloudy starts a building below a cloud, both settled.
func startCloudy(t *testing.T, acks string) (*rig, *heaven, func(string, bool, cloud.Envelope)) {
	t.Helper()
	h, publish := openHeaven(t)
	r := startRig(t, rigOptions{yaml: withCloud(acks), dial: h.dial})
	r.wait(5 * time.Second)
	return r, h, publish
}

func TestCommandsFromTheCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, h, publish := startCloudy(t, cloud.AcksBackend)
		publish("command", false, command("c1", nil))
		r.wait(2 * time.Second)
		if got := h.receipts("c1"); !slices.Equal(got, []device.State{device.Accepted, device.Done}) {
			t.Errorf("receipts %q, want accepted and done", got)
		}
		publish("command", false, command("c1", nil))
		r.wait(2 * time.Second)
		if got := h.receipts("c1"); !slices.Equal(got, []device.State{device.Accepted, device.Done, device.Done}) {
			t.Errorf("receipts %q, want done once more for the same id", got)
		}
		wrongType := command("c4", nil)
		wrongType.Type = "roomgate.schedule"
		for id, e := range map[string]cloud.Envelope{
			"c2": command("c2", map[string]any{"expires_at": time.Now().Add(-time.Second)}),
			"c3": command("c3", map[string]any{"action": "explode"}),
			"c4": wrongType,
			"c5": {ID: "c5", Source: "backend", Type: "roomgate.command", Data: json.RawMessage(`[1]`)},
		} {
			publish("command", false, e)
			publish("command", false, e) // the answer is the same the second time
			r.wait(2 * time.Second)
			want := device.Rejected
			if id == "c2" {
				want = device.ExpiredUnused
			}
			if got := h.receipts(id); !slices.Equal(got, []device.State{want, want}) {
				t.Errorf("%s: receipts %q, want %s twice", id, got, want)
			}
		}
		if done := r.bench["light-1"].effects(); !slices.Equal(done, []string{"on"}) {
			t.Errorf("took effect: %q, want c1 once", done)
		}
	})
}

func TestRetainedCommandIsRefusedAtEachReconnect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, publish := openHeaven(t)
		time.Sleep(time.Second)
		publish("command", true, command("c1", nil)) // before the gateway comes
		r := startRig(t, rigOptions{yaml: withCloud(cloud.AcksBackend), dial: h.dial})
		r.wait(5 * time.Second)
		if got := h.receipts("c1"); len(got) == 0 || got[0] != device.Rejected || len(r.bench["light-1"].effects()) > 0 {
			t.Errorf("receipts %q, effects %q, want rejected and none", got, r.bench["light-1"].effects())
		}
	})
}

func TestNothingIsLostWhileTheCloudIsAway(t *testing.T) {
	for _, acks := range []string{cloud.AcksBackend, cloud.AcksBroker} {
		t.Run(acks, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, h, publish := startCloudy(t, acks)
				d := r.Site.Find(room).Devices[0]
				h.cut(true)
				for i := range 200 {
					r.Events.Add(eventlog.Change{Rows: []eventlog.Row{d.Event("tick", "", time.Now(), map[string]any{"n": i})}})
					time.Sleep(3 * time.Second)
				}
				h.cut(false)
				r.wait(2 * time.Minute)
				seen := map[uint64]bool{}
				for _, level := range []string{"event", "receipt"} {
					for _, m := range h.taken(level) {
						seen[m.Sequence] = true
					}
				}
				last := r.mustLast()
				for seq := uint64(1); seq <= last; seq++ {
					if !seen[seq] {
						t.Fatalf("sequence %d of %d never came up", seq, last)
					}
				}
				if acks == cloud.AcksBackend {
					if depth := r.Health.Report().OutboxDepth; depth != last {
						t.Errorf("outbox depth %d without an ack, want %d", depth, last)
					}
					raw, _ := json.Marshal(map[string]uint64{"sequence": last})
					publish("ack", false, cloud.Envelope{ID: "a1", Source: "backend", Type: "roomgate.ack", Data: raw})
					r.wait(5 * time.Second)
				}
				if depth := r.Health.Report().OutboxDepth; depth != 0 {
					t.Errorf("outbox depth %d after the ack, want 0", depth)
				}
				before := len(h.taken("event"))
				publish("replay", false, cloud.Envelope{ID: "r1", Source: "backend", Type: "roomgate.replay", Data: json.RawMessage(`{"from":3,"to":12}`)})
				r.wait(5 * time.Second)
				if again := len(h.taken("event")) - before; again != 10 {
					t.Errorf("replay of ten gave %d", again)
				}
			})
		})
	}
}

func TestPresenceStateAndHeartbeat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, h, _ := startCloudy(t, cloud.AcksBackend)
		r.wait(time.Minute)
		if beats := h.taken("heartbeat"); len(beats) < 2 || len(beats) > 4 {
			t.Errorf("%d heartbeats in a minute, want one per 30 s", len(beats))
		}
		states := h.taken("state")
		if len(states) < 2 {
			t.Fatalf("%d states, want one per space", len(states))
		}
		var last spaceState
		for _, s := range states {
			if s.rest == room {
				if err := json.Unmarshal(s.Data, &last); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(last.Devices) != 6 || last.Devices[0].Record != (device.Record{Device: "light", Value: "off", Status: "online"}) {
			t.Errorf("state %+v", last)
		}
		r.stop()
		synctest.Wait()
		var says []string
		sessions := map[string]bool{}
		for _, m := range h.taken("presence") {
			var p struct{ State, Session string }
			if err := json.Unmarshal(m.Data, &p); err != nil {
				t.Fatal(err)
			}
			says, sessions[p.Session] = append(says, p.State), true
		}
		if !slices.Equal(says, []string{"online", "offline"}) || len(sessions) != 1 {
			t.Errorf("presence %q of sessions %v, want online and offline of one", says, sessions)
		}
	})
}

func TestMessagesThatCannotBeUnderstoodAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _, _ := startCloudy(t, cloud.AcksBackend)
		for _, m := range []cloud.Message{
			{Topic: "roomgate/v1/test/down/unknown", Payload: []byte(`{}`)},
			{Topic: "roomgate/v1/other/down/command", Payload: []byte(`{}`)},
			{Topic: "roomgate/v1/test/down/command", Payload: []byte(strings.Repeat("[", 1000))},
			{Topic: "roomgate/v1/test/down/ack", Payload: []byte(`{"specversion":"1.0","id":"1","source":"b","type":"roomgate.ack","data":"x"}`)},
		} {
			if err := r.Cloud.Receive(t.Context(), m); err != nil {
				t.Errorf("%s is not acknowledged: %v", m.Topic, err)
			}
		}
	})
}

func TestBuildingWorksWithoutItsCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: withCloud(cloud.AcksBackend), dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, fmt.Errorf("no route")
		}})
		r.wait(10 * time.Second)
		if err := r.Health.Ready(); err != nil {
			t.Error(err)
		}
		if receipt, err := r.Commands.Do(t.Context(), lightOn("c1")); err != nil || receipt.State != device.Done {
			t.Errorf("order without a cloud: %+v, %v", receipt, err)
		}
		if h := r.Health.Report(); h.CloudConnected || h.OutboxDepth == 0 || h.DevicesOnline != 3 {
			t.Errorf("health %+v", h)
		}
		if got := r.status(room, drivers.TypeLight, ""); got.Value != drivers.On {
			t.Errorf("light is %v", got)
		}
	})
}
