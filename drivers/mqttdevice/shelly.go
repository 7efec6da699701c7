package mqttdevice

import (
	"maps"
	"slices"
	"strings"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// Shelly Gen2 and later, API 1.0, "MQTT", "RPC Protocol", "Notifications",
// "Switch", "Light", "Temperature", "Humidity", "Input", with the device's
// MQTT prefix in topic:
//
//	PREFIX/online               true, or false as the last will; retained
//	PREFIX/rpc                  {"id": 1, "src": SRC, "method": ..., "params": ...}
//	SRC/rpc                     the answer: {"id": 1, "result": {...}}
//	PREFIX/events/rpc           {"method": "NotifyStatus", "params": {"switch:0": {...}}}, changes only
//	PREFIX/status/COMPONENT:ID  all of a component, if the device is told to
const shellyTop = 100 // of a brightness

type shelly struct {
	topic     string
	component string // "light:0", "switch:0", "temperature:0", "input:0"
	src       string // always the same, so that its user may publish the answer
}

func newShelly(deviceType string, s spot) dialect {
	component := s.Component
	if component == "" {
		component = map[string]string{drivers.TypeLight: "light:0", drivers.TypeFan: "switch:0"}[deviceType]
	}
	return &shelly{s.Topic, component, s.Topic + "-roomgate"}
}

func (s *shelly) topics() []string {
	all := []string{s.topic + "/online", s.topic + "/events/rpc", s.src + "/rpc"}
	for _, c := range s.parts() {
		all = append(all, s.topic+"/status/"+c)
	}
	return all
}

// parts are the components that are read: a thermometer has its humidity and
// battery beside it.
func (s *shelly) parts() []string {
	kind, id, _ := strings.Cut(s.component, ":")
	if kind == "temperature" {
		return []string{s.component, "humidity:" + id, "devicepower:0"}
	}
	return []string{s.component}
}

func (s *shelly) account() drivers.Account {
	return drivers.Account{
		Names:     []string{s.topic},
		Says:      s.topics(),
		Publish:   []string{s.topic + "/#", s.src + "/rpc"},
		Subscribe: []string{s.topic + "/#"},
	}
}

func (s *shelly) hear(topic string, payload []byte) ([]fact, error) {
	component, isStatus := strings.CutPrefix(topic, s.topic+"/status/")
	switch {
	case topic == s.topic+"/online":
		return presence(deviceIs, string(payload), "true", "false")
	case topic != s.src+"/rpc" && topic != s.topic+"/events/rpc" && !isStatus:
		return nil, nil
	}
	o, err := parseObject(payload)
	if err != nil {
		return nil, err
	}
	if isStatus {
		return s.status(object{component: payload}), nil
	}
	if topic == s.src+"/rpc" {
		result := o.inner("result")
		_, whole := result["sys"] // the answer to an order has none
		return append(s.status(result), isWhole(whole)...), nil
	}
	method := o.text("method")
	if method != "NotifyStatus" && method != "NotifyFullStatus" {
		return nil, nil
	}
	return append(s.status(o.inner("params")), isWhole(method == "NotifyFullStatus")...), nil
}

// isWhole is the fact of a message that has everything.
func isWhole(is bool) []fact {
	if !is {
		return nil
	}
	return []fact{{name: wholeIs}}
}

// status reads the components that matter of an object of several.
func (s *shelly) status(all object) []fact {
	var facts []fact
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(s.parts(), name) {
			facts = append(facts, s.read(name, all.inner(name))...)
		}
	}
	return facts
}

func (s *shelly) read(name string, o object) []fact {
	kind, _, _ := strings.Cut(name, ":")
	switch kind {
	case "switch", "light":
		on, ok := o.truth("output")
		n, lit := o.number("brightness")
		return append(o.says("output", ok, powerIs(on)), o.says("brightness", lit, percent(n, shellyTop))...)
	case "input":
		there, ok := o.truth("state")
		return o.says("state", ok, somebody(there))
	case "temperature":
		n, ok := o.number("tC")
		return o.says("tC", ok, warmth(n, false))
	case "humidity":
		return o.details(map[string]string{"rh": humidity})
	case "devicepower":
		if plugged, ok := o.inner("external").truth("present"); ok && plugged {
			return nil // on a cable it has a battery of 0 V and 0 %
		}
		return o.inner("battery").details(map[string]string{"percent": battery})
	}
	return nil
}

func (s *shelly) ask() []session.Message {
	return []session.Message{s.call("Shelly.GetStatus", map[string]any{})}
}

// call is a request. The answers are told apart by what is in them, so all
// have the same id.
func (s *shelly) call(method string, params map[string]any) session.Message {
	return document(s.topic+"/rpc", map[string]any{"id": 1, "src": s.src, "method": method, "params": params})
}

func (s *shelly) set(want []fact) ([]session.Message, []fact) {
	p, _ := get(want, power)
	l, dimmed := get(want, level)
	kind, id, _ := strings.Cut(s.component, ":")
	number, _ := parseNumber(id)
	params := map[string]any{"id": number, "on": p.text == drivers.On}
	method, expect := "Switch.Set", []fact{p}
	if kind == "light" {
		method = "Light.Set"
		if dimmed && l.number > 0 {
			params["brightness"] = steps(l.number, shellyTop)
			expect = append(expect, l)
		}
	}
	// What is so already is not notified, so it is asked for.
	return append([]session.Message{s.call(method, params)}, s.ask()...), expect
}
