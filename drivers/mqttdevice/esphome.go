package mqttdevice

import (
	"slices"
	"strconv"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// ESPHome 2025.x, "MQTT Client Component", "MQTT Component Base Configuration",
// with the prefix in topic and the object id in name:
//
//	PREFIX/status                       online, or offline as the last will; retained
//	PREFIX/light/NAME/state             {"state": "ON", "brightness": 128}, retained
//	PREFIX/fan/NAME/state               ON, OFF, retained
//	PREFIX/fan/NAME/speed_level/state   1 to the number of speeds, retained
//	PREFIX/lock/NAME/state              LOCKED, UNLOCKED, LOCKING, UNLOCKING, JAMMED, UNKNOWN; retained
//	PREFIX/sensor/NAME/state            a number, nan, or None if the node is told to; retained
//	PREFIX/binary_sensor/NAME/state     ON, OFF, retained
//	the same with /command              orders
//	esphome/ping/NODE                   asks the node to say on
//	esphome/discover/NODE               where it is; retained as discovery_retain says, by default
//
// A state cannot be asked for. But a node publishes each change at once and
// in order, so once it has answered a ping its last words hold, retained or
// not. The answer takes discover_ip, which is on unless switched off.
const esphomeTop = 255 // of a brightness

type esphome struct {
	deviceType string
	prefix     string
	node       string
	status     string
	things     map[string]string // topics up to the name, by fact
	onOff      bool
	speeds     int
	fahrenheit bool
}

func newESPHome(deviceType string, s spot) dialect {
	e := &esphome{
		deviceType: deviceType, prefix: s.Topic, node: s.Node, status: s.Topic + "/status", things: map[string]string{},
		onOff: s.onOff, speeds: s.speeds, fahrenheit: s.fahrenheit,
	}
	if e.node == "" {
		e.node = s.Topic
	}
	for name, component := range map[string]map[string]string{
		drivers.TypeLight: {power: "light"}, drivers.TypeFan: {power: "fan"}, drivers.TypeLock: {bolt: "lock"},
		drivers.TypeO3: {temperature: "sensor", occupancy: "binary_sensor"},
	}[deviceType] {
		e.things[name] = s.Topic + "/" + component + "/" + s.Name
	}
	return e
}

func (e *esphome) topics() []string {
	all := []string{e.status}
	for _, thing := range e.things {
		all = append(all, thing+"/state")
	}
	if e.hasSpeeds() {
		all = append(all, e.things[power]+"/speed_level/state")
	}
	return append(all, e.discover())
}

func (e *esphome) hasSpeeds() bool { return e.deviceType == drivers.TypeFan && !e.onOff }

func (e *esphome) discover() string { return "esphome/discover/" + e.node }

func (e *esphome) account() drivers.Account {
	a := drivers.Account{
		Names:     []string{e.prefix, e.node},
		Says:      e.topics(),
		Publish:   []string{e.prefix + "/#", e.discover(), "homeassistant/+/" + e.node + "/+/config"},
		Subscribe: []string{e.prefix + "/#", "esphome/ping/" + e.node, "esphome/discover"},
	}
	if e.deviceType == drivers.TypeLock {
		a.Opens = e.opens
	}
	return a
}

// opens: the bolt hangs on an output that may be a switch or a button of the node
// too, so it is every order to the node.
func (e *esphome) opens(topic string) bool {
	at, ok := below(e.prefix, topic)
	return ok && slices.Contains(at, "command")
}

func (e *esphome) hear(topic string, payload []byte) ([]fact, error) {
	said := string(payload)
	switch topic {
	case e.status:
		return presence(deviceIs, said, online, offline)
	case e.discover():
		if _, err := parseObject(payload); err != nil {
			return nil, err
		}
		return []fact{{name: aliveIs}}, nil
	case e.things[bolt] + "/state":
		return e.lock(said)
	case e.things[temperature] + "/state":
		n, ok := parseNumber(said)
		return sure(said, ok, warmth(n, e.fahrenheit)), nil
	case e.things[occupancy] + "/state":
		there, ok := either(said, "ON", "OFF")
		return sure(said, ok, somebody(there)), nil
	case e.things[power] + "/speed_level/state":
		n, ok := parseNumber(said)
		return sure(said, ok, percent(n, float64(e.speeds))), nil
	case e.things[power] + "/state":
		if e.deviceType == drivers.TypeLight {
			return e.light(payload)
		}
		on, ok := either(said, "ON", "OFF")
		return sure(said, ok, powerIs(on)), nil
	}
	return nil, nil
}

func (e *esphome) light(payload []byte) ([]fact, error) {
	o, err := parseObject(payload)
	if err != nil {
		return nil, err
	}
	on, ok := o.is("state", "ON", "OFF")
	all := o.says("state", ok, powerIs(on))
	if !e.onOff {
		n, ok := o.number("brightness")
		all = append(all, o.says("brightness", ok, percent(n, esphomeTop))...)
	}
	return all, nil
}

func (e *esphome) lock(said string) ([]fact, error) {
	switch said {
	case "LOCKED", "UNLOCKED":
		return []fact{unlocked(said == "UNLOCKED")}, nil
	case "LOCKING", "UNLOCKING", "OPENING":
		return []fact{{name: bolt, err: errMoving}}, nil
	case "OPEN":
		return []fact{unlocked(true)}, nil
	case "JAMMED":
		return []fact{{name: bolt, err: errJammed}}, nil
	}
	return sure(said, false, fact{name: bolt}), nil
}

func (e *esphome) ask() []session.Message { return []session.Message{text("esphome/ping/"+e.node, "")} }

func (e *esphome) set(want []fact) ([]session.Message, []fact) {
	if b, ok := get(want, bolt); ok {
		order := map[string]string{drivers.Open: "UNLOCK", drivers.Closed: "LOCK"}[b.text]
		return []session.Message{text(e.things[bolt]+"/command", order)}, want
	}
	p, _ := get(want, power)
	l, dimmed := get(want, level)
	dimmed = dimmed && !e.onOff
	command := e.things[power] + "/command"
	switch {
	case e.deviceType == drivers.TypeLight:
		fields, expect := map[string]any{"state": onOff(p)}, []fact{p}
		if dimmed {
			fields["brightness"] = steps(l.number, esphomeTop)
			expect = append(expect, l)
		}
		return []session.Message{document(command, fields)}, expect
	case dimmed:
		step := steps(l.number, e.speeds)
		// The speed first: what is reported of the second order has both.
		return []session.Message{text(e.things[power]+"/speed_level/command", strconv.Itoa(step)), text(command, onOff(p))},
			[]fact{p, percent(float64(step), float64(e.speeds))}
	}
	return []session.Message{text(command, onOff(p))}, []fact{p}
}
