package webhook

import (
	"fmt"
	"strconv"
)

// Problem is a value that cannot be accepted, in words that may be shown.
type Problem struct {
	Field   string // of the request
	Message string // what is wrong with it, what to do next
}

// Error is the field and the message.
func (p *Problem) Error() string { return p.Field + " " + p.Message }

func invalid(field, format string, args ...any) error {
	return &Problem{Field: field, Message: fmt.Sprintf(format, args...)}
}

func item(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// quoted shows a value that somebody sent, but not all of a long one.
func quoted(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return strconv.Quote(s)
}
