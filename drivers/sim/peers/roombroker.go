package peers

import (
	"io"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"roomgate/drivers/sim"
)

// RoomBroker is a bare MQTT broker, for worlds that no gateway with a broker
// of its own is in. Its faults are those of its network: the verbs of the
// devices around it do not reach it.
type RoomBroker struct {
	sim.Faults `yaml:"-"`
	Address    string `yaml:"address"`

	broker *mqtt.Server
	hook   *openHook
}

// FaultVerbs are none: see RoomBroker.
func (*RoomBroker) FaultVerbs() []sim.Verb { return nil }

// State says how it is.
func (r *RoomBroker) State() string    { return "a broker at " + r.Address }
func (r *RoomBroker) serve(c net.Conn) { _ = r.broker.EstablishConnection("room", c) } // what ends it is the client's business

// Attach wires it into the world.
func (r *RoomBroker) Attach(w *sim.World) error {
	limits := mqtt.NewDefaultServerCapabilities()
	limits.MaximumClientWritesPending = 256
	r.broker = mqtt.New(&mqtt.Options{
		InlineClient: true,
		Capabilities: limits,
		Logger:       slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	// As in the O3, the broker's event loop is not started.
	r.hook = &openHook{turn: make(chan struct{}, 1)}
	if err := r.broker.AddHook(r.hook, nil); err != nil {
		return err
	}
	return w.ListenPart(r.Address, &r.Faults, r.serve)
}

// Publish says something on a topic in nobody's name.
func (r *RoomBroker) Publish(topic, payload string, retained bool) error {
	nobody := new(mqtt.Client)
	r.hook.enter(nobody)
	defer r.hook.leave(nobody)
	return r.broker.Publish(topic, []byte(payload), retained, 0)
}

// openHook lets everybody in and do everything, one at a time where the router
// (2.7.9) walks its tree of topics for a subscription without the lock under
// which it writes a retained message there.
type openHook struct {
	mqtt.HookBase
	turn   chan struct{} // holds a token while somebody is inside
	inside atomic.Pointer[mqtt.Client]
}

// ID names the hook.
func (*openHook) ID() string { return "open" }

// Provides says which calls the hook takes.
func (*openHook) Provides(b byte) bool {
	return slices.Contains([]byte{mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnPacketRead,
		mqtt.OnPacketProcessed, mqtt.OnWill, mqtt.OnWillSent, mqtt.OnDisconnect}, b)
}

func (h *openHook) enter(cl *mqtt.Client) {
	h.turn <- struct{}{}
	h.inside.Store(cl)
}

func (h *openHook) leave(cl *mqtt.Client) {
	if h.inside.CompareAndSwap(cl, nil) {
		<-h.turn
	}
}

// OnPacketRead is called before a packet is handled.
func (h *openHook) OnPacketRead(cl *mqtt.Client, p packets.Packet) (packets.Packet, error) {
	if p.FixedHeader.Type == packets.Subscribe || p.FixedHeader.Retain && p.FixedHeader.Type == packets.Publish {
		h.enter(cl)
	}
	return p, nil
}

// OnPacketProcessed is called after a packet was handled.
func (h *openHook) OnPacketProcessed(cl *mqtt.Client, _ packets.Packet, _ error) { h.leave(cl) }

// OnWill is called before a will is published, OnWillSent afterwards.
func (h *openHook) OnWill(cl *mqtt.Client, w mqtt.Will) (mqtt.Will, error) {
	h.leave(cl)
	h.enter(cl)
	return w, nil
}

// OnWillSent is called after a will was published.
func (h *openHook) OnWillSent(cl *mqtt.Client, _ packets.Packet) { h.leave(cl) }

// OnDisconnect is called when a client has gone.
func (h *openHook) OnDisconnect(cl *mqtt.Client, _ error, _ bool) { h.leave(cl) }

// OnConnectAuthenticate lets everybody in.
func (*openHook) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

// OnACLCheck allows everything.
func (*openHook) OnACLCheck(*mqtt.Client, string, bool) bool { return true }
