package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/loop"
	"roomgate/agent/roombroker"
	"roomgate/cloud"
	"roomgate/drivers"
)

const (
	// roomOrderTTL is how late an order from the room broker may be carried
	// out: whoever gave it stands there and waits.
	roomOrderTTL = 10 * time.Second
	// roomLook is how often readings are compared with what was said; events
	// cause a look at once.
	roomLook = 2 * time.Second
)

// discovery tells a Home Assistant at the room broker of the building's
// devices, and takes its orders if it may give any.
type discovery struct {
	agent    *Agent
	base     string // of its topics, with a slash at the end
	link     *cloud.Link
	entities []*entity
	gone     []string    // topics of what was removed
	anew     loop.Signal // a new connection: everything is said again
}

// runDiscovery keeps Home Assistant informed until ctx ends. When the building
// changes it begins anew.
func (a *Agent) runDiscovery(ctx context.Context) error {
	var before *discovery
	whole := func(t *site) []*site { return []*site{t} }
	return crew(ctx, a, whole, func(ctx context.Context, _ *site) error {
		d := newDiscovery(a)
		if d != nil {
			d.gone = d.without(before)
		}
		before = d
		return d.run(ctx)
	})
}

// without are the topics on which the discovery before had something that this
// one has not.
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

// newDiscovery is nil if nobody is to be told.
func newDiscovery(a *Agent) *discovery {
	o := a.config.Broker.HomeAssistant
	if !o.Publish || a.config.Broker.Listen == "" {
		return nil
	}
	d := &discovery{agent: a, base: roombroker.Base(a.config.Gateway.ID), entities: a.entities(), anew: loop.NewSignal()}
	d.link = cloud.NewLink(cloud.LinkOptions{
		URL: "mqtt://" + drivers.RoomBroker, ClientID: "roomgate-room-" + a.config.Gateway.ID,
		Fleeting: true, // who gave a command while the gateway was away does not wait for it any more
		Will:     d.presence("offline"), Birth: d.presence("online"), Farewell: d.presence("offline"),
		Subscribe: d.orders(), Receive: d.receive, Up: func(context.Context) { d.anew.Wake() },
		Dial: a.options.Buses.Dial, Log: a.log.With("link", "room broker"),
	})
	return d
}

func (d *discovery) presence(state string) func() cloud.Message {
	return func() cloud.Message {
		return cloud.Message{Topic: d.base + "status", Payload: []byte(state), QoS: 1, Retained: true}
	}
}

// orders are the topics that orders come on.
func (d *discovery) orders() (topics []string) {
	for _, e := range d.entities {
		for _, level := range slices.Sorted(maps.Keys(e.orders)) {
			topics = append(topics, d.base+e.object+"/"+level)
		}
	}
	return topics
}

// run keeps Home Assistant informed until ctx ends. A nil discovery does
// nothing.
func (d *discovery) run(ctx context.Context) error {
	if d == nil {
		return nil
	}
	loops, ctx := errgroup.WithContext(ctx)
	loops.Go(func() error { return d.link.Run(ctx) })
	loops.Go(func() error { return d.tell(ctx) })
	return loops.Wait()
}

// tell says what is new.
func (d *discovery) tell(ctx context.Context) error {
	told := map[string]string{}
	tick := time.NewTicker(roomLook)
	defer tick.Stop()
	for {
		grown := d.agent.Events.Changed()
		if d.link.Connected() {
			d.say(ctx, told)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.anew:
			clear(told)
		case <-grown:
		case <-tick.C:
		}
	}
}

// say publishes what differs from what was told. What could not be published
// is tried again with the next look.
func (d *discovery) say(ctx context.Context, told map[string]string) {
	for len(d.gone) > 0 { // an empty payload takes back what the broker kept
		if !d.publish(ctx, map[string]string{d.gone[0]: "-"}, d.gone[0], "") {
			return
		}
		d.gone = d.gone[1:]
	}
	for _, e := range d.entities {
		r, err := d.agent.Status(e.space.ID, e.device.Type, e.sub)
		if err != nil {
			continue // not observed yet
		}
		if !d.publish(ctx, told, d.configTopic(e), d.document(e)) {
			return
		}
		for level, payload := range e.said(r) {
			if !d.publish(ctx, told, d.base+e.object+"/"+level, payload) {
				return
			}
		}
	}
}

func (d *discovery) publish(ctx context.Context, told map[string]string, topic, payload string) bool {
	if told[topic] == payload {
		return true
	}
	err := d.link.Publish(ctx, cloud.Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retained: true})
	if err != nil {
		return false
	}
	told[topic] = payload
	return true
}

func (d *discovery) configTopic(e *entity) string {
	return d.agent.config.Broker.HomeAssistant.Prefix + "/" + e.component + "/" +
		roombroker.Node(d.agent.config.Gateway.ID) + "/" + e.object + "/config"
}

func (d *discovery) document(e *entity) string {
	doc := e.document(d.agent.config.Gateway.ID, d.agent.options.Version, d.base, d.base+"status")
	b, err := json.Marshal(doc)
	if err != nil { // not for text and numbers
		return "{}"
	}
	return string(b)
}

// receive takes an order. A retained one may be of any age and is none. It
// goes the way of all commands: stored before its effect, read back after it.
func (d *discovery) receive(ctx context.Context, m cloud.Message) error {
	object, level, _ := strings.Cut(strings.TrimPrefix(m.Topic, d.base), "/")
	for _, e := range d.entities {
		action, value, ok := e.order(level, string(m.Payload))
		if e.object != object || m.Retained {
			continue
		}
		if !ok {
			break
		}
		_, err := d.agent.Accept(ctx, Command{Space: e.space.ID, DeviceType: e.device.Type, SubDevice: e.sub,
			Action: action, Value: value, TTL: roomOrderTTL, Via: ViaRoom, By: "room broker"})
		if err != nil {
			d.agent.log.Warn("an order from the room broker was refused", "topic", m.Topic, "error", err)
		}
		return nil
	}
	d.agent.log.Warn("a message at the room broker is no order and was dropped", "topic", m.Topic)
	return nil
}
