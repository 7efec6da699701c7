package homeassistant

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/config"
	"roomgate/drivers"
)

var (
	light = Device{"light-1", drivers.TypeLight, "aurora-1", "Aurora"}
	lock  = Device{"lock-1", drivers.TypeLock, "aurora-1", "Aurora"}
	o3    = Device{"o3-1", drivers.TypeO3, "aurora-1", "Aurora"}
)

// settled is a building whose devices were observed.
func settled(t *testing.T, s config.HomeAssistant) *rig {
	t.Helper()
	s.Publish = true
	r := start(t, s, light, lock, o3)
	r.observe("light-1", Reading{Value: drivers.Off})
	r.observe("lock-1", Reading{Value: drivers.Closed})
	r.observe("o3-1"+drivers.SubOccupancy, Reading{Value: drivers.Vacant})
	return r
}

func TestHomeAssistantSeesTheBuilding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := settled(t, config.HomeAssistant{})
		r.want(base+"status", "online")
		r.want(base+"light-1/state", "off")
		r.want(base+"lock-1/state", "closed")
		r.want(base+"o3-1_occupancy/state", "vacant")
		r.want(base+"o3-1_temperature/state", "") // not observed yet
		var doc struct {
			StateTopic string `json:"state_topic"`
			Command    string `json:"command_topic"`
			Class      string `json:"device_class"`
			On         string `json:"payload_on"`
		}
		text := r.heard["homeassistant/binary_sensor/roomgate_house_1/lock-1/config"]
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if doc.Class != "lock" || doc.On != "open" || doc.Command != "" || doc.StateTopic != base+"lock-1/state" {
			t.Errorf("the lock is told as %s", text)
		}
		if r.heard["homeassistant/light/roomgate_house_1/light-1/config"] != "" {
			t.Error("commands to the light are announced and not taken")
		}
		r.observe("o3-1"+drivers.SubOccupancy, Reading{Value: drivers.Occupied})
		r.want(base+"o3-1_occupancy/state", "occupied")
		r.observe("o3-1"+drivers.SubOccupancy, Reading{Value: drivers.Occupied, Offline: true})
		r.want(base+"o3-1_occupancy/availability", "offline")
		for _, topic := range []string{"light-1/set", "lock-1/set"} {
			if taken := r.say(base+topic, "on", false); taken != nil {
				t.Errorf("taken although the configuration does not allow it: %q", taken)
			}
		}
	})
}

func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := settled(t, config.HomeAssistant{Commands: true})
		for _, c := range []struct {
			topic, payload string
			retained       bool
			want           []string
		}{
			{"light-1/set", "on", false, []string{"light-1 on "}},
			{"light-1/intensity/set", "40", false, []string{"light-1 intensity 40"}},
			{"light-1/intensity/set", "much", false, nil},
			{"light-1/set", "explode", false, nil},
			{"light-1/set", "off", true, nil},
			{"lock-1/set", "open", false, nil},
		} {
			// A retained one that reaches a live subscriber is not marked as such
			// (MQTT 3.1.1, 3.3.1.3), so it comes before the gateway does.
			if c.retained {
				r.cut(true)
				r.wait(time.Second)
			}
			taken := r.say(base+c.topic, c.payload, c.retained)
			if c.retained {
				r.cut(false)
				r.wait(3 * time.Minute)
				taken = r.say(base+"nothing", "", false)
			}
			if !slices.Equal(taken, c.want) {
				t.Errorf("%s %s: %q, want %q", c.topic, c.payload, taken, c.want)
			}
		}
		r.observe("light-1", Reading{Value: drivers.On, Details: map[string]any{"intensity": 40}})
		r.want(base+"light-1/intensity", "40")
	})
}

func TestDoors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := settled(t, config.HomeAssistant{Commands: true, Doors: true})
		if text := r.heard["homeassistant/lock/roomgate_house_1/lock-1/config"]; !strings.Contains(text, `"payload_unlock":"open"`) {
			t.Errorf("the lock is told as %s", text)
		}
		if taken := r.say(base+"lock-1/set", "open", false); !slices.Equal(taken, []string{"lock-1 open "}) {
			t.Errorf("taken: %q", taken)
		}
	})
}

// TestCommandsDoNotWait: what somebody wanted while the gateway was not there is
// over when it comes back.
func TestCommandsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := settled(t, config.HomeAssistant{Commands: true, Doors: true})
		if taken := r.say(base+"lock-1/set", "close", false); !slices.Equal(taken, []string{"lock-1 close "}) {
			t.Fatalf("a command while the gateway is there: %q", taken)
		}
		r.cut(true)
		r.wait(time.Second)
		r.want(base+"status", "offline")
		taken := r.say(base+"lock-1/set", "open", false)
		r.wait(47 * time.Second)
		r.cut(false)
		r.wait(3 * time.Minute)
		r.want(base+"status", "online")
		taken = append(taken, r.say(base+"lock-1/set", "close", false)...)
		if !slices.Equal(taken, []string{"lock-1 close "}) {
			t.Errorf("taken: %q, want the command that waited left out", taken)
		}
	})
}

// TestWhatIsRemovedIsTakenBack: after a change of the building Home Assistant
// knows the devices that are there now, and no others.
func TestWhatIsRemovedIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := settled(t, config.HomeAssistant{})
		r.rebuild(light, o3)
		for _, topic := range []string{"homeassistant/binary_sensor/roomgate_house_1/lock-1/config", base + "lock-1/state", base + "lock-1/availability"} {
			r.want(topic, "")
		}
		r.want(base+"light-1/state", "off")
		r.rebuild(light, lock, o3)
		r.want(base+"lock-1/state", "closed")
	})
}

// TestABrokerThatForgotIsToldAgain: with each connection everything is published.
func TestABrokerThatForgotIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := settled(t, config.HomeAssistant{})
		r.say(base+"light-1/state", "", true)
		r.want(base+"light-1/state", "")
		r.cut(false)
		r.wait(time.Minute)
		r.want(base+"light-1/state", "off")
	})
}

func TestNobodyIsToldUnlessConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, config.HomeAssistant{Commands: true}, light)
		r.observe("light-1", Reading{Value: drivers.Off})
		if len(r.heard) > 0 {
			t.Errorf("told: %q", r.heard)
		}
	})
}
