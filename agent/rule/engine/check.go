package engine

import (
	"cmp"
	"slices"
	"strings"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/drivers"
)

// check refuses what the rule cannot mean in a building.
func check(t *Site, r *rule.Rule) error {
	if err := r.Check(events); err != nil {
		return err
	}
	if _, err := t.space(r.SpaceID); r.SpaceID != "" && err != nil {
		return err
	}
	on := &r.Trigger
	on.SubDevice = drivers.Canonical(on.SubDevice)
	if on.DeviceType != "" && !slices.Contains(drivers.Types(), on.DeviceType) {
		return problem.New(problem.Invalid, "trigger.device_type", "is not known: want one of %s", strings.Join(drivers.Types(), ", "))
	}
	if subs := drivers.SubDevices(drivers.TypeO3); on.SubDevice != "" && !slices.Contains(subs, on.SubDevice) {
		return problem.New(problem.Invalid, "trigger.sub_device", "is not known: want one of %s", strings.Join(subs, ", "))
	}
	for i := range r.Actions {
		if err := checkAction(t, r, i); err != nil {
			return err
		}
	}
	return nil
}

// checkAction refuses a command that no device of the rule's spaces takes. One
// to a device that was not opened yet is believed.
func checkAction(t *Site, r *rule.Rule, i int) error {
	act := &r.Actions[i]
	act.SubDevice = drivers.Canonical(act.SubDevice)
	if unlocks(*act) && !r.AllowDoor {
		return problem.New(problem.Invalid, "allow_door", "is not set and actions[%d] opens a door: set it to true if that is meant", i)
	}
	where := cmp.Or(act.SpaceID, r.SpaceID)
	spaces := t.order
	if where != "" {
		s, err := t.space(where)
		if err != nil {
			return inAction(i, err)
		}
		spaces = []*Space{s}
	}
	switch {
	case act.Event != "":
		return nil
	case !act.To.Nobody():
		m := messageOf(*r, *act, "")
		return inAction(i, m.Check())
	}
	var refusal error
	for _, s := range spaces {
		_, err := parseAction(*act, s)
		if err == nil {
			return nil
		}
		refusal = cmp.Or(refusal, err)
	}
	return inAction(i, refusal)
}

// inAction names the action in a refusal.
func inAction(i int, err error) error {
	if err == nil {
		return nil
	}
	e := *device.AsError(err)
	e.Code = problem.Invalid
	e.Field = strings.TrimSuffix("actions["+string(rune('0'+i))+"]."+e.Field, ".")
	return &e
}
