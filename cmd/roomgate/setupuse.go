package main

import (
	"fmt"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/drivers"
)

// boardUse is a part of the board that an answer takes. One without a name is a device that
// takes none any more.
type boardUse struct {
	part       setup.Part
	name       string
	room       string
	deviceType string
	ask        string // as the question has it: "lock: line of the relay"
}

// boardUses are those of the answers of a round, and of the configuration before them.
type boardUses struct {
	kinds []drivers.Kind
	known []config.Space
	rooms []string // that are asked about, in order
	all   []boardUse
}

// roomNow is the room that is asked about.
func (u *boardUses) roomNow() string {
	if len(u.rooms) == 0 {
		return ""
	}
	return u.rooms[len(u.rooms)-1]
}

// take remembers what an answer of this round takes.
func (u *boardUses) take(deviceType, ask string, part setup.Part, name string) {
	ask, _, _ = strings.Cut(ask, ", or ") // the way that was taken
	u.all = append(u.all, boardUse{part, name, u.roomNow(), deviceType, ask})
}

// elsewhere refuses a part of the board that another answer has, of this round or of the
// configuration.
func (u *boardUses) elsewhere(deviceType string, part setup.Part, name string) error {
	same := func(o boardUse) bool { return o.part == part && o.name == name }
	i := slices.IndexFunc(u.all, same)
	if i >= 0 {
		return u.all[i].taken()
	}
	for _, s := range u.known {
		for _, d := range s.Devices {
			asked := func(o boardUse) bool { return o.room == s.Name && o.deviceType == d.Type }
			if s.Name == u.roomNow() && d.Type == deviceType || slices.ContainsFunc(u.all, asked) {
				continue // its answers are given in this round
			}
			if known := u.of(s.Name, d); slices.ContainsFunc(known, same) {
				return known[slices.IndexFunc(known, same)].taken()
			}
		}
	}
	return nil
}

func (o boardUse) taken() error {
	return fmt.Errorf("room %s has %s already, as %q: want another", o.room, o.name, o.ask)
}

// of are the parts of the board that a configured device takes.
func (u *boardUses) of(room string, d config.Device) (all []boardUse) {
	way, _ := setup.WayOf(u.kinds, d.Driver)
	for _, q := range way.Asks {
		value, _ := config.At(d.Options, q.Key)
		if name := fmt.Sprint(value); q.Of != 0 && q.Of != setup.Chips && value != nil && name != "" {
			all = append(all, boardUse{q.Of, name, room, d.Type, subject(d.Type) + ": " + q.Text})
		}
	}
	return all
}

// subject is what the questions about a type of device begin with.
func subject(deviceType string) string {
	if deviceType == drivers.TypeO3 {
		return "sensors"
	}
	return deviceType
}

// noFirmware refuses the word for a firmware where the name of a part is asked for.
func (u *boardUses) noFirmware(said string) error {
	for _, firmware := range setup.Dialects(u.kinds, drivers.TypeLight) {
		if strings.EqualFold(said, firmware) {
			return fmt.Errorf("%s is a firmware, which has no place here: want a name of this board, or - for none", said)
		}
	}
	return nil
}
