package homeassistant

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/config"
	"roomgate/agent/loop"
	"roomgate/cloud"
	"roomgate/cloud/broker"
	"roomgate/drivers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// base precedes the topics of the building's devices.
const base = "roomgate/room/house.1/"

// rig is a building of plain answers at a real room broker, with a Home
// Assistant there that notes what it hears.
type rig struct {
	*testing.T
	broker *broker.Broker
	wires  sync.WaitGroup
	ha     *cloud.Link

	rebuilt, changed loop.Broadcast

	mu       sync.Mutex
	conn     net.Conn // the gateway's
	away     bool
	heard    map[string]string // the last payload by topic
	devices  []Device
	readings map[string]Reading // by device id and sub-device
	commands []string           // that were taken: device, sub-device, action, value
}

// start runs a building of these devices under Home Assistant.
func start(t *testing.T, s config.HomeAssistant, devices ...Device) *rig {
	t.Helper()
	r := &rig{T: t, heard: map[string]string{}, devices: devices, readings: map[string]Reading{}}
	var err error
	if r.broker, err = broker.Open(broker.Options{AllowAnonymousLoopback: true}); err != nil {
		t.Fatal(err)
	}
	r.ha = cloud.NewLink(cloud.LinkOptions{URL: "mqtt://room", ClientID: "ha", Dial: r.connect, Log: slog.New(slog.DiscardHandler),
		Subscribe: []string{"homeassistant/#", "roomgate/#"}, Receive: r.hear})
	s.Prefix = "homeassistant"
	o := Options{Settings: s, Gateway: "house.1", Version: "test", Dial: r.dial, Log: slog.New(slog.DiscardHandler),
		Devices: r.told, Replaced: r.rebuilt.Wait, Changed: r.changed.Wait, Status: r.status, Describe: describe, Do: r.do}
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = r.broker.Run(ctx) })
	loops.Go(func() { _ = r.ha.Run(ctx) })
	loops.Go(func() {
		if err := Run(ctx, o); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		loops.Wait()
		r.wires.Wait()
	})
	r.wait(5 * time.Second)
	return r
}

func (r *rig) connect(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	r.wires.Go(func() { _ = r.broker.Serve(far) })
	return near, nil
}

// dial is the gateway's way to the broker.
func (r *rig) dial(ctx context.Context, network, address string) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away || address != drivers.RoomBroker {
		return nil, fmt.Errorf("no route to %s", address)
	}
	conn, err := r.connect(ctx, network, address)
	r.conn = conn
	return conn, err
}

// cut ends the gateway's connection; while away it gets no other.
func (r *rig) cut(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
	_ = r.conn.Close()
}

func (r *rig) hear(_ context.Context, m cloud.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard[m.Topic] = string(m.Payload)
	return nil
}

func (r *rig) told() []Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.devices
}

func (r *rig) status(d Device, sub string) (Reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reading, ok := r.readings[d.ID+sub]
	return reading, ok
}

// describe gives a lock and a light their actions.
func describe(d Device) drivers.Description {
	actions := map[string][]string{drivers.TypeLock: {drivers.ActOpen, drivers.ActClose}, drivers.TypeLight: {drivers.On, drivers.Off}}
	description := drivers.Description{Type: d.Type}
	for _, name := range actions[d.Type] {
		description.Actions = append(description.Actions, drivers.Action{Name: name})
	}
	return description
}

func (r *rig) do(_ context.Context, c Command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands = append(r.commands, fmt.Sprintf("%s%s %s %s", c.ID, c.Sub, c.Action, c.Value))
	return nil
}

// observe lets a device's reading be another.
func (r *rig) observe(key string, reading Reading) {
	r.mu.Lock()
	r.readings[key] = reading
	r.mu.Unlock()
	r.changed.Wake()
	r.wait(time.Millisecond)
}

// rebuild lets the building have other devices.
func (r *rig) rebuild(devices ...Device) {
	r.mu.Lock()
	r.devices = devices
	r.mu.Unlock()
	r.rebuilt.Wake()
	r.wait(5 * time.Second)
}

// say publishes as Home Assistant and returns the commands that were taken since
// the last time.
func (r *rig) say(topic, payload string, retained bool) []string {
	r.Helper()
	if err := r.ha.Publish(r.Context(), cloud.Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retained: retained}); err != nil {
		r.Fatal(err)
	}
	r.wait(time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.commands = nil }()
	return r.commands
}

func (r *rig) want(topic, want string) {
	r.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := r.heard[topic]; got != want {
		r.Errorf("%s is %q, want %q", topic, got, want)
	}
}

func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
