package peers

import (
	"strings"

	"roomgate/drivers/sim"
)

// silences are the facts of a part that it does not tell, by name, and how.
type silences map[string]silence

// silence is how a fact is not told.
type silence byte

const (
	// told is a fact as it is.
	told silence = iota
	// null is a fact of which the part says that there is none.
	null
	// missing is a fact of which the part says nothing.
	missing
)

// silenced is what a message is made of, with what is silent about a fact:
// fields are null, or left out.
func (s silences) silenced(message map[string]any, fact string, fields ...string) {
	for _, field := range fields {
		switch _, has := message[field]; {
		case has && s[fact] == null:
			message[field] = nil
		case s[fact] == missing:
			delete(message, field)
		}
	}
}

// silenceVerbs make a fact silent, and end that.
func silenceVerbs(set func(silence)) []sim.Verb {
	return []sim.Verb{
		sim.Always("null", "it says that there is no value", func() { set(null) }),
		sim.Always("missing", "it says nothing of it, and goes on about all else", func() { set(missing) }),
		sim.Always("back", "it says what it is", func() { set(told) }),
	}
}

// o3Facts are the subjects of a hub by the beginnings of their subtopics.
var o3Facts = []struct{ subject, prefix string }{
	{"temperature", "occupantTemperature"}, {"temperature", "irTemperature"},
	{"temperature", "internalTemperature"}, {"temperature", "rawTemperature"},
	{"occupancy", "combinedOccupancy"}, {"occupancy", "motion"}, {"occupancy", "acousticOccupancy"},
	{"buzzer", "sound"}, {"ring-light", "lightring"},
}

// about is how a hub is silent about a subtopic.
func (s silences) about(subtopic string) silence {
	for _, f := range o3Facts {
		if strings.HasPrefix(subtopic, f.prefix) && subtopic != "soundLevel" {
			return s[f.subject]
		}
	}
	return told
}
