package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/agenttest"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/drivers"
	"roomgate/drivers/session"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

// neighbour is a Home Assistant at the room broker: it has heard what is
// retained and what came since.
type neighbour struct {
	*session.Session
	mu   sync.Mutex
	said map[string]string
}

func (n *neighbour) hear(topic string, payload []byte, _ bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said[topic] = string(payload)
}

func (n *neighbour) get(topic string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.said[topic]
}

func (n *neighbour) await(t *testing.T, topic, want string) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); n.get(topic) != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s is %q, want %q", topic, n.get(topic), want)
		}
	}
}

// command publishes, once the session is up.
func (n *neighbour) command(t *testing.T, topic, payload string) {
	t.Helper()
	if err := n.Send(t.Context(), session.Message{Topic: topic, Payload: []byte(payload)}); err != nil {
		t.Fatal(err)
	}
}

// household is a building with a room broker and a Home Assistant at it.
func household(t *testing.T, allowed ...string) (*agenttest.Building, *neighbour) {
	t.Helper()
	set := []config.Setting{{Key: "broker.listen", Value: "127.0.0.1:0"}, {Key: "gateway.id", Value: "house.1"}}
	for _, key := range append(allowed, "publish") {
		set = append(set, config.Setting{Key: "broker.home_assistant." + key, Value: "true"})
	}
	b := agenttest.Start(t, agenttest.Options{Settings: set, Parts: []sim.Part{&peers.RoomBroker{Address: drivers.RoomBroker}}})
	n := &neighbour{said: map[string]string{}}
	n.Session = session.New(session.Options{Peer: "broker", Address: drivers.RoomBroker, ClientID: "ha",
		Filters: []string{"homeassistant/#", "roomgate/#"}, WriteTimeout: time.Second, Receive: n.hear, Up: func() {},
		Tend: func(ctx context.Context, _ func(context.Context) error) error { <-ctx.Done(); return ctx.Err() },
		Down: func(error) bool { return true }}, b.World)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	n.await(t, "roomgate/room/house.1/status", "online")
	return b, n
}

const of = "roomgate/room/house.1/"

func deviceID(t *testing.T, b *agenttest.Building, deviceType string) string {
	t.Helper()
	all, err := b.Site.Devices(agenttest.Aurora)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Type == deviceType {
			return d.ID
		}
	}
	t.Fatalf("no %s", deviceType)
	return ""
}

func TestHomeAssistantCommands(t *testing.T) {
	t.Parallel()
	b, n := household(t, "commands")
	light, lock := deviceID(t, b, "light"), deviceID(t, b, "lock")
	n.await(t, of+light+"/state", "off")
	n.command(t, of+light+"/intensity/set", "40")
	n.await(t, of+light+"/state", "on")
	n.await(t, of+light+"/intensity", "40")
	n.command(t, of+light+"/set", "off")
	n.await(t, of+light+"/state", "off")
	r := lastCommand(t, b, "light")
	if r == nil || r.Receipt.State != device.Done || r.Receipt.Evidence == nil {
		t.Errorf("the receipt is %+v", r)
	}
	n.command(t, of+light+"/set", "explode")
	n.command(t, of+lock+"/set", "open")
	time.Sleep(200 * time.Millisecond)
	if lastCommand(t, b, "lock") != nil {
		t.Error("a command to a door was taken")
	}
	if _, err := b.World.Control("aurora", "o3-sensor", "unplug"); err != nil {
		t.Fatal(err)
	}
	n.await(t, of+deviceID(t, b, "o3-sensor")+"_occupancy/availability", "offline")
}

func TestHomeAssistantAndDoors(t *testing.T) {
	t.Parallel()
	b, n := household(t, "commands", "doors")
	lock := deviceID(t, b, "lock")
	n.await(t, of+lock+"/state", "closed")
	if text := n.get("homeassistant/lock/roomgate_house_1/" + lock + "/config"); !strings.Contains(text, `"payload_unlock":"open"`) {
		t.Errorf("the lock is told as %s", text)
	}
	n.command(t, of+lock+"/set", "open")
	n.await(t, of+lock+"/state", "open")
}

// lastCommand is the last to a device of Aurora; nil: there was none.
func lastCommand(t *testing.T, b *agenttest.Building, deviceType string) *device.Stored {
	t.Helper()
	d, err := b.Site.Device(agenttest.Aurora, deviceType)
	if err != nil {
		t.Fatal(err)
	}
	return d.Last()
}
