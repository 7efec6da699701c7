package webhook

import (
	"strconv"

	"roomgate/agent/printable"
	"roomgate/agent/problem"
)

func invalid(field, format string, args ...any) error {
	return problem.New(problem.Invalid, field, format, args...)
}

func item(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// quoted shows a value that somebody sent, but not all of a long one.
func quoted(s string) string {
	return strconv.Quote(printable.Cut(s, 60, "…"))
}
