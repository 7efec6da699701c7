package peers

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// zigbee is Zigbee2MQTT 2.x with one device, from its guide: "MQTT Topics and
// Messages", "Exposes", "Device-Availability". The last will is the bridge's.
type zigbee struct{ *Gadget }

var zigbeeFanModes = []string{"off", "low", "medium", "high"}

func (z *zigbee) bridge() string {
	base, _, _ := strings.Cut(z.Topic, "/")
	return base + "/bridge/state"
}

func (z *zigbee) will() said { return said{z.bridge(), `{"state":"offline"}`, true} }

func (z *zigbee) birth() []said {
	return []said{{z.bridge(), `{"state":"online"}`, true}, {z.Topic + "/availability", `{"state":"online"}`, true}}
}

func (z *zigbee) filters() []string { return []string{z.Topic + "/set", z.Topic + "/get"} }

func (z *zigbee) report(bool) []said {
	return []said{{z.Topic, asJSON(z.fields()), z.Retain}}
}

func (z *zigbee) fields() map[string]any {
	all := map[string]any{"linkquality": 120}
	switch {
	case z.Kind == "lock":
		all["state"], all["lock_state"], all["battery"] = "LOCK", "locked", 87
		if z.unlocked {
			all["state"], all["lock_state"] = "UNLOCK", "unlocked"
		}
	case z.Kind == "sensor":
		all["temperature"], all["humidity"], all["battery"] = z.celsius, 41.2, 93
		all["occupancy"] = z.somebody
	case z.Kind == "fan" && !z.OnOff:
		all["fan_state"], all["fan_mode"] = z.power(), zigbeeFanModes[0]
		if z.on {
			all["fan_mode"] = zigbeeFanModes[max(1, int(math.Round(z.level*3/100)))]
		}
	default:
		all["state"] = z.power()
		if !z.OnOff {
			all["brightness"] = math.Round(z.level * 254 / 100)
		}
	}
	z.silences.silenced(all, "", "state", "lock_state", "fan_state", "fan_mode")
	z.silences.silenced(all, "temperature", "temperature")
	z.silences.silenced(all, "occupancy", "occupancy")
	return all
}

func (z *zigbee) hear(topic string, payload []byte) (answer []said, changed bool) {
	var order struct {
		State      string   `json:"state"`
		Brightness *float64 `json:"brightness"`
		FanState   string   `json:"fan_state"`
		FanMode    string   `json:"fan_mode"`
	}
	if topic == z.Topic+"/get" { // the fields' texts are empty
		if z.Kind == "sensor" {
			return nil, false
		}
		return z.report(false), false
	}
	if json.Unmarshal(payload, &order) != nil {
		return nil, false
	}
	if z.Kind == "lock" {
		if order.State == "LOCK" || order.State == "UNLOCK" {
			z.follow(func() { z.unlocked = order.State == "UNLOCK" })
			return nil, true
		}
		return nil, false
	}
	changed = z.switchTo(order.State)
	if order.Brightness != nil && order.State != "OFF" && !z.OnOff {
		changed = z.dimTo(*order.Brightness, 254) || changed
	}
	if z.Kind != "fan" || z.OnOff {
		return nil, changed
	}
	changed = z.switchTo(order.FanState)
	if i := slices.Index(zigbeeFanModes, order.FanMode); i >= 0 {
		changed = z.dimTo(float64(i), 3) || changed
	}
	return nil, changed
}

// asJSON writes what can be written.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}
