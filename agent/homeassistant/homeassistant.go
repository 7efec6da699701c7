// Package homeassistant tells a Home Assistant at the room broker of the
// building's devices, by its MQTT discovery, and takes its commands if the
// configuration lets it give any.
package homeassistant

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/config"
	"roomgate/agent/loop"
	"roomgate/agent/roombroker"
	"roomgate/cloud"
	"roomgate/drivers"
)

// CommandLife is how late a command of the room broker may be carried out:
// the one who gave it stands there and waits.
const CommandLife = 10 * time.Second

// lookEvery is how often readings are compared with what was published; events
// cause a look at once.
const lookEvery = 2 * time.Second

// Options say what is told, and ask the building for it. All functions are
// needed, and may be called at any time while Run runs.
type Options struct {
	Settings config.HomeAssistant
	Gateway  string // its id
	Version  string // of the gateway's program
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Log      *slog.Logger

	// Devices are those that are told of. Replaced returns a channel that is
	// closed when Devices returns others; it is taken before they are read.
	Devices  func() []Device
	Replaced func() <-chan struct{}
	// Changed returns a channel that is closed when something has happened in the
	// building; it is taken before the readings are read.
	Changed func() <-chan struct{}
	// Status is what is known of a device or sub-device; ok is false as long as
	// there is no such thing.
	Status func(d Device, sub string) (r Reading, ok bool)
	// Describe says which actions a device takes now.
	Describe func(d Device) drivers.Description
	// Do takes a command, or refuses it.
	Do func(ctx context.Context, c Command) error
}

// Device is a device of the building.
type Device struct {
	ID, Type       string
	SpaceID, Space string // its meeting space's id and name
}

// Reading is what is known of a device or a sub-device.
type Reading struct {
	Value   string
	Offline bool
	Details map[string]any
}

// Command is what somebody at the room broker wants of a device, within
// CommandLife. Value is JSON or nil.
type Command struct {
	Device
	Sub    string // the sub-device, or empty
	Action string
	Value  json.RawMessage
}

// Run keeps Home Assistant informed until ctx ends. When the building changes it
// begins again. It fails if its link to the room broker cannot work at all.
func Run(ctx context.Context, o Options) error {
	if !o.Settings.Publish {
		return nil
	}
	var before *discovery
	for ctx.Err() == nil {
		replaced := o.Replaced()
		d := newDiscovery(o, before)
		if err := d.runUntil(ctx, replaced); err != nil {
			return err
		}
		before = d
	}
	return nil
}

// discovery tells of the building as it is until its devices are others.
type discovery struct {
	Options
	base      string // of its topics, with a slash at the end
	link      *cloud.Link
	entities  []*entity
	gone      []string    // topics of what was removed
	connected loop.Signal // a new connection: everything is published again
}

// newDiscovery takes back what the discovery before told of and this one does
// not; nil: there was none.
func newDiscovery(o Options, before *discovery) *discovery {
	d := &discovery{Options: o, base: roombroker.Base(o.Gateway), entities: entitiesOf(o), connected: loop.NewSignal()}
	d.gone = d.without(before)
	d.link = cloud.NewLink(cloud.LinkOptions{
		URL: "mqtt://" + drivers.RoomBroker, ClientID: "roomgate-room-" + o.Gateway,
		Fleeting: true, // who gave a command while the gateway was away does not wait for it any more
		Will:     d.presence("offline"), Birth: d.presence("online"), Farewell: d.presence("offline"),
		Subscribe: d.commandTopics(), Receive: d.receive, Up: func(context.Context) { d.connected.Wake() },
		Dial: o.Dial, Log: o.Log.With("link", "room broker"),
	})
	return d
}

// without are the topics on which the discovery before had something that this
// one does not have.
func (d *discovery) without(before *discovery) (topics []string) {
	if before == nil {
		return nil
	}
	topics = before.gone
	for _, old := range before.entities {
		if slices.ContainsFunc(d.entities, func(e *entity) bool { return e.object == old.object && e.component == old.component }) {
			continue
		}
		topics = append(topics, d.configTopic(old))
		for _, level := range []string{"state", "availability", "intensity"} {
			topics = append(topics, d.base+old.object+"/"+level)
		}
	}
	return topics
}

