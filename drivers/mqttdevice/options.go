package mqttdevice

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// Reach is where a device is spoken to, and how patiently.
type Reach struct {
	// Broker is host:port of the broker; room:1883 is the building's own.
	Broker string `yaml:"broker"`
	// Username and Password log in to another broker than the building's.
	Username string         `yaml:"username"`
	Password drivers.Secret `yaml:"password"`
	// PasswordFile holds the password in its first line, read at each connect.
	PasswordFile string `yaml:"password_file"`
	// Silence is how long a device may say nothing before it is offline. One
	// that can be asked is asked after a third of it.
	Silence time.Duration `yaml:"silence"`
	// Timeout bounds the wait for the report that confirms an order, and for
	// the first answer on a new connection.
	Timeout time.Duration `yaml:"timeout"`
}

// Place is where one device is at the broker. What a dialect has no use for is
// refused.
type Place struct {
	// Topic is Zigbee2MQTT's base topic with the device's friendly name,
	// Tasmota's topic or full topic, ESPHome's or Shelly's topic prefix.
	Topic string `yaml:"topic"`
	// Name is ESPHome's object id, or Tasmota's name of a sensor.
	Name string `yaml:"name"`
	// Node is ESPHome's device name if it is not the prefix, or Zigbee2MQTT's
	// base topic if it has more than one level.
	Node string `yaml:"node"`
	// Component is Shelly's, with its number: light:0, switch:0,
	// temperature:0, input:0.
	Component string `yaml:"component"`
	// StateOn and StateOff are what a Tasmota says for ON and OFF, if StateText1
	// and StateText2 were set to other words.
	StateOn  string `yaml:"state_on"`
	StateOff string `yaml:"state_off"`
}

// Options are one light, fan or lock.
type Options struct {
	Reach `yaml:",inline"`
	Place `yaml:",inline"`
	// Relay is Tasmota's number of the relay; 0 for the only one.
	Relay int `yaml:"relay"`
	// OnOff says that the device cannot be dimmed.
	OnOff bool `yaml:"on_off"`
	// Speeds is the number of speeds of an ESPHome fan, 1 to 100, or of a
	// Zigbee2MQTT fan whose modes are numbers, 1 to 100; 0 of one whose modes
	// are low, medium and high.
	Speeds int `yaml:"speeds"`
	// TopSpeed is the fastest speed of a Zigbee2MQTT fan that has state and speed
	// in place of modes, as 254 or 100; 0: it has modes.
	TopSpeed int `yaml:"top_speed"`
	// Endpoint is which part of a Zigbee2MQTT device with several it is, as left,
	// right, l1 or l2; empty: the only one.
	Endpoint string `yaml:"endpoint"`

	kind    string // the driver's name
	of      string // the device type
	dialect string
}

// spot is what a dialect needs to know of a device.
type spot struct {
	Place
	relay      int
	onOff      bool
	speeds     int
	fahrenheit bool
	topSpeed   int
	endpoint   string
}

func (o *Options) talk() dialect {
	return dialects()[o.dialect](o.of, spot{o.Place, o.Relay, o.OnOff, o.Speeds, false, o.TopSpeed, o.Endpoint})
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	if err := o.Place.check(o.dialect, o.of, ""); err != nil {
		return err
	}
	dimmable := o.of != drivers.TypeLock
	switch {
	case o.Relay < 0 || o.Relay > 32 || o.Relay > 0 && (o.dialect != "tasmota" || !dimmable):
		return refuse("relay", "is out of range or of no use: want 1 to 32 of a tasmota light or fan")
	case o.OnOff && (!dimmable || o.dialect == "shelly"):
		return refuse("on_off", "is of no use here: a shelly says so with its component")
	case !o.speedsFit():
		return refuse("speeds", "is out of range or of no use: want 1 to 100 of an esphome fan, or of a zigbee2mqtt fan with numbers for modes")
	}
	zigbee := o.dialect == "zigbee2mqtt"
	switch {
	case o.TopSpeed < 0 || o.TopSpeed > 255 || o.TopSpeed > 0 && (!zigbee || o.of != drivers.TypeFan || o.OnOff || o.Speeds > 0):
		return refuse("top_speed", "is out of range or of no use: want 1 to 255 of a zigbee2mqtt fan with state and speed, which has no speeds")
	case o.Endpoint != "" && (!zigbee || !dimmable || !endpoints.MatchString(o.Endpoint)):
		return refuse("endpoint", "is not known or of no use: want what follows state_ in the messages of a zigbee2mqtt light or fan, as left or l1")
	}
	return o.Reach.check()
}

// endpoints are the names that Zigbee2MQTT has for the parts of a device.
var endpoints = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

func (o *Options) speedsFit() bool {
	switch {
	case o.of == drivers.TypeFan && o.dialect == "esphome":
		return o.Speeds >= 1 && o.Speeds <= 100
	case o.of == drivers.TypeFan && o.dialect == "zigbee2mqtt" && !o.OnOff:
		return o.Speeds >= 0 && o.Speeds <= 100
	}
	return o.Speeds == 0
}

// Accounts are the device's, or its bridge's.
func (o *Options) Accounts() []drivers.Account {
	if o.Broker != drivers.RoomBroker {
		return nil
	}
	return []drivers.Account{o.talk().account()}
}

// Source is where a sub-device of an o3-room comes from. Without a dialect it
// is not fitted.
type Source struct {
	// Dialect is zigbee2mqtt, tasmota, esphome or shelly.
	Dialect string `yaml:"dialect"`
	Place   `yaml:",inline"`
	// Sleeps says that a sensor is only there when it has something to say.
	Sleeps bool `yaml:"sleeps"`
}

