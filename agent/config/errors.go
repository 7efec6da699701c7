package config

import (
	"fmt"
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
}

// Error is one line for each problem.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
