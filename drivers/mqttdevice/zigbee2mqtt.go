package mqttdevice

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
//
// The parts of a device with several have the name of the endpoint behind each
// field: state_left and state_right ("TS0012_switch_module"), state_l1 and state_l2
// ("QAT42Z2B"). Fans have either fan_state and fan_mode ("E2007"), or state and speed
// ("FanBee").
const zigbeeTop = 254 // of a brightness

// brightest is what some devices say for it: 255 is no level of Zigbee, and they mean
// their brightest (Koenkk/zigbee2mqtt issues 4163 and 4035).
func brightest(n float64) float64 {
	if n == 255 {
		return zigbeeTop
	}
	return n
}

// zigbeeModes are the modes of a fan that are a level. Some have numbers
// instead, as IKEA's E2007: off, 1 to 9.
var zigbeeModes = []string{"off", "low", "medium", "high"}

type zigbee struct {
	deviceType  string
	topic, base string
	onOff       bool
	modes       []string // of a fan
	numbered    bool     // the modes are numbers, and fan_speed counts as they do
	fastest     float64  // of a fan with state and speed; 0: it has modes
	part        string   // follows each field: "", or as "_left"
}

func newZigbee(deviceType string, s spot) dialect {
	base := s.Node
	if base == "" {
		base, _, _ = strings.Cut(s.Topic, "/")
	}
	z := &zigbee{deviceType: deviceType, topic: s.Topic, base: base, onOff: s.onOff, modes: zigbeeModes, numbered: s.speeds > 0, fastest: float64(s.topSpeed)}
	if s.endpoint != "" {
		z.part = "_" + s.endpoint
	}
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

func (z *zigbee) account() drivers.Account {
	a := drivers.Account{
		Names:     []string{z.base, "zigbee2mqtt"},
		Says:      z.topics(),
		Publish:   []string{z.base + "/#", "homeassistant/+/+/+/config"},
		Subscribe: []string{z.base + "/#", "homeassistant/status"},
	}
	if z.deviceType == drivers.TypeLock {
		a.Opens = z.opens
	}
	return a
}

// zigbeeSays is what the bridge says of itself below BASE/bridge.
var zigbeeSays = []string{"state", "info", "devices", "groups", "definitions", "extensions", "converters", "event", "logging", "health", "response"}

// opens: a bolt has a friendly name, an address, a network address and any
// number of groups, any of which may precede /set; and a request to the bridge
// may rename it, group it or replace what drives it. So it is every order to its
// bridge, whatever it names.
func (z *zigbee) opens(topic string) bool {
	for _, base := range []string{z.base, z.topic} { // the topic need not be below a base that is configured
		at, ok := below(base, topic)
		switch {
		case !ok:
		case slices.Contains(at, "set"):
			return true
		case base == z.base && at[0] == "bridge" && len(at) > 1 && !slices.Contains(zigbeeSays, at[1]):
			return true
		}
	}
	return false
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
		if z.moded() {
			return z.fan(o)
		}
	case drivers.TypeO3:
		return z.sensor(o)
	}
	state, field := "state"+z.part, "brightness"+z.part
	on, ok := o.is(state, "ON", "OFF")
	n, read := o.number(field)
	f := percent(brightest(n), zigbeeTop)
	if z.fastest > 0 {
		field = "speed" + z.part
		n, read = o.number(field)
		f = percent(n, z.fastest)
	}
	return append(o.says(state, ok, powerIs(on)), o.says(field, read, f)...)
}

// moded says whether it is a fan with modes.
func (z *zigbee) moded() bool { return z.deviceType == drivers.TypeFan && !z.onOff && z.fastest == 0 }

// lock believes the bolt more than the order: lock_state is what the lock
// itself has measured.
func (z *zigbee) lock(o object) []fact {
	is, ok := o.is("state", "UNLOCK", "LOCK")
	switch measured := o.text("lock_state"); {
	case !ok:
		return o.says("state", false, fact{name: bolt})
	case measured == "not_fully_locked":
		return []fact{{name: bolt, err: errMoving}}
	case measured == "unlocked" && !is, measured == "locked" && is:
		return []fact{{name: bolt, err: errMoving}}
	}
	return []fact{unlocked(is)}
}

func (z *zigbee) fan(o object) []fact {
	modes, state := "fan_mode"+z.part, "fan_state"+z.part
	mode := o.text(modes)
	i := slices.Index(z.modes, mode)
	all := o.says(modes, i >= 0, percent(float64(max(i, 0)), z.top()))
	if n, ok := o.number("fan_speed" + z.part); ok && z.numbered && i < 0 {
		all = []fact{percent(n, z.top())} // it has chosen by itself, in auto
	}
	if _, there := o[state]; there {
		on, ok := o.is(state, "ON", "OFF")
		return append(all, o.says(state, ok, powerIs(on))...)
	}
	return append(all, o.says(modes, mode != "", powerIs(mode != zigbeeModes[0]))...)
}

// top is the fastest of a fan's modes.
func (z *zigbee) top() float64 { return float64(len(z.modes) - 1) }

func (z *zigbee) sensor(o object) []fact {
	n, ok := o.number("temperature")
	all := o.says("temperature", ok, warmth(n, o.text("temperature_unit") == "fahrenheit"))
	field := "occupancy"
	if _, there := o[field]; !there {
		field = "presence" // radar sensors
	}
	there, ok := o.truth(field)
	return append(all, o.says(field, ok, somebody(there))...)
}

// ask asks for what the device takes orders about. Sensors are not asked: most
// run on a battery and cannot be.
func (z *zigbee) ask() []session.Message {
	fields := map[string]any{"state" + z.part: ""}
	switch {
	case z.deviceType == drivers.TypeO3:
		return nil
	case z.moded():
		fields = map[string]any{"fan_state" + z.part: ""}
	case z.deviceType == drivers.TypeLight && !z.onOff:
		fields["brightness"+z.part] = ""
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
	fields := map[string]any{"state" + z.part: onOff(p)}
	switch {
	case z.moded() && dimmed:
		step := steps(l.number, len(z.modes)-1)
		fields = map[string]any{"fan_mode" + z.part: z.modes[step]}
		expect = append(expect, percent(float64(step), z.top()))
	case z.moded():
		fields = map[string]any{"fan_state" + z.part: onOff(p)}
	case dimmed && z.fastest > 0:
		step := steps(l.number, int(z.fastest))
		fields["speed"+z.part] = step
		expect = append(expect, percent(float64(step), z.fastest))
	case dimmed:
		fields["brightness"+z.part] = steps(l.number, zigbeeTop)
		expect = append(expect, l)
	}
	return []session.Message{document(z.topic+"/set", fields)}, expect
}
