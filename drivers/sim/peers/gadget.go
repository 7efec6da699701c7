package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

const (
	gadgetPeriod  = time.Minute      // between reports of what has not changed (ours)
	gadgetAlive   = 30 * time.Second // keepalive
	gadgetTimeout = 5 * time.Second
	gadgetReturn  = 2 * time.Second // from the loss of a connection to the next
)

// gadgets numbers the connections of all gadgets.
var gadgets atomic.Int64

// Gadget is a device that somebody already owns: a client of the room broker
// that speaks the dialect of its product.
type Gadget struct {
	sim.Faults `yaml:"-"`
	Product    string `yaml:"product"` // zigbee2mqtt, tasmota, esphome, shelly
	Kind       string `yaml:"kind"`    // light, fan, lock, sensor
	Broker     string `yaml:"broker"`  // drivers.RoomBroker if empty
	Topic      string `yaml:"topic"`
	Name       string `yaml:"name"`   // ESPHome's object id, Tasmota's sensor
	OnOff      bool   `yaml:"on_off"` // it cannot be dimmed
	// Retain has Zigbee2MQTT retain what it says; Fahrenheit has Tasmota and
	// ESPHome measure in °F.
	Retain     bool `yaml:"retain"`
	Fahrenheit bool `yaml:"fahrenheit"`

	product product
	kick    chan struct{} // there is something to say

	mu        sync.Mutex
	condition `yaml:"-"`
	news      []said
	mute      bool     // says nothing
	numb      bool     // takes orders without following them
	silences  silences // by subject; empty is what it is itself
	disorder  disorder
	orders    int // how many were taken
}

// condition is how the hardware of a gadget is, and what is around it.
type condition struct {
	on       bool
	level    float64 // %, kept while off
	unlocked bool
	celsius  float64
	somebody bool
}

// said is a message of a gadget's.
type said struct {
	topic, payload string
	retained       bool
}

// product is how a gadget speaks. Its methods are called with the gadget
// locked.
type product interface {
	will() said
	birth() []said
	filters() []string
	// report is what it says of itself: periodic if nothing has changed.
	report(periodic bool) []said
	// hear takes an order or a question. It answers itself, and says whether
	// something may have changed.
	hear(topic string, payload []byte) (answer []said, changed bool)
}

var products = map[string]func(*Gadget) product{
	"zigbee2mqtt": func(g *Gadget) product { return &zigbee{g} },
	"tasmota":     func(g *Gadget) product { return &tasmota{g} },
	"esphome":     func(g *Gadget) product { return &esphome{Gadget: g} },
	"shelly":      func(g *Gadget) product { return &shelly{g} },
}

// Subjects are its sub-devices.
func (g *Gadget) Subjects() []string {
	if g.Kind == "sensor" {
		return []string{"temperature", "occupancy"}
	}
	return nil
}

// Attach wires it into the world.
func (g *Gadget) Attach(w *sim.World) error {
	if products[g.Product] == nil || g.Topic == "" {
		return fmt.Errorf("the gadget's product or topic is not known: want a topic and one of %s",
			strings.Join(slices.Sorted(maps.Keys(products)), ", "))
	}
	g.Broker = cmp.Or(g.Broker, drivers.RoomBroker)
	g.product, g.kick = products[g.Product](g), make(chan struct{}, 1)
	g.level, g.celsius, g.silences = 40, 21.53, silences{}
	w.Run(func() { g.live(w) })
	return nil
}

