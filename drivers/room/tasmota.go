package room

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// Tasmota 14 and 15, "MQTT" and "Commands", with the topic in %topic%:
//
//	tele/TOPIC/LWT       Online, or Offline as the last will; retained
//	tele/TOPIC/STATE     POWER, Dimmer, FanSpeed and more, every few minutes
//	tele/TOPIC/SENSOR    what the sensors measure, as often
//	stat/TOPIC/RESULT    what an order has changed, or what State asked for
//	stat/TOPIC/STATUS10  {"StatusSNS": {...}}: what Status 10 asked for
//	cmnd/TOPIC/COMMAND   an order: Power1 ON, Dimmer 40, FanSpeed 2
//
// A topic with %prefix% in it is a FullTopic of its own.
const (
	tasmotaTop   = 100 // of Dimmer
	tasmotaSpeed = 3   // of FanSpeed
)

type tasmota struct {
	deviceType       string
	cmnd, stat, tele string // with a slash at the end
	relay            string // POWER, POWER1, ...
	onOff            bool
	sensor           string // the sensor's name in the JSON; empty: the first
	fahrenheit       bool
}

func newTasmota(deviceType string, s spot) dialect {
	full := s.Topic
	if !strings.Contains(full, "%prefix%") {
		full = "%prefix%/" + full
	}
	under := func(prefix string) string { return strings.ReplaceAll(full, "%prefix%", prefix) + "/" }
	t := &tasmota{
		deviceType: deviceType, cmnd: under("cmnd"), stat: under("stat"), tele: under("tele"),
		relay: "POWER", onOff: s.onOff, sensor: s.Name, fahrenheit: s.fahrenheit,
	}
	if s.relay > 0 {
		t.relay += strconv.Itoa(s.relay)
	}
	return t
}

func (t *tasmota) topics() []string { return []string{t.stat + "+", t.tele + "+"} }

func (t *tasmota) guarded() []string { return []string{t.cmnd + "#"} }

func (t *tasmota) hear(topic string, payload []byte) ([]fact, error) {
	if topic == t.tele+"LWT" {
		return presence(deviceIs, string(payload), "Online", "Offline")
	}
	name, said := strings.CutPrefix(topic, t.stat)
	if !said {
		if name, said = strings.CutPrefix(topic, t.tele); !said {
			return nil, nil
		}
	}
	switch name {
	case "RESULT", "STATE", "SENSOR", "STATUS10":
	default:
		return t.bare(name, string(payload)), nil
	}
	o, err := parseObject(payload)
	if err != nil {
		return nil, err
	}
	if t.deviceType == drivers.TypeO3 {
		return t.measured(o), nil
	}
	return t.state(o), nil
}

// bare reads stat/TOPIC/POWER, which is no JSON.
func (t *tasmota) bare(name, payload string) []fact {
	on, ok := either(payload, "ON", "OFF")
	if !ok || !t.switches() || !t.isRelay(name) {
		return nil
	}
	return []fact{powerIs(on)}
}

// switches says whether POWER is the device's power. A ceiling fan's relays
// are its speeds.
func (t *tasmota) switches() bool {
	return t.deviceType == drivers.TypeLight || t.deviceType == drivers.TypeFan && t.onOff
}

// isRelay knows that a device with one relay calls it POWER, and POWER1 when
// it is told to.
func (t *tasmota) isRelay(name string) bool {
	return name == t.relay || name+"1" == t.relay || name == t.relay+"1"
}

func (t *tasmota) state(o object) []fact {
	all := o.inner("Wifi").details(map[string]string{"RSSI": linkQuality})
	if n, ok := o.number("FanSpeed"); ok && !t.switches() {
		return append(all, percent(n, tasmotaSpeed), powerIs(n > 0))
	}
	if !t.switches() {
		return all
	}
	for name := range o {
		if on, ok := o.is(name, "ON", "OFF"); ok && t.isRelay(name) {
			all = append(all, powerIs(on))
		}
	}
	if n, ok := o.number("Dimmer"); ok && !t.onOff {
		all = append(all, percent(n, tasmotaTop))
	}
	return all
}

// measured reads SENSOR and its kin: {"AM2301": {"Temperature": 21.5,
// "Humidity": 41}, "Switch1": "ON", "TempUnit": "C"}. Without a name the
// first thermometer counts that is not the chip's own.
func (t *tasmota) measured(o object) []fact {
	if inner, ok := o["StatusSNS"]; ok {
		o, _ = parseObject(inner)
	}
	fahrenheit := t.fahrenheit || o.text("TempUnit") == "F"
	var all []fact
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if t.sensor != name && (t.sensor != "" || name == "ESP32") {
			continue
		}
		sensor := o.inner(name)
		_, warm := get(all, temperature)
		if n, ok := sensor.number("Temperature"); ok && !warm {
			all = append(all, warmth(n, fahrenheit))
			all = append(all, sensor.details(map[string]string{"Humidity": humidity})...)
		}
		_, seen := get(all, occupancy)
		if there, ok := t.contact(o, name); ok && !seen {
			all = append(all, somebody(there))
		}
	}
	return all
}

// contact reads a switch that stands for somebody: "Switch1": "ON", and in
// RESULT {"Switch1": {"Action": "ON"}}.
func (t *tasmota) contact(o object, name string) (there, ok bool) {
	if !strings.HasPrefix(name, "Switch") {
		return false, false
	}
	if action := o.inner(name).text("Action"); action != "" {
		return either(action, "ON", "OFF")
	}
	return o.is(name, "ON", "OFF")
}

func (t *tasmota) ask() []session.Message {
	if t.deviceType == drivers.TypeO3 {
		return []session.Message{text(t.cmnd+"STATUS", "10")}
	}
	return []session.Message{text(t.cmnd+"STATE", "")}
}

func (t *tasmota) set(want []fact) ([]session.Message, []fact) {
	p, _ := get(want, power)
	l, dimmed := get(want, level)
	switch {
	case !t.switches():
		if !dimmed {
			l = fact{name: level, number: map[string]float64{drivers.On: 100}[p.text]}
		}
		step := steps(l.number, tasmotaSpeed)
		return []session.Message{text(t.cmnd+"FanSpeed", strconv.Itoa(step))},
			[]fact{p, percent(float64(step), tasmotaSpeed)}
	case dimmed && !t.onOff:
		return []session.Message{text(t.cmnd+"Dimmer", strconv.Itoa(steps(l.number, tasmotaTop)))}, []fact{p, l}
	}
	return []session.Message{text(t.cmnd+t.relay, onOff(p))}, []fact{p}
}
