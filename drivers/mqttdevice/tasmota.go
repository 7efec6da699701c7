package mqttdevice

import (
	"cmp"
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
// A topic with %prefix% in it is a FullTopic of its own. StateText1 and StateText2
// overwrite OFF and ON in what it says, not in what it is told ("JSON Status
// Responses", "Commands"). A light whose colour and white are apart has Dimmer1 and
// Dimmer2 ("Commands", Dimmer<x>). A thermistor at an analog input is ANALOG with
// Temperature, or on chips with several inputs Temperature1, Temperature2 ("ADC").
const (
	tasmotaTop   = 100 // of Dimmer
	tasmotaSpeed = 3   // of FanSpeed
)

type tasmota struct {
	deviceType       string
	topic            string // without a prefix
	cmnd, stat, tele string // with a slash at the end
	relay            string // POWER, POWER1, ...
	onOff            bool
	dimmer           string // Dimmer, Dimmer1, ...
	on, off          string // what it says
	sensor           string // the sensor's name in the JSON; empty: the first
	field            string // of the sensor; empty: its first temperature
	fahrenheit       bool
}

func newTasmota(deviceType string, s spot) dialect {
	full := s.Topic
	if !strings.Contains(full, "%prefix%") {
		full = "%prefix%/" + full
	}
	under := func(prefix string) string { return strings.ReplaceAll(full, "%prefix%", prefix) + "/" }
	t := &tasmota{
		deviceType: deviceType, topic: strings.Trim(strings.ReplaceAll(s.Topic, "%prefix%", ""), "/"), cmnd: under("cmnd"), stat: under("stat"), tele: under("tele"),
		relay: "POWER", dimmer: "Dimmer", on: cmp.Or(s.StateOn, "ON"), off: cmp.Or(s.StateOff, "OFF"), onOff: s.onOff, fahrenheit: s.fahrenheit,
	}
	t.sensor, t.field, _ = strings.Cut(s.Name, ".")
	if s.relay > 0 {
		t.relay += strconv.Itoa(s.relay)
		t.dimmer += strconv.Itoa(s.relay)
	}
	return t
}

func (t *tasmota) topics() []string { return []string{t.stat + "+", t.tele + "+"} }

func (t *tasmota) account() drivers.Account {
	return drivers.Account{
		Names:     []string{t.topic},
		Says:      t.topics(),
		Publish:   []string{t.stat + "#", t.tele + "#", "tasmota/discovery/#"},
		Subscribe: []string{t.cmnd + "#"},
	}
}

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
		return t.measured(o, name), nil
	}
	return t.state(o), nil
}

// bare reads stat/TOPIC/POWER, which is no JSON.
func (t *tasmota) bare(name, payload string) []fact {
	on, ok := either(payload, t.on, t.off)
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
	if !t.switches() {
		n, ok := o.number("FanSpeed")
		all = append(all, o.says("FanSpeed", ok, percent(n, tasmotaSpeed))...)
		return append(all, o.says("FanSpeed", ok, powerIs(n > 0))...)
	}
	for name := range o {
		if t.isRelay(name) {
			on, ok := o.is(name, t.on, t.off)
			all = append(all, o.says(name, ok, powerIs(on))...)
		}
	}
	if !t.onOff {
		name := t.level(o)
		n, ok := o.number(name)
		all = append(all, o.says(name, ok, percent(n, tasmotaTop))...)
	}
	return all
}

// level is the field with the level: that of the relay, else the only one. A light
// without a number that has several is its first.
func (t *tasmota) level(o object) string {
	for _, name := range []string{t.dimmer, "Dimmer", "Dimmer1"} {
		if _, there := o[name]; there && (name != "Dimmer1" || t.relay == "POWER") {
			return name
		}
	}
	return t.dimmer
}

// degrees is the field of a sensor with its temperature: the one that is named, else
// the first of Temperature, Temperature1 and so on.
func (t *tasmota) degrees(sensor object) string {
	if t.field != "" {
		return t.field
	}
	for _, name := range slices.Sorted(maps.Keys(sensor)) {
		if number, is := strings.CutPrefix(name, "Temperature"); is && strings.Trim(number, "0123456789") == "" {
			return name
		}
	}
	return "Temperature"
}

// measured reads SENSOR and its kin: {"AM2301": {"Temperature": 21.5,
// "Humidity": 41}, "Switch1": "ON", "TempUnit": "C"}. Without a name the
// first thermometer counts that is not the chip's own, with a value or not.
// STATUS10 has everything. So has SENSOR in its time, but what is touched or
// held to a reader comes alone.
func (t *tasmota) measured(o object, from string) []fact {
	if inner, ok := o["StatusSNS"]; ok {
		o, _ = parseObject(inner)
	}
	fahrenheit := t.fahrenheit || o.text("TempUnit") == "F"
	var all []fact
	switch from {
	case "STATUS10":
		all = append(all, fact{name: wholeIs})
	case "SENSOR":
		all = append(all, fact{name: roundIs})
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if t.sensor != name && (t.sensor != "" || name == "ESP32") {
			continue
		}
		sensor := o.inner(name)
		_, warm := get(all, temperature)
		field := t.degrees(sensor)
		if told := sensor[field]; told != nil && !warm {
			n, ok := sensor.number(field)
			all = append(all, sensor.says(field, ok, warmth(n, fahrenheit))...)
			all = append(all, sensor.details(map[string]string{"Humidity": humidity})...)
		}
		if _, seen := get(all, occupancy); !seen {
			all = append(all, t.contact(o, name)...)
		}
	}
	return all
}

// contact reads a switch that stands for somebody: "Switch1": "ON", and in
// RESULT {"Switch1": {"Action": "ON"}}.
func (t *tasmota) contact(o object, name string) []fact {
	if !strings.HasPrefix(name, "Switch") {
		return nil
	}
	if action := o.inner(name).text("Action"); action != "" {
		if there, ok := either(action, t.on, t.off); ok {
			return []fact{somebody(there)}
		}
		return nil // a button was pushed
	}
	there, ok := o.is(name, t.on, t.off)
	return o.says(name, ok, somebody(there))
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
		return []session.Message{text(t.cmnd+t.dimmer, strconv.Itoa(steps(l.number, tasmotaTop)))}, []fact{p, l}
	}
	return []session.Message{text(t.cmnd+t.relay, onOff(p))}, []fact{p}
}
