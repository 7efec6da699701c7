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

// roomNow is the room that is asked about.
func (w *wizard) roomNow() string {
	if len(w.names) == 0 {
		return ""
	}
	return w.names[len(w.names)-1]
}

// wired remembers what an answer of this round takes.
func (w *wizard) wired(deviceType, ask string, part setup.Part, name string) {
	ask, _, _ = strings.Cut(ask, ", or ") // the way that was taken
	w.wires = append(w.wires, boardUse{part, name, w.roomNow(), deviceType, ask})
}

// elsewhere refuses a part of the board that another answer has, of this round or of the
// configuration.
func (w *wizard) elsewhere(deviceType string, part setup.Part, name string) error {
	same := func(o boardUse) bool { return o.part == part && o.name == name }
	i := slices.IndexFunc(w.wires, same)
	if i >= 0 {
		return w.wires[i].taken()
	}
	for _, s := range w.known.Spaces {
		for _, d := range s.Devices {
			asked := func(o boardUse) bool { return o.room == s.Name && o.deviceType == d.Type }
			if s.Name == w.roomNow() && d.Type == deviceType || slices.ContainsFunc(w.wires, asked) {
				continue // its answers are given in this round
			}
			if known := w.wiresOf(s.Name, d); slices.ContainsFunc(known, same) {
				return known[slices.IndexFunc(known, same)].taken()
			}
		}
	}
	return nil
}

func (o boardUse) taken() error {
	return fmt.Errorf("room %s has %s already, as %q: want another", o.room, o.name, o.ask)
}

// wiresOf are the parts of the board that a configured device takes.
func (w *wizard) wiresOf(room string, d config.Device) (all []boardUse) {
	way, _ := setup.WayOf(w.options.Kinds, d.Driver)
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
func (w *wizard) noFirmware(said string) error {
	for _, firmware := range setup.Dialects(w.options.Kinds, drivers.TypeLight) {
		if strings.EqualFold(said, firmware) {
			return fmt.Errorf("%s is a firmware, which has no place here: want a name of this board, or - for none", said)
		}
	}
	return nil
}
