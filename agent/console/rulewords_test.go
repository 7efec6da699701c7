package console

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/rule"
)

// TestRulesInSentences: what a building does by itself is told as people say it.
func TestRulesInSentences(t *testing.T) {
	light := []rule.Action{{DeviceType: "light", Action: "off"}}
	for want, r := range map[string]rule.Rule{
		"When people come or go, if nobody is there: switch the light off":                      {Trigger: rule.Trigger{Event: "occupancyChanged"}, Condition: `occupancy.value == 'vacant'`, Actions: light},
		"At 22:00, if nobody is there and local.hour > 20: switch the light off; open the door": {Trigger: rule.Trigger{Time: "22:00"}, Condition: `occupancy.value == "vacant" and local.hour > 20`, Actions: append(light, rule.Action{DeviceType: "lock", Action: "open"})},
		"At the times 0 7 * * 1-5: fan intensity 60":                                            {Trigger: rule.Trigger{Time: "0 7 * * 1-5"}, Actions: []rule.Action{{DeviceType: "fan", Action: "intensity", Value: []byte("60")}}},
		"5 min before the end of a meeting: show “Soon <over>” on the display":                  {Trigger: rule.Trigger{Booking: rule.BookingEnd, Before: rule.Duration(5 * time.Minute)}, Actions: []rule.Action{{Message: "Soon <over>"}}},
		"At the event “Booking displaced”: event rule.tooMany":                                  {Trigger: rule.Trigger{Booking: "booking.displaced"}, Actions: []rule.Action{{Event: "tooMany"}}},
		"At the event “Device online” of Camera, if the light is on: switch the buzzer on":      {Trigger: rule.Trigger{Event: "deviceOnline", DeviceType: "camera"}, Condition: `light.value == "on"`, Actions: []rule.Action{{DeviceType: "o3-sensor", SubDevice: "buzzer", Action: "on"}}},
	} {
		if got := ruleSentence(r); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestUsualRulesAreRules: what is offered can be made as it is offered.
func TestUsualRulesAreRules(t *testing.T) {
	for _, u := range usuals() {
		r := u.rule
		r.Name = u.name
		for _, f := range u.asks {
			if f.Name == "condition" {
				r.Condition = f.Choices[0].Value
			}
		}
		if err := r.Check(agent.EventKinds()); err != nil {
			t.Errorf("%s: %v", u.name, err)
		}
		if says := ruleSentence(r); strings.Contains(says, "==") || strings.Contains(says, "number") {
			t.Errorf("%s is told as %q", u.name, says)
		}
		if fixed, err := u.fixed(); err != nil || len(fixed) < 2-len(u.asks) {
			t.Errorf("%s sends %v, %v", u.name, fixed, err)
		}
	}
}
