package peers

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"roomgate/drivers/sim"
)

// o3Period is how often a hub reports everything (ours: the maker does not
// say).
const o3Period = 2 * time.Second

// o3SoundLength is how long one repetition of any sound takes (ours).
const o3SoundLength = time.Second

// maxSounds bounds the sounds that a hub remembers.
const maxSounds = 256

// O3 is Delta Controls' O3 sensor hub: an MQTT 3.1.1 broker that reports what
// it senses and does, and takes orders, as the maker's articles "MQTT
// Subscribe Topics" and "MQTT Publish Topics" have it. An order that is
// followed is reported back at once; one that is not understood is ignored.
// Anybody who subscribes is told everything at once, as by a broker that keeps
// reports (ours: the maker does not say whether this one does).
type O3 struct {
	sim.Faults `yaml:"-"`
	Address    string `yaml:"address"`
	Username   string `yaml:"username"` // anybody may come in if empty
	Password   string `yaml:"password"`
	Prefix     string `yaml:"prefix"` // of the topics, without a slash at the end; as if bridged
	// Text writes numbers as text, Fahrenheit reports temperatures in °F: both
	// have been seen of such hubs.
	Text       bool          `yaml:"text"`
	Fahrenheit bool          `yaml:"fahrenheit"`
	Period     time.Duration `yaml:"period"` // between full reports; 2 s if 0

	broker *mqtt.Server
	kick   chan struct{} // there is something to report

	mu       sync.Mutex
	numbers  map[string]float64 // by subtopic
	speaker  `yaml:"-"`
	news     []string // subtopics to report, oldest first
	muted    bool     // reports nothing
	babbles  bool     // reports nonsense
	numb     bool     // takes orders without following them
	disorder disorder
	silences silences // by subject
}

// speaker is what is heard of a hub.
type speaker struct {
	sound  string    // what plays
	ends   time.Time // and until when
	played []string
}

// Subjects are its sub-devices.
func (*O3) Subjects() []string { return []string{"temperature", "occupancy", "buzzer", "ring-light"} }

// Attach wires it into the world.
func (o *O3) Attach(w *sim.World) error {
	if o.Period <= 0 {
		o.Period = o3Period
	}
	o.kick = make(chan struct{}, 1)
	o.sound, o.silences = o3Idle, silences{}
	o.numbers = map[string]float64{
		"occupantTemperature": 21.53, "irTemperature": 20.87, "internalTemperature": 23.11, "rawTemperature": 22.46,
		"occupantHumidity": 41, "internalHumidity": 38,
		"combinedOccupancy": 0, "motion": 0, "acousticOccupancy": 0,
		"acousticActivityLevel": 120, "soundLevel": 35, "lightLevel": 210,
	}
	for name, r := range o3Orders {
		o.numbers[name] = r.start
	}
	if err := o.open(); err != nil {
		return err
	}
	if err := w.ListenPart(o.Address, &o.Faults, o.serve); err != nil {
		return err
	}
	w.Run(o.live)
	return nil
}

