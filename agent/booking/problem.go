package booking

import "fmt"

// Kind sorts what can be wrong with a request.
type Kind string

// The kinds of a Problem.
const (
	Invalid  Kind = "invalid" // a value that the rules of the space do not take; Field names it
	Taken    Kind = "taken"   // another booking stands there; Busy is its time
	Stale    Kind = "stale"   // the booking has changed since the caller saw it
	NotNow   Kind = "not_now" // the booking's state or the time does not allow it
	NotFound Kind = "not_found"
)

// Problem is why a change was refused, in words that may be shown. Nothing was
// changed.
type Problem struct {
	Kind    Kind
	Field   string // the request's field at fault, or empty
	Message string
	Busy    Interval // of Taken: the time in the way, never whose it is
}

// Error is the field and the message.
func (p *Problem) Error() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + " " + p.Message
}

func invalid(field, format string, args ...any) error {
	return &Problem{Kind: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

func notNow(format string, args ...any) error {
	return &Problem{Kind: NotNow, Message: fmt.Sprintf(format, args...)}
}

// taken names the interval in the way.
func taken(busy Interval) error {
	return &Problem{Kind: Taken, Field: "start_time", Busy: busy,
		Message: "is not free: the space is booked " + span(busy.Start, busy.End)}
}
