package room

import (
	"slices"
	"strconv"
	"strings"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// Zigbee2MQTT 2.x, "MQTT Topics and Messages", "Exposes", "Device-Availability":
//
//	BASE/NAME               the state of a device, JSON
//	BASE/NAME/set           an order, the same fields
//	BASE/NAME/get           a question, the same fields with empty text
//	BASE/NAME/availability  {"state": "online"}, retained
//	BASE/bridge/state       {"state": "online"}, retained, and the last will
//
// BASE is the first level of the topic, unless node names it.
const zigbeeTop = 254 // of a brightness

// zigbeeModes are the modes of a fan that are a level. Some have numbers
// instead, as IKEA's E2007: off, 1 to 9.
var zigbeeModes = []string{"off", "low", "medium", "high"}

type zigbee struct {
	deviceType  string
	topic, base string
	onOff       bool
	modes       []string // of a fan
	numbered    bool     // the modes are numbers, and fan_speed counts as they do
}

func newZigbee(deviceType string, s spot) dialect {
	base := s.Node
	if base == "" {
		base, _, _ = strings.Cut(s.Topic, "/")
	}
	z := &zigbee{deviceType: deviceType, topic: s.Topic, base: base, onOff: s.onOff, modes: zigbeeModes, numbered: s.speeds > 0}
	if z.numbered {
		z.modes = []string{zigbeeModes[0]}
		for n := range s.speeds {
			z.modes = append(z.modes, strconv.Itoa(n+1))
		}
	}
	return z
}

func (z *zigbee) topics() []string {
	return []string{z.topic, z.topic + "/availability", z.base + "/bridge/state"}
}

func (z *zigbee) guarded() []string {
	// With a property after /set, and with an endpoint before it.
	return []string{z.topic + "/set/#", z.topic + "/+/set/#"}
}

func (z *zigbee) hear(topic string, payload []byte) ([]fact, error) {
	switch topic {
	case z.topic + "/availability":
		return z.presence(deviceIs, payload)
	case z.base + "/bridge/state":
		return z.presence(bridgeIs, payload)
	case z.topic:
		o, err := parseObject(payload)
		if err != nil {
			return nil, err
		}
		return append(z.state(o), o.details(map[string]string{
			"humidity": humidity, "battery": battery, "linkquality": linkQuality,
		})...), nil
	}
	return nil, nil
}

// presence reads the JSON, or the bare word of versions before 2.
func (z *zigbee) presence(name string, payload []byte) ([]fact, error) {
	said := string(payload)
	if o, err := parseObject(payload); err == nil {
		said = o.text("state")
	}
	return presence(name, said, online, offline)
}

func (z *zigbee) state(o object) []fact {
	switch z.deviceType {
	case drivers.TypeLock:
		return z.lock(o)
	case drivers.TypeFan:
		if !z.onOff {
			return z.fan(o)
		}
	case drivers.TypeO3:
		return z.sensor(o)
	}
	var all []fact
	if on, ok := o.is("state", "ON", "OFF"); ok {
		all = append(all, powerIs(on))
	}
	if n, ok := o.number("brightness"); ok {
		all = append(all, percent(n, zigbeeTop))
	}
	return all
}

// lock believes the bolt more than the order: lock_state is what the lock
// itself has measured.
func (z *zigbee) lock(o object) []fact {
	is, ok := o.is("state", "UNLOCK", "LOCK")
	switch measured := o.text("lock_state"); {
	case !ok:
		return nil
	case measured == "not_fully_locked":
		return []fact{{name: bolt, err: errMoving}}
	case measured == "unlocked" && !is, measured == "locked" && is:
		return []fact{{name: bolt, err: errMoving}}
	}
	return []fact{unlocked(is)}
}

func (z *zigbee) fan(o object) []fact {
	var all []fact
	mode := o.text("fan_mode")
	if i := slices.Index(z.modes, mode); i >= 0 {
		all = append(all, percent(float64(i), z.top()))
	} else if n, ok := o.number("fan_speed"); ok && z.numbered {
		all = append(all, percent(n, z.top())) // it has chosen by itself, in auto
	}
	if on, ok := o.is("fan_state", "ON", "OFF"); ok {
		return append(all, powerIs(on))
	}
	if mode != "" {
		all = append(all, powerIs(mode != zigbeeModes[0]))
	}
	return all
}

// top is the fastest of a fan's modes.
func (z *zigbee) top() float64 { return float64(len(z.modes) - 1) }

func (z *zigbee) sensor(o object) []fact {
	var all []fact
	if n, ok := o.number("temperature"); ok {
		all = append(all, warmth(n, o.text("temperature_unit") == "fahrenheit"))
	}
	there, ok := o.truth("occupancy")
	if !ok {
		there, ok = o.truth("presence") // radar sensors
	}
	if ok {
		all = append(all, somebody(there))
	}
	return all
}

// ask asks for what the device takes orders about. Sensors are not asked: most
// run on a battery and cannot be.
func (z *zigbee) ask() []session.Message {
	fields := map[string]any{"state": ""}
	switch {
	case z.deviceType == drivers.TypeO3:
		return nil
	case z.deviceType == drivers.TypeFan && !z.onOff:
		fields = map[string]any{"fan_state": ""}
	case z.deviceType == drivers.TypeLight && !z.onOff:
		fields["brightness"] = ""
	}
	return []session.Message{document(z.topic+"/get", fields)}
}

func (z *zigbee) set(want []fact) ([]session.Message, []fact) {
	if b, ok := get(want, bolt); ok {
		order := map[string]string{drivers.Open: "UNLOCK", drivers.Closed: "LOCK"}[b.text]
		return []session.Message{document(z.topic+"/set", map[string]any{"state": order})}, want
	}
	p, _ := get(want, power)
	l, dimmed := get(want, level)
	dimmed = dimmed && !z.onOff
	expect := []fact{p}
	fields := map[string]any{"state": onOff(p)}
	switch {
	case z.deviceType == drivers.TypeFan && !z.onOff && dimmed:
		step := steps(l.number, len(z.modes)-1)
		fields = map[string]any{"fan_mode": z.modes[step]}
		expect = append(expect, percent(float64(step), z.top()))
	case z.deviceType == drivers.TypeFan && !z.onOff:
		fields = map[string]any{"fan_state": onOff(p)}
	case dimmed:
		fields["brightness"] = steps(l.number, zigbeeTop)
		expect = append(expect, l)
	}
	return []session.Message{document(z.topic+"/set", fields)}, expect
}