// open builds the broker. Its event loop is not started: it only serves
// expiry and statistics, and could not be stopped without a race.
func (o *O3) open() error {
	limits := mqtt.NewDefaultServerCapabilities()
	limits.MaximumPacketSize = 16 << 10
	limits.MaximumClients = 16
	limits.MaximumClientWritesPending = 256
	o.broker = mqtt.New(&mqtt.Options{
		InlineClient: true,
		Capabilities: limits,
		Logger:       slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	return o.broker.AddHook(&o3Hook{hub: o}, nil)
}

// serve is one client's connection. What ends it is the client's business.
func (o *O3) serve(c net.Conn) { _ = o.broker.EstablishConnection("o3", c) }

// live reports until the world ends.
func (o *O3) live() {
	next := time.Now().Add(o.Period)
	for {
		o.speak()
		timer := time.NewTimer(time.Until(o.earlier(next)))
		select {
		case <-timer.C:
		case <-o.kick:
		case <-o.Done():
			timer.Stop()
			return
		}
		timer.Stop()
		if o.due(next) {
			next = time.Now().Add(o.Period)
		}
	}
}

// due does what its time has come for, and says whether that is a full report.
func (o *O3) due(next time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finish()
	full := o.disorder.over() || !time.Now().Before(next)
	if full {
		o.everything()
	}
	return full
}

// earlier is the end of the sound, or of a disorder, if it comes before t.
func (o *O3) earlier(t time.Time) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sound != o3Idle && o.ends.Before(t) {
		t = o.ends
	}
	return o.disorder.earlier(t)
}

// change does what alters the hub, and has the news reported.
func (o *O3) change(do func()) {
	o.mu.Lock()
	do()
	o.mu.Unlock()
	select {
	case o.kick <- struct{}{}:
	default:
	}
}

// everything puts all that the hub knows on the news.
func (o *O3) everything() {
	for _, name := range append(sortedKeys(o.numbers), "soundfile") {
		o.tell(name)
	}
}

func (o *O3) tell(name string) {
	if !slices.Contains(o.news, name) {
		o.news = append(o.news, name)
	}
}

func (o *O3) set(name string, value float64) {
	o.numbers[name] = value
	o.tell(name)
}

// finish ends the sound when its time has come.
func (o *O3) finish() {
	if o.sound != o3Idle && !time.Now().Before(o.ends) {
		o.sound = o3Idle
		o.tell("soundfile")
	}
}

// Warm sets every thermometer, in °C.
func (o *O3) Warm(celsius float64) {
	o.change(func() {
		for _, name := range []string{"occupantTemperature", "irTemperature", "internalTemperature", "rawTemperature"} {
			o.set(name, celsius)
		}
	})
}

// Occupy says whether somebody is there, moving and talking.
func (o *O3) Occupy(somebody bool) {
	o.change(func() {
		for _, name := range []string{"combinedOccupancy", "motion", "acousticOccupancy"} {
			o.set(name, map[bool]float64{true: 1}[somebody])
		}
	})
}

// Mute keeps the hub from reporting, though it stays connected.
func (o *O3) Mute(muted bool) { o.change(func() { o.muted = muted }) }

// Babble has the hub report what nobody can use.
func (o *O3) Babble(babbles bool) { o.change(func() { o.babbles = babbles }) }

// Retain has the hub's broker keep a message on a subtopic, of whatever size.
func (o *O3) Retain(name string, payload []byte) {
	// Nobody listening is not an error, and there is no other.
	_ = o.broker.Publish(o.topic("events/object/")+name, payload, true, 0)
}

// Numb keeps the hub from following orders, though it takes them.
func (o *O3) Numb(numb bool) { o.change(func() { o.numb = numb }) }

// Forget drops every subscription, as a broker does that restarts behind a
// bridge: the connections stay.
func (o *O3) Forget() {
	for _, cl := range o.broker.Clients.GetAll() {
		o.broker.UnsubscribeClient(cl)
	}
}

// Playing is the sound that is heard, empty for none.
func (o *O3) Playing() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sound == o3Idle {
		return ""
	}
	return o.sound
}

// Sounds are the sounds so far, oldest first.
func (o *O3) Sounds() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.played)
}

// Ring is what the light ring shows: its color, each part from 0 to 100 with
// the brightness in it, and the pattern, 1 for none. One of them is dark.
func (o *O3) Ring() (red, green, blue float64, pattern int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.numbers
	share := n["lightringBrightness"] / 100
	if n["lightringColorOverride"] == 1 {
		return n["lightringRed"] * share, n["lightringGreen"] * share, n["lightringBlue"] * share, 1
	}
	if share == 0 {
		return 0, 0, 0, 1
	}
	return 0, 0, 0, int(n["lightringPattern"])
}

// Verbs are what it obeys.
func (o *O3) Verbs(subject string) []sim.Verb {
	hub := []sim.Verb{
		sim.Always("mute", "it is connected and reports nothing", func() { o.Mute(true) }),
		sim.Always("unmute", "it reports", func() { o.Mute(false) }),
		sim.Always("babble", "it reports nonsense", func() { o.Babble(true) }),
		sim.Always("unbabble", "it reports sense", func() { o.Babble(false) }),
		sim.Always("forget", "it has forgotten who subscribed", o.Forget),
		sim.Always("numb", "it does not follow commands", func() { o.Numb(true) }),
		sim.Always("unnumb", "it follows commands", func() { o.Numb(false) }),
	}
	hub = append(hub, disorderVerbs(func(on bool) { o.change(func() { o.disorder.on = on }) })...)
	if slices.Contains(o.Subjects(), subject) {
		hub = append(hub, silenceVerbs(func(s silence) {
			o.change(func() {
				o.silences[subject] = s
				o.everything()
			})
		})...)
	}
	switch subject {
	case "temperature":
		return append(hub, sim.Verb{Name: "<celsius>", Do: o.warm})
	case "occupancy":
		return append(hub,
			sim.Always("occupied", "senses somebody", func() { o.Occupy(true) }),
			sim.Always("vacant", "senses nobody", func() { o.Occupy(false) }))
	}
	return hub
}

func (o *O3) warm(args []string) (string, error) {
	c, err := strconv.ParseFloat(args[0], 64)
	if err != nil || !(c >= 0 && c <= 59) {
		return "", fmt.Errorf("temperature %q is out of range: want 0 to 59 °C", args[0])
	}
	o.Warm(c)
	return fmt.Sprintf("the room has %g °C", c), nil
}

// State says how it is.
func (o *O3) State() string {
	r, g, b, pattern := o.Ring()
	playing := o.Playing()
	if playing == "" {
		playing = "nothing"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return fmt.Sprintf("%.2f °C, occupancy %g, plays %s, ring at %.0f %.0f %.0f, pattern %d",
		o.numbers["occupantTemperature"], o.numbers["combinedOccupancy"], playing,
		math.Round(r), math.Round(g), math.Round(b), pattern)
}