// live connects again and again until the world ends.
func (g *Gadget) live(w *sim.World) {
	ctx, cancel := context.WithCancel(context.Background())
	var ending sync.WaitGroup
	defer ending.Wait()
	defer cancel()
	ending.Go(func() { // ctx ends with the world
		select {
		case <-g.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	for ctx.Err() == nil {
		g.session(ctx, w)
		timer := time.NewTimer(gadgetReturn)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// session is one connection.
func (g *Gadget) session(ctx context.Context, w *sim.World) {
	alive, lost := context.WithCancel(ctx)
	defer lost()
	g.mu.Lock()
	will, birth, filters := g.product.will(), g.product.birth(), g.product.filters()
	g.mu.Unlock()
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://room").SetClientID(g.Product+"-"+strconv.FormatInt(gadgets.Add(1), 36)).
		SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false).SetConnectTimeout(gadgetTimeout).
		SetWriteTimeout(gadgetTimeout).SetKeepAlive(gadgetAlive).SetPingTimeout(gadgetTimeout).
		SetWill(will.topic, will.payload, 0, will.retained).
		SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) { g.hear(m.Topic(), m.Payload()) }).
		SetConnectionLostHandler(func(mqtt.Client, error) { lost() }).
		SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) {
			conn, err := w.CableTo(alive, &g.Faults, g.Broker)
			if err == nil {
				context.AfterFunc(alive, func() { _ = conn.Close() })
			}
			return conn, err
		}))
	defer c.Disconnect(0)
	if token := c.Connect(); !token.WaitTimeout(2*gadgetTimeout) || token.Error() != nil {
		return
	}
	for _, f := range filters {
		c.Subscribe(f, 0, nil).WaitTimeout(gadgetTimeout)
	}
	g.say(c, birth)
	g.change(func() {})
	g.speak(alive, c)
}

// speak says what there is to say until the connection is lost.
func (g *Gadget) speak(ctx context.Context, c mqtt.Client) {
	period := time.NewTicker(gadgetPeriod)
	defer period.Stop()
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.kick:
		case <-period.C:
			g.add(func() []said { return g.product.report(true) })
		case <-again:
			g.add(g.disorder.right)
		}
		g.mu.Lock()
		news, mute := g.disorder.all(g.news), g.mute
		if g.news = nil; !g.disorder.again.IsZero() {
			again = time.After(time.Until(g.disorder.again))
		}
		g.mu.Unlock()
		if !mute {
			g.say(c, news)
		}
	}
}

func (g *Gadget) say(c mqtt.Client, all []said) {
	for _, s := range all {
		c.Publish(s.topic, 0, s.retained, s.payload).WaitTimeout(gadgetTimeout)
	}
}

// hear takes what comes from the broker.
func (g *Gadget) hear(topic string, payload []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	answer, changed := g.product.hear(topic, payload)
	g.news = append(g.news, answer...)
	if changed {
		g.news = append(g.news, g.product.report(false)...)
	}
	g.ringOut()
}

// change does what alters the gadget, and has it reported.
func (g *Gadget) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
	g.news = append(g.news, g.product.report(false)...)
	g.ringOut()
}

func (g *Gadget) ringOut() {
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// follow counts an order and does it, unless the gadget is numb.
func (g *Gadget) follow(do func()) {
	g.orders++
	if !g.numb {
		do()
	}
}

// Switch is the hand on the gadget's own switch.
func (g *Gadget) Switch(on bool) { g.change(func() { g.on = on }) }

// Turn is the hand on the gadget's own bolt.
func (g *Gadget) Turn(open bool) { g.change(func() { g.unlocked = open }) }

// Warm sets the thermometer, in °C.
func (g *Gadget) Warm(celsius float64) { g.change(func() { g.celsius = celsius }) }

// Occupy says whether somebody is there.
func (g *Gadget) Occupy(somebody bool) { g.change(func() { g.somebody = somebody }) }

// Mute keeps the gadget from saying anything, though it stays connected. Then
// it speaks as after a start.
func (g *Gadget) Mute(mute bool) {
	g.change(func() {
		g.mute = mute
		g.news = append(g.news, g.product.birth()...)
	})
}

// Numb keeps the gadget from following orders, though it takes them.
func (g *Gadget) Numb(numb bool) { g.change(func() { g.numb = numb }) }

// Say has the gadget say something else.
func (g *Gadget) Say(topic, payload string, retained bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.news = append(g.news, said{topic, payload, retained})
	g.ringOut()
}

// Level is how much the gadget gives, in %: 0 while it is off.
func (g *Gadget) Level() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.on:
		return 0
	case g.OnOff:
		return 100
	}
	return g.level
}