// Sensors are the devices that make up one o3-sensor.
type Sensors struct {
	Reach `yaml:",inline"`
	// Unit is C or F, of a thermometer that does not say.
	Unit        string `yaml:"unit"`
	Temperature Source `yaml:"temperature"`
	Occupancy   Source `yaml:"occupancy"`
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Sensors) Check() error {
	if o.Temperature.Dialect == "" && o.Occupancy.Dialect == "" {
		return refuse("temperature.dialect", "is missing, and so is occupancy.dialect: want at least one of them")
	}
	if o.Unit != "C" && o.Unit != "F" {
		return drivers.Unknown("unit", o.Unit, "C or F")
	}
	for _, s := range o.sources() {
		if s.Source == (Source{}) {
			continue
		}
		if dialects()[s.Dialect] == nil {
			return drivers.Unknown(s.fact+".dialect", s.Dialect, "zigbee2mqtt, tasmota, esphome or shelly")
		}
		if err := s.Place.check(s.Dialect, s.fact, s.fact+"."); err != nil {
			return err
		}
	}
	return o.Reach.check()
}

// Accounts are those of the devices that measure.
func (o *Sensors) Accounts() (all []drivers.Account) {
	for _, s := range o.sources() {
		if s.Dialect != "" && o.Broker == drivers.RoomBroker {
			all = append(all, dialects()[s.Dialect](drivers.TypeO3, spot{Place: s.Place}).account())
		}
	}
	return all
}

type source struct {
	fact string
	Source
}

func (o *Sensors) sources() []source {
	return []source{{temperature, o.Temperature}, {occupancy, o.Occupancy}}
}

func (r Reach) check() error {
	switch {
	case !session.ValidAddress(r.Broker):
		return refuse("broker", "is not an address: want host:port, as "+drivers.RoomBroker)
	case r.Password != "" && r.PasswordFile != "":
		return refuse("password_file", "is given beside password: keep one of them")
	case r.Silence < 10*time.Second || r.Silence > 48*time.Hour:
		return refuse("silence", "is out of range: want 10s to 48h")
	case r.Timeout < 100*time.Millisecond || r.Timeout > time.Minute:
		return refuse("timeout", "is out of range: want 100ms to 1m")
	}
	return nil
}

// components are Shelly's, by what they are for.
var components = map[string]*regexp.Regexp{
	drivers.TypeLight: regexp.MustCompile(`^(light|switch):\d{1,3}$`),
	drivers.TypeFan:   regexp.MustCompile(`^(light|switch):\d{1,3}$`),
	temperature:       regexp.MustCompile(`^temperature:\d{1,3}$`),
	occupancy:         regexp.MustCompile(`^input:\d{1,3}$`),
}

// check checks a device of a type, or a source of a fact. Fields are named
// after prefix.
func (s Place) check(dialect, of, prefix string) error {
	sensor := of == temperature || of == occupancy
	shelly, tasmota, esphome := dialect == "shelly", dialect == "tasmota", dialect == "esphome"
	switch {
	case !validTopic(s.Topic, tasmota):
		return refuse(prefix+"topic", "is not a topic: want 1 to 128 bytes without +, # and a slash at either end")
	case s.Name == "" && esphome:
		return refuse(prefix+"name", "is missing: want the object id of the component")
	case s.Name != "" && !esphome && !(tasmota && sensor):
		return refuse(prefix+"name", "is of no use to "+dialect)
	case s.Name != "" && (!validTopic(s.Name, false) || strings.Contains(s.Name, "/")):
		return refuse(prefix+"name", "is not a level of a topic: want 1 to 128 bytes without +, # and /")
	case s.Node != "" && !esphome && dialect != "zigbee2mqtt":
		return refuse(prefix+"node", "is of no use to "+dialect)
	case s.Node != "" && !validTopic(s.Node, false):
		return refuse(prefix+"node", "is not a topic: want 1 to 128 bytes without +, # and a slash at either end")
	case (s.StateOn == "") != (s.StateOff == "") || s.StateOn != "" && (!tasmota || strings.EqualFold(s.StateOn, s.StateOff) || len(s.StateOn) > 32 || len(s.StateOff) > 32):
		return refuse(prefix+"state_on", "and state_off are of a tasmota with StateText of its own: want both, two words of at most 32 bytes")
	case s.Component != "" && !shelly:
		return refuse(prefix+"component", "is of no use to "+dialect)
	case shelly && (s.Component != "" || sensor) && !components[of].MatchString(s.Component):
		return drivers.Unknown(prefix+"component", s.Component, "one that fits "+components[of].String())
	}
	return nil
}

func validTopic(topic string, prefix bool) bool {
	if prefix {
		topic = strings.ReplaceAll(topic, "%prefix%", "cmnd")
	}
	return topic != "" && len(topic) <= 128 && !strings.ContainsAny(topic, "+#\x00") && strings.Trim(topic, "/") == topic
}

func refuse(field, problem string) error {
	return &drivers.FieldError{Field: field, Problem: problem}
}

// title is a driver in one line.
func title(of, dialect string) string {
	return fmt.Sprintf("a %s that speaks %s at the room broker", of, names[dialect])
}

var names = map[string]string{
	"zigbee2mqtt": "Zigbee2MQTT", "tasmota": "Tasmota", "esphome": "ESPHome", "shelly": "Shelly Gen2 or later",
}
