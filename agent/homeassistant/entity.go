package homeassistant

import (
	"fmt"
	"strconv"
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/roombroker"
	"roomgate/drivers"
)

// entity is a device or a sub-device as Home Assistant knows things: a
// component (homeassistant.io, "MQTT", with a page for each) with topics.
type entity struct {
	device    Device
	sub       string
	object    string // in topics: the device's id and the sub-device
	component string
	config    map[string]any  // what the component has beside what all have
	commands  map[string]bool // last levels of the topics that it takes commands on
}

// entitiesOf are what Home Assistant is told of: nothing that has no value, nor
// a camera or a display.
func entitiesOf(o Options) (all []*entity) {
	for _, d := range o.Devices() {
		subs := drivers.SubDevices(d.Type)
		if subs == nil {
			subs = []string{""}
		}
		for _, sub := range subs {
			if e := newEntity(d, sub, o.Settings); e != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

func newEntity(d Device, sub string, o config.HomeAssistant) *entity {
	e := &entity{device: d, sub: sub, object: roombroker.Object(strings.Trim(d.ID+"_"+sub, "_"))}
	switch of := d.Type + sub; {
	case sub == drivers.SubTemperature:
		e.is("sensor", map[string]any{"device_class": "temperature", "state_class": "measurement", "unit_of_measurement": "°C"})
	case sub == drivers.SubOccupancy:
		e.senses("occupancy", drivers.Occupied, drivers.Vacant)
	case of == drivers.TypeLock && o.Doors:
		e.is("lock", map[string]any{"payload_lock": drivers.ActClose, "payload_unlock": drivers.ActOpen,
			"state_locked": drivers.Closed, "state_unlocked": drivers.Open}, "set")
	case of == drivers.TypeLock:
		e.senses("lock", drivers.Open, drivers.Closed)
	case of == drivers.TypeLight && o.Commands:
		e.is("light", switchWords(map[string]any{"brightness_scale": 100, "on_command_type": "brightness"}), "set", "intensity/set")
	case of == drivers.TypeFan && o.Commands:
		e.is("fan", switchWords(map[string]any{"speed_range_max": 100}), "set", "intensity/set")
	case sub == drivers.SubRing && o.Commands:
		e.is("light", switchWords(map[string]any{}), "set")
	case sub == drivers.SubBuzzer && o.Commands:
		e.is("switch", switchWords(map[string]any{}), "set")
	case of == drivers.TypeLight, of == drivers.TypeFan, sub == drivers.SubRing, sub == drivers.SubBuzzer:
		e.senses("power", drivers.On, drivers.Off)
	default:
		return nil
	}
	return e
}

func (e *entity) is(component string, config map[string]any, commands ...string) {
	e.component, e.config, e.commands = component, config, map[string]bool{}
	for _, c := range commands {
		e.commands[c] = true
	}
}

func (e *entity) senses(class, on, off string) {
	e.is("binary_sensor", map[string]any{"device_class": class, "payload_on": on, "payload_off": off})
}

func switchWords(more map[string]any) map[string]any {
	more["payload_on"], more["payload_off"] = drivers.On, drivers.Off
	return more
}

// topicKeys are how a component calls the topics of its level.
var topicKeys = map[string][2]string{
	"light": {"brightness_state_topic", "brightness_command_topic"},
	"fan":   {"percentage_state_topic", "percentage_command_topic"},
}

// document is the entity's discovery message. base precedes its topics, will
// is the topic of the gateway's own availability.
func (e *entity) document(gateway, version, base, will string) map[string]any {
	at := base + e.object + "/"
	doc := map[string]any{
		"name": e.name(), "unique_id": "roomgate_" + gateway + "_" + e.object,
		"state_topic":       at + "state",
		"availability":      []any{map[string]any{"topic": will}, map[string]any{"topic": at + "availability"}},
		"availability_mode": "all",
		"origin":            map[string]any{"name": "Roomgate", "sw_version": version},
		"device": map[string]any{"identifiers": []string{"roomgate_" + gateway + "_" + e.device.SpaceID}, "name": e.device.Space,
			"manufacturer": "Roomgate", "model": "meeting space", "suggested_area": e.device.Space, "sw_version": version},
	}
	for key, value := range e.config {
		doc[key] = value
	}
	if e.commands["set"] {
		doc["command_topic"] = at + "set"
	}
	if e.commands["intensity/set"] {
		keys := topicKeys[e.component]
		doc[keys[0]], doc[keys[1]] = at+"intensity", at+"intensity/set"
	}
	return doc
}

func (e *entity) name() string {
	if e.sub != "" {
		return e.sub
	}
	return e.device.Type
}

// states are the entity's by the last level of their topic. A device that is offline has
// none: its last value is not repeated as if it were known.
func (e *entity) states(r Reading) map[string]string {
	if r.Offline {
		return map[string]string{"availability": "offline"}
	}
	all := map[string]string{"availability": "online", "state": r.Value}
	if level, ok := r.Details["intensity"]; ok && e.commands["intensity/set"] {
		all["intensity"] = fmt.Sprint(level)
	}
	return all
}

// command is the action and value of a command on one of the entity's topics.
func (e *entity) command(topic, payload string, describe func(Device) drivers.Description) (action string, value []byte, ok bool) {
	switch {
	case topic == "set" && e.commands["set"]:
		_, _, ok = describe(e.device).Action(e.sub, payload)
		return payload, nil, ok
	case topic == "intensity/set" && e.commands["intensity/set"]:
		n, err := strconv.Atoi(payload)
		return drivers.ActIntensity, []byte(strconv.Itoa(n)), err == nil
	}
	return "", nil, false
}