// Unlocked says where the bolt is.
func (g *Gadget) Unlocked() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unlocked
}

// Orders is how many orders the gadget has taken.
func (g *Gadget) Orders() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.orders
}

// Verbs are what it obeys.
func (g *Gadget) Verbs(subject string) []sim.Verb {
	all := []sim.Verb{
		sim.Always("mute", "it is connected and says nothing", func() { g.Mute(true) }),
		sim.Always("unmute", "it speaks", func() { g.Mute(false) }),
		sim.Always("numb", "it does not follow commands", func() { g.Numb(true) }),
		sim.Always("unnumb", "it follows commands", func() { g.Numb(false) }),
	}
	fact := ""
	if slices.Contains(g.Subjects(), subject) {
		fact = subject
	}
	all = append(all, silenceVerbs(func(s silence) { g.change(func() { g.silences[fact] = s }) })...)
	all = append(all, disorderVerbs(func(on bool) { g.change(func() { g.disorder.on = on }) })...)
	switch {
	case subject == "temperature":
		return append(all, sim.Verb{Name: "<celsius>", Do: g.warm})
	case subject == "occupancy":
		return append(all,
			sim.Always("occupied", "senses somebody", func() { g.Occupy(true) }),
			sim.Always("vacant", "senses nobody", func() { g.Occupy(false) }))
	case g.Kind == "lock":
		return append(all,
			sim.Always("open", "unlocked with a key", func() { g.Turn(true) }),
			sim.Always("close", "locked with a key", func() { g.Turn(false) }))
	}
	return append(all,
		sim.Always("on", "switched on by hand", func() { g.Switch(true) }),
		sim.Always("off", "switched off by hand", func() { g.Switch(false) }))
}

func (g *Gadget) warm(args []string) (string, error) {
	c, err := strconv.ParseFloat(args[0], 64)
	if err != nil || !(c >= -30 && c <= 60) {
		return "", errors.New("the temperature is out of range: want -30 to 60 °C")
	}
	g.Warm(c)
	return fmt.Sprintf("the room has %g °C", c), nil
}

// State says how it is.
func (g *Gadget) State() string {
	level, open := g.Level(), g.Unlocked()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch g.Kind {
	case "lock":
		return map[bool]string{true: "unlocked", false: "locked"}[open]
	case "sensor":
		return fmt.Sprintf("%.2f °C, somebody there: %t", g.celsius, g.somebody)
	}
	return fmt.Sprintf("gives %.0f %%", math.Round(level))
}

// degrees is what a thermometer without a unit in its messages says.
func (g *Gadget) degrees() float64 {
	if g.Fahrenheit {
		return math.Round((g.celsius*1.8+32)*100) / 100
	}
	return g.celsius
}

func (c *condition) power() string {
	if c.on {
		return "ON"
	}
	return "OFF"
}

// switchTo takes ON, OFF and TOGGLE, in any case that products know.
func (g *Gadget) switchTo(s string) (ok bool) {
	switch s {
	case "ON", "on":
		g.follow(func() { g.on = true })
	case "OFF", "off":
		g.follow(func() { g.on = false })
	case "TOGGLE", "toggle":
		g.follow(func() { g.on = !g.on })
	default:
		return false
	}
	return true
}

// dimTo takes n of top. No light at all is off.
func (g *Gadget) dimTo(n, top float64) (ok bool) {
	if !(n >= 0 && n <= top) {
		return false
	}
	g.follow(func() {
		g.on = n > 0
		if g.on {
			g.level = n * 100 / top
		}
	})
	return true
}
