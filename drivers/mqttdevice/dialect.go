package mqttdevice

import (
	"encoding/json"
	"slices"
	"strings"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// dialect is how one device is spoken to. It keeps nothing.
type dialect interface {
	// topics are the filters of what the device and those who speak for it
	// say.
	topics() []string
	// hear reads a message. It is called with whatever comes on topics of any
	// device of the session, and returns nothing for those of others.
	hear(topic string, payload []byte) ([]fact, error)
	// ask is what makes the device report; none if it cannot be asked.
	ask() []session.Message
	// set orders power and level, or a bolt. The facts that it returns are
	// what the device reports when it has followed.
	set(want []fact) ([]session.Message, []fact)
	// account is what the device, or its bridge, needs at the broker.
	account() drivers.Account
}

// levels are those of a topic in small letters, without empty ones: what is
// spelt in another way is judged alike.
func levels(topic string) []string {
	return strings.FieldsFunc(strings.ToLower(topic), func(r rune) bool { return r == '/' })
}

// below returns the levels of a topic below a base; false if it is not there.
func below(base, topic string) ([]string, bool) {
	b, t := levels(base), levels(topic)
	if len(t) <= len(b) || !slices.Equal(t[:len(b)], b) {
		return nil, false
	}
	return t[len(b):], true
}

// dialects make a dialect of what the configuration says.
func dialects() map[string]func(deviceType string, s spot) dialect {
	return map[string]func(string, spot) dialect{
		"zigbee2mqtt": newZigbee,
		"tasmota":     newTasmota,
		"esphome":     newESPHome,
		"shelly":      newShelly,
	}
}

// get returns the fact of a name.
func get(facts []fact, name string) (fact, bool) {
	for _, f := range facts {
		if f.name == name {
			return f, true
		}
	}
	return fact{}, false
}

// text is a message of plain text.
func text(topic, payload string) session.Message {
	return session.Message{Topic: topic, Payload: []byte(payload)}
}

// document is a message of JSON; fields are names and values that JSON has.
func document(topic string, fields map[string]any) session.Message {
	payload, err := json.Marshal(fields)
	if err != nil { // not for what dialects write
		payload = []byte("{}")
	}
	return session.Message{Topic: topic, Payload: payload}
}

// onOff is how most dialects write a power.
func onOff(f fact) string {
	if f.text == "on" {
		return "ON"
	}
	return "OFF"
}
