package console

import (
	"encoding/json"
	"slices"
	"time"

	"roomgate/agent/rule"
	"roomgate/drivers"
)

// usual is a rule that many buildings have, and what one says to make it.
type usual struct {
	name string
	rule rule.Rule
	asks []Input // in place of what the rule says of the same name
}

// usuals are they, in the order in which they are offered.
func usuals() []usual {
	vacant, occupied := `occupancy.value == "vacant"`, `occupancy.value == "occupied"`
	moves := rule.Trigger{Event: "occupancyChanged"}
	do := func(device, action string) []rule.Action { return []rule.Action{{DeviceType: device, Action: action}} }
	at := Input{ID: "rule-time", Name: "trigger.time", Label: "At", Type: "time", Value: "22:00", Required: true}
	return []usual{
		{"Light off when nobody is there", rule.Rule{Trigger: moves, Condition: vacant, Actions: do(drivers.TypeLight, drivers.ActOff)}, nil},
		{"Light on when somebody comes", rule.Rule{Trigger: moves, Condition: occupied, Actions: do(drivers.TypeLight, drivers.ActOn)}, nil},
		{"Light off at night", rule.Rule{Trigger: rule.Trigger{Time: "22:00"}, Condition: vacant, Actions: do(drivers.TypeLight, drivers.ActOff)}, []Input{at}},
		{"Fan on when it is warm", rule.Rule{Trigger: rule.Trigger{Event: "statusChanged", DeviceType: drivers.TypeO3, SubDevice: drivers.SubTemperature}, Condition: "temperature.number > 25", Actions: do(drivers.TypeFan, drivers.ActOn)},
			[]Input{{ID: "rule-if", Name: "condition", Label: "If it is warmer than", Type: "select", Choices: degrees()}}},
		{"Say when a meeting ends soon", rule.Rule{Trigger: rule.Trigger{Booking: rule.BookingEnd, Before: rule.Duration(5 * time.Minute)}, Actions: []rule.Action{{Message: "This meeting ends in a few minutes."}}},
			[]Input{{ID: "rule-before", Name: "trigger.before", Label: "Before its end", Type: "select", Choices: []Choice{{"3m", "3 min", false}, {"5m", "5 min", true}, {"10m", "10 min", false}}}}},
	}
}

// degrees are the temperatures that are offered.
func degrees() (all []Choice) {
	for _, d := range []string{"22", "23", "24", "25", "26", "27"} {
		all = append(all, Choice{"temperature.number > " + d, d + " °C", d == "25"})
	}
	return all
}

// fixed is what a usual rule says beside what is asked for, in fields that nobody sees.
func (u usual) fixed() ([]Input, error) {
	asked := func(name string) bool {
		return slices.ContainsFunc(u.asks, func(f Input) bool { return f.Name == name })
	}
	var all []Input
	for _, f := range []struct{ name, value string }{{"trigger.event", u.rule.Trigger.Event}, {"trigger.device_type", u.rule.Trigger.DeviceType},
		{"trigger.sub_device", u.rule.Trigger.SubDevice}, {"trigger.booking", u.rule.Trigger.Booking}, {"condition", u.rule.Condition}} {
		if f.value != "" && !asked(f.name) {
			all = append(all, Input{Name: f.name, Type: "hidden", Value: f.value})
		}
	}
	actions, err := json.Marshal(u.rule.Actions)
	return append(all, Input{Name: "actions", Type: "hidden", Kind: "json", Value: string(actions)}), err
}
