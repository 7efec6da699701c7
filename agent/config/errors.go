package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Problem is one mistake in a configuration.
type Problem struct {
	File         string // or the flag or variable that said it
	Line, Column int    // from 1; 0 if there is no place
	Key          string // as "spaces[0].devices[2].options.intensity"
	Message      string // without the place
	Nearest      string // the known key that was probably meant, or empty
}

// String is the problem as one line, with its place first.
func (p Problem) String() string {
	place := p.File
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if place == "" {
		return p.Message
	}
	return place + ": " + p.Message
}

// Errors are all the problems of a configuration, in the order of the file.
type Errors struct {
	Problems []Problem

	read *Config // nil: nothing could be read
}

// Error is one line for each problem.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// ofCopy are the keys that a copied space or device has in common with its original.
var ofCopy = regexp.MustCompile(`^spaces\[\d+\](\.devices\[\d+\])?\.(id|name)$`)

// Copied is the configuration as it was read, if nothing but ids and names of spaces and devices is wrong, as
// in a copy; nil: more is. A device with the id of another one has an id of its own there.
func (e *Errors) Copied() *Config {
	if e.read == nil || slices.ContainsFunc(e.Problems, func(p Problem) bool { return !ofCopy.MatchString(p.Key) }) {
		return nil
	}
	seen := map[string]bool{}
	for i, s := range e.read.Spaces {
		for j := range s.Devices {
			if d := &e.read.Spaces[i].Devices[j]; seen[d.ID] {
				d.ID = fmt.Sprintf("%s#%d.%d", d.ID, i, j)
			}
			seen[s.Devices[j].ID] = true
		}
	}
	return e.read
}
