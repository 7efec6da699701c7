package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/drivers"
)

// setupRoom is one that is asked about.
type setupRoom struct {
	*setup.Space
	name string
	was  *config.Space // as it is configured, nil: it is new
}

// askRoom asks for a room and its devices; more is false after the last one.
func (w *wizard) askRoom(a *setup.Answers) (more bool, err error) {
	ask := "another room (return: no more)"
	if w.room == 1 && len(w.known.Spaces) == 0 {
		ask = "first room (return: none)"
	}
	name, err := w.put(question{ask: ask, help: "the name on the door, as Atlas; a room that is configured already is changed", check: w.uses.newName})
	if err != nil || name == "" {
		return false, err
	}
	was, number := w.knownRoom(name)
	timezone, err := w.askZone(w.zoneOf(was))
	if err != nil {
		return false, err
	}
	if was != nil {
		name = w.known.Spaces[number].Name
	}
	w.uses.rooms = append(w.uses.rooms, name)
	r := setupRoom{a.Space(name, timezone), name, was}
	for _, device := range []func(setupRoom) error{w.askFor("lock-relay"), w.askFor("light-pwm"), w.askFor("fan-pwm"), w.askHub, w.askCamera, w.askDisplay} {
		if err := device(r); err != nil {
			return false, err
		}
	}
	return true, nil
}

// newName refuses what is no name of a room, and one that was asked about in this round.
func (u *boardUses) newName(said string) error {
	if slices.ContainsFunc(u.rooms, func(name string) bool { return strings.EqualFold(name, said) }) {
		return fmt.Errorf("room %s has its answers already: want another room, or return", said)
	}
	if other := u.sameIDs(said); other != "" {
		return fmt.Errorf("room %s and room %s would be one in the ids of their devices, as %s: want another name", said, other, setup.DeviceID(said, drivers.TypeLock))
	}
	return noAnswer("want the name on the door, as Atlas, or return")(said)
}

// sameIDs is another room, of this round or of the configuration, whose devices have the ids that
// those of this one would get.
func (u *boardUses) sameIDs(said string) string {
	names := slices.Clone(u.rooms)
	for _, s := range u.known {
		names = append(names, s.Name)
	}
	for _, name := range names {
		if !strings.EqualFold(name, said) && setup.SameIDs(name, said) {
			return name
		}
	}
	return ""
}

// noAnswer refuses yes and no where a name is asked for.
func noAnswer(want string) func(string) error {
	return func(said string) error {
		if slices.Contains([]string{"y", "yes", "n", "no", "none"}, strings.ToLower(said)) {
			return errors.New(want)
		}
		return nil
	}
}

// knownRoom is the configured room of that name, nil: there is none.
func (w *wizard) knownRoom(name string) (*config.Space, int) {
	for i, s := range w.known.Spaces {
		if strings.EqualFold(s.Name, name) {
			return &w.known.Spaces[i], i
		}
	}
	return nil, -1
}

// has says whether a configured room has a device of a type.
func has(s *config.Space, deviceType string) bool {
	return s != nil && slices.ContainsFunc(s.Devices, func(d config.Device) bool { return d.Type == deviceType })
}

// or is the end of a question for a device: what the return key comes to.
func (r setupRoom) or(deviceType string) string {
	if has(r.was, deviceType) {
		return stays
	}
	return ""
}
