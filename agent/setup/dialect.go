package setup

import (
	"crypto/rand"
	"slices"
	"strings"

	"roomgate/drivers"
)

// topicHelp says what the topic of a device is, by the firmware that it speaks with.
var topicHelp = map[string]string{
	"zigbee2mqtt": "Zigbee2MQTT's base topic and the friendly name, as zigbee2mqtt/atlas-door",
	"tasmota":     "its topic, as the Tasmota calls it in Configuration, MQTT: tasmota_1A2B3C",
	"esphome":     "its topic_prefix, which is the node's name unless mqtt: in its YAML has another",
	"shelly":      "its MQTT prefix, as shellyplus1-08b61fd141e8",
}

// firmware is how a dialect is written.
var firmware = map[string]string{"zigbee2mqtt": "Zigbee2MQTT", "tasmota": "Tasmota", "esphome": "ESPHome", "shelly": "Shelly"}

// Dialects are the ways in which a type of device can speak at the room broker.
func Dialects(kinds []drivers.Kind, deviceType string) (all []string) {
	for _, k := range kinds {
		if dialect, ok := strings.CutPrefix(k.Name, deviceType+"-"); ok && topicHelp[dialect] != "" {
			all = append(all, dialect)
		}
	}
	return all
}

// atRoomBroker are the ways of a type of device there.
func atRoomBroker(kinds []drivers.Kind, deviceType string) (all []Way) {
	for _, dialect := range Dialects(kinds, deviceType) {
		w := Way{Driver: deviceType + "-" + dialect, Type: deviceType, Dialect: dialect, Name: firmware[dialect], About: "at the room broker",
			Asks: []Ask{{Key: "topic", Text: "topic", Help: topicHelp[dialect], Needed: true}}}
		switch dialect {
		case "esphome":
			w.Asks = append(w.Asks, Ask{Key: "name", Text: "name", Help: "the object_id of the component in the node: its name in small letters, with _ for a blank", Needed: true})
		case "shelly":
			w.Asks = append(w.Asks, Ask{Key: "component", Text: "component", Help: "which of the device it is, as light:0 or switch:0"})
		}
		all = append(all, w)
	}
	return all
}

// sensors are a thermometer and a motion sensor that speak the same dialect.
func sensors(dialect string) Way {
	w := Way{Driver: "o3-room", Type: drivers.TypeO3, Dialect: dialect, Name: firmware[dialect], About: "a thermometer, a motion sensor or both, at the room broker"}
	for _, p := range sensorParts {
		w.Asks = append(w.Asks, Ask{Key: p.key + ".topic", Text: "topic of the " + p.text, Help: topicHelp[dialect]})
		if dialect == "esphome" {
			w.Asks = append(w.Asks, Ask{Key: p.key + ".name", Text: "name of the " + p.text, Help: p.object})
		}
	}
	return w
}

// sensorParts are what sensors are made of.
type sensorPart struct{ key, text, component, object string }

var sensorParts = []sensorPart{
	{drivers.SubTemperature, "thermometer", "temperature:0", "the object_id of its sensor, as temperature"},
	{drivers.SubOccupancy, "motion sensor", "input:0", "the object_id of its binary_sensor, as motion"},
}

// RoomUser is what a user of the room broker is called that speaks for a device: as its
// account is, or else as the device.
func RoomUser(account drivers.Account, device string) string {
	if i := slices.IndexFunc(account.Names, func(n string) bool { return CheckID(n) == nil }); i >= 0 {
		return account.Names[i]
	}
	return device
}

// Password is a new one for a user of the room broker, which people type into devices.
func Password() string { return strings.ToLower(rand.Text()[:20]) }