func (d *discovery) presence(state string) func() cloud.Message {
	return func() cloud.Message {
		return cloud.Message{Topic: d.base + "status", Payload: []byte(state), QoS: 1, Retained: true}
	}
}

// commandTopics are the topics that commands come on.
func (d *discovery) commandTopics() (topics []string) {
	for _, e := range d.entities {
		for _, level := range slices.Sorted(maps.Keys(e.commands)) {
			topics = append(topics, d.base+e.object+"/"+level)
		}
	}
	return topics
}

// runUntil keeps Home Assistant informed until ctx or the building as it is ends.
func (d *discovery) runUntil(ctx context.Context, replaced <-chan struct{}) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	loops, ctx := errgroup.WithContext(ctx)
	loops.Go(func() error { return d.link.Run(ctx) })
	loops.Go(func() error {
		defer stop()
		d.follow(ctx, replaced)
		return nil
	})
	return loops.Wait()
}

// follow publishes what is new.
func (d *discovery) follow(ctx context.Context, replaced <-chan struct{}) {
	published := map[string]string{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		changed := d.Changed()
		if d.link.Connected() {
			d.publishNew(ctx, published)
		}
		select {
		case <-ctx.Done():
			return
		case <-replaced:
			return
		case <-d.connected:
			clear(published)
		case <-changed:
		case <-tick.C:
		}
	}
}

// publishNew publishes what differs from what was published. It tries again what failed
// with the next look.
func (d *discovery) publishNew(ctx context.Context, published map[string]string) {
	for len(d.gone) > 0 { // an empty payload takes back what the broker kept
		if !d.publish(ctx, map[string]string{d.gone[0]: "-"}, d.gone[0], "") {
			return
		}
		d.gone = d.gone[1:]
	}
	for _, e := range d.entities {
		r, ok := d.Status(e.device, e.sub)
		if !ok {
			continue // not observed yet
		}
		if !d.publish(ctx, published, d.configTopic(e), d.document(e)) {
			return
		}
		for level, payload := range e.states(r) {
			if !d.publish(ctx, published, d.base+e.object+"/"+level, payload) {
				return
			}
		}
	}
}

func (d *discovery) publish(ctx context.Context, published map[string]string, topic, payload string) bool {
	if published[topic] == payload {
		return true
	}
	err := d.link.Publish(ctx, cloud.Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retained: true})
	if err != nil {
		return false
	}
	published[topic] = payload
	return true
}

func (d *discovery) configTopic(e *entity) string {
	return d.Settings.Prefix + "/" + e.component + "/" + roombroker.Node(d.Gateway) + "/" + e.object + "/config"
}

func (d *discovery) document(e *entity) string {
	b, err := json.Marshal(e.document(d.Gateway, d.Version, d.base, d.base+"status"))
	if err != nil { // not for text and numbers
		return "{}"
	}
	return string(b)
}

// receive takes a command. A retained one may be of any age and is none. It
// goes the way of all commands: stored before its effect, read back after it.
func (d *discovery) receive(ctx context.Context, m cloud.Message) error {
	object, level, _ := strings.Cut(strings.TrimPrefix(m.Topic, d.base), "/")
	for _, e := range d.entities {
		if e.object != object || m.Retained {
			continue
		}
		action, value, ok := e.command(level, string(m.Payload), d.Describe)
		if !ok {
			break
		}
		if err := d.Do(ctx, Command{Device: e.device, Sub: e.sub, Action: action, Value: value}); err != nil {
			d.Log.Warn("a command from the room broker was refused", "topic", m.Topic, "error", err)
		}
		return nil
	}
	d.Log.Warn("a message at the room broker is no command and was dropped", "topic", m.Topic)
	return nil
}
