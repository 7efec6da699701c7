package peers

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// tasmota is Tasmota 14, from its documentation: "MQTT", "Commands",
// "Sensors". The topic is its %topic%, in the usual FullTopic. A fan that is
// not a relay is a Sonoff iFan with FanSpeed 0 to 3.
type tasmota struct{ *Gadget }

func (t *tasmota) will() said { return said{"tele/" + t.Topic + "/LWT", "Offline", true} }

func (t *tasmota) birth() []said { return []said{{"tele/" + t.Topic + "/LWT", "Online", true}} }

func (t *tasmota) filters() []string { return []string{"cmnd/" + t.Topic + "/+"} }

func (t *tasmota) speeds() bool { return t.Kind == "fan" && !t.OnOff }

// report is STATE and SENSOR in its time, else RESULT.
func (t *tasmota) report(periodic bool) []said {
	switch {
	case t.Kind == "sensor":
		return []said{{"tele/" + t.Topic + "/SENSOR", asJSON(t.sensor()), false}}
	case periodic:
		return []said{{"tele/" + t.Topic + "/STATE", asJSON(t.all()), false}}
	case t.speeds():
		return []said{{"stat/" + t.Topic + "/RESULT", asJSON(t.quiet(map[string]any{"FanSpeed": t.speed()})), false}}
	}
	result := map[string]any{"POWER": t.power()}
	if t.Kind == "light" && !t.OnOff {
		result["Dimmer"] = math.Round(t.level)
	}
	if t.silences[""] != told {
		return []said{{"stat/" + t.Topic + "/RESULT", asJSON(t.quiet(result)), false}}
	}
	return []said{
		{"stat/" + t.Topic + "/RESULT", asJSON(result), false},
		{"stat/" + t.Topic + "/POWER", t.power(), false},
	}
}

func (t *tasmota) speed() int {
	if !t.on {
		return 0
	}
	return max(1, int(math.Round(t.level*3/100)))
}

func (t *tasmota) all() map[string]any {
	all := map[string]any{
		"Time": time.Now().Format("2006-01-02T15:04:05"), "UptimeSec": 4711, "SleepMode": "Dynamic",
		"POWER": t.power(), "Wifi": map[string]any{"AP": 1, "RSSI": 74, "Signal": -63},
	}
	switch {
	case t.speeds():
		all["FanSpeed"] = t.speed()
	case t.Kind == "light" && !t.OnOff:
		all["Dimmer"], all["Fade"] = math.Round(t.level), "OFF"
	}
	return t.quiet(all)
}

// quiet is a message without what the relay is silent about.
func (t *tasmota) quiet(message map[string]any) map[string]any {
	t.silences.silenced(message, "", "POWER", "FanSpeed")
	return message
}

func (t *tasmota) sensor() map[string]any {
	name, unit := t.Name, "C"
	if name == "" {
		name = "AM2301"
	}
	if t.Fahrenheit {
		unit = "F"
	}
	probe := map[string]any{"Temperature": t.degrees(), "Humidity": 41.2, "DewPoint": 7.7}
	all := map[string]any{
		"Time":    time.Now().Format("2006-01-02T15:04:05"),
		"Switch1": map[bool]string{true: "ON", false: "OFF"}[t.somebody],
		name:      probe,
		"ESP32":   map[string]any{"Temperature": 53.3}, "TempUnit": unit,
	}
	t.silences.silenced(all, "occupancy", "Switch1")
	if t.silences["temperature"] == missing {
		delete(all, name) // a chip that is not found
	}
	t.silences.silenced(probe, "temperature", "Temperature", "Humidity", "DewPoint")
	return all
}

func (t *tasmota) hear(topic string, payload []byte) (answer []said, changed bool) {
	command := strings.ToUpper(strings.TrimPrefix(topic, "cmnd/"+t.Topic+"/"))
	n, err := strconv.ParseFloat(string(payload), 64)
	switch {
	case command == "STATE":
		return []said{{"stat/" + t.Topic + "/RESULT", asJSON(t.all()), false}}, false
	case command == "STATUS" && string(payload) == "10":
		return []said{{"stat/" + t.Topic + "/STATUS10", asJSON(map[string]any{"StatusSNS": t.sensor()}), false}}, false
	case command == "POWER" || command == "POWER1":
		return nil, t.switchTo(string(payload))
	case command == "DIMMER" && t.Kind == "light" && err == nil:
		return nil, t.dimTo(n, 100)
	case command == "FANSPEED" && t.speeds() && err == nil:
		return nil, t.dimTo(n, 3)
	}
	return []said{{"stat/" + t.Topic + "/RESULT", `{"Command":"Unknown"}`, false}}, false
}
