package peers

import (
	"encoding/json"
	"math"
	"time"
)

// shelly is a Shelly of the second generation or later, from its API
// documentation 1.0: "MQTT", "RPC Protocol", "Notifications" and those of the
// components. It notifies changes and nothing else. A light that is on_off,
// and every fan, is a switch.
type shelly struct{ *Gadget }

func (s *shelly) will() said { return said{s.Topic + "/online", "false", true} }

func (s *shelly) birth() []said { return []said{{s.Topic + "/online", "true", true}} }

func (s *shelly) filters() []string { return []string{s.Topic + "/rpc"} }

func (s *shelly) dims() bool { return s.Kind == "light" && !s.OnOff }

// components are those of the device, without what it is silent about: one that
// is missing is not there, and one without a value has null for it.
func (s *shelly) components() map[string]any {
	all := s.whole()
	for of, fact := range map[string]string{"light:0": "", "switch:0": "", "temperature:0": "temperature", "input:0": "occupancy"} {
		if component, ok := all[of].(map[string]any); ok && s.silences[fact] == null {
			s.silences.silenced(component, fact, "output", "tC", "tF", "state")
		}
		if s.silences[fact] == missing {
			delete(all, of)
		}
	}
	return all
}

func (s *shelly) whole() map[string]any {
	switch {
	case s.Kind == "sensor":
		return map[string]any{
			"temperature:0": map[string]any{"id": 0, "tC": s.celsius, "tF": math.Round((s.celsius*1.8+32)*10) / 10},
			"humidity:0":    map[string]any{"id": 0, "rh": 41.2},
			"input:0":       map[string]any{"id": 0, "state": s.somebody},
		}
	case s.dims():
		return map[string]any{"light:0": map[string]any{"id": 0, "source": "MQTT", "output": s.on, "brightness": math.Round(s.level)}}
	}
	return map[string]any{"switch:0": map[string]any{
		"id": 0, "source": "MQTT", "output": s.on, "apower": 0.0, "voltage": 230.1, "temperature": map[string]any{"tC": 43.1, "tF": 109.6},
	}}
}

func (s *shelly) report(periodic bool) []said {
	if periodic {
		return nil
	}
	params := s.components()
	params["ts"] = float64(time.Now().Unix())
	return []said{{s.Topic + "/events/rpc", asJSON(map[string]any{
		"src": s.Topic, "dst": s.Topic + "/events", "method": "NotifyStatus", "params": params,
	}), false}}
}

func (s *shelly) hear(_ string, payload []byte) (answer []said, changed bool) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Src    string          `json:"src"`
		Method string          `json:"method"`
		Params struct {
			ID         int      `json:"id"`
			On         *bool    `json:"on"`
			Brightness *float64 `json:"brightness"`
		} `json:"params"`
	}
	if json.Unmarshal(payload, &call) != nil || call.Src == "" || len(call.ID) == 0 {
		return nil, false
	}
	reply := map[string]any{"id": call.ID, "src": s.Topic, "dst": call.Src}
	was := s.on
	switch {
	case call.Method == "Shelly.GetStatus":
		all := s.components()
		all["mqtt"], all["sys"] = map[string]any{"connected": true}, map[string]any{"uptime": 4711}
		reply["result"] = all
	case call.Params.ID != 0:
		reply["error"] = map[string]any{"code": -105, "message": "Argument 'id', value not found!"}
	case call.Method == "Light.Set" && s.dims(), call.Method == "Switch.Set" && !s.dims():
		reply["result"] = map[string]any{"was_on": was}
		if b := call.Params.Brightness; b != nil && s.dims() {
			s.dimTo(*b, 100)
		}
		if on := call.Params.On; on != nil {
			s.follow(func() { s.on = *on })
		}
	default:
		reply["error"] = map[string]any{"code": 404, "message": "No handler for " + call.Method}
	}
	return []said{{call.Src + "/rpc", asJSON(reply), false}}, s.on != was || call.Params.Brightness != nil
}
