package peers

import (
	"encoding/json"
	"math"
	"strconv"
)

// esphome is an ESPHome 2025 node with one component, from its documentation:
// "MQTT Client Component" and those of the components. The topic is its
// prefix and its device name. It retains what it says, and does not say
// again what a lock is.
type esphome struct {
	*Gadget
	bolt string // as last said
}

func (e *esphome) will() said { return said{e.Topic + "/status", "offline", true} }

func (e *esphome) birth() []said {
	e.bolt = ""
	return []said{{e.Topic + "/status", "online", true}}
}

func (e *esphome) thing() string { return e.Topic + "/" + e.Kind + "/" + e.Name }

func (e *esphome) filters() []string {
	return []string{e.thing() + "/command", e.thing() + "/speed_level/command", "esphome/discover", "esphome/ping/" + e.Topic}
}

func (e *esphome) report(periodic bool) []said {
	switch e.Kind {
	case "sensor":
		all := e.one("temperature", e.thing(), strconv.FormatFloat(e.degrees(), 'f', 2, 64), "nan")
		if !periodic {
			there := map[bool]string{true: "ON", false: "OFF"}[e.somebody]
			all = append(all, e.one("occupancy", e.Topic+"/binary_sensor/"+e.Name, there, "unknown")...)
		}
		return all
	case "lock":
		return e.turned()
	}
	if periodic || e.silences[""] == missing {
		return nil
	}
	if e.Kind == "light" {
		return []said{{e.thing() + "/state", asJSON(e.light()), true}}
	}
	all := []said{{e.thing() + "/state", e.power(), true}}
	if !e.OnOff {
		all = append(all, said{e.thing() + "/speed_level/state", strconv.Itoa(int(math.Round(e.level))), true})
	}
	return all
}

// one is the message of a sensor, of which none is what it says without a value.
func (e *esphome) one(fact, thing, value, none string) []said {
	switch e.silences[fact] {
	case null:
		value = none
	case missing:
		return nil
	}
	return []said{{thing + "/state", value, true}}
}

// turned is what a lock says that was turned.
func (e *esphome) turned() []said {
	is := map[bool]string{true: "UNLOCKED", false: "LOCKED"}[e.unlocked]
	switch {
	case e.silences[""] == null:
		e.bolt = ""
		return []said{{e.thing() + "/state", "JAMMED", true}}
	case is == e.bolt || e.silences[""] == missing:
		return nil
	}
	e.bolt = is
	return []said{{e.thing() + "/state", is[:len(is)-2] + "ING", true}, {e.thing() + "/state", is, true}}
}

func (e *esphome) light() map[string]any {
	all := map[string]any{"state": e.power(), "color_mode": "onoff", "color": map[string]any{}}
	if !e.OnOff {
		all["color_mode"], all["brightness"] = "brightness", math.Round(e.level*255/100)
	}
	return all
}

func (e *esphome) hear(topic string, payload []byte) (answer []said, changed bool) {
	order := string(payload)
	switch topic {
	case "esphome/discover", "esphome/ping/" + e.Topic:
		return []said{{"esphome/discover/" + e.Topic, `{"ip":"192.0.2.17","name":"` + e.Topic + `","version":"2025.10.3"}`, false}}, false
	case e.thing() + "/speed_level/command":
		n, err := strconv.Atoi(order)
		if err == nil && n >= 0 && n <= 100 {
			e.follow(func() { e.level = float64(n) })
			return nil, true
		}
		return nil, false
	}
	switch {
	case e.Kind == "lock" && (order == "LOCK" || order == "UNLOCK"):
		e.follow(func() { e.unlocked = order == "UNLOCK" })
		return nil, true
	case e.Kind == "light":
		return nil, e.lightOrder(payload)
	case e.Kind == "fan":
		return nil, e.switchTo(order)
	}
	return nil, false
}

func (e *esphome) lightOrder(payload []byte) bool {
	var order struct {
		State      string
		Brightness *float64
	}
	if json.Unmarshal(payload, &order) != nil {
		return false
	}
	changed := e.switchTo(order.State)
	if order.Brightness != nil && order.State != "OFF" && !e.OnOff {
		changed = e.dimTo(*order.Brightness, 255) || changed
	}
	return changed
}
