// Package problem is how the building refuses: one code and one error for all
// nouns. It imports none of them.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code is why an operation was refused or failed. There are few, and one
// table maps them to HTTP, another to receipts.
type Code string

// The codes of an Error.
const (
	Invalid      Code = "invalid"           // a value that cannot be accepted; Field names it
	NotFound     Code = "not_found"         // no such space, device, command or key
	Conflict     Code = "conflict"          // the same id with another content, or a time that is taken
	Forbidden    Code = "forbidden"         // this caller may not
	Unauthorized Code = "unauthorized"      // no credential, or a wrong one
	TooMany      Code = "too_many_requests" // later
	Expired      Code = "expired"           // too late to be carried out
	Unavailable  Code = "unavailable"       // the device does not answer, or is busy
	NotFollowed  Code = "not_followed"      // the command was given, the read-back did not follow
	Full         Code = "storage_full"      // the disk or a budget is full
	Unwritable   Code = "storage_failed"    // the disk takes nothing
	Stale        Code = "revision_mismatch" // it has changed since the caller saw it
	NotNow       Code = "not_now"           // its state or the time does not allow it
	Busy         Code = "busy"              // there are too many of them: commands to remember, streams
	Internal     Code = "internal"
)

// Unstored says that it would be another outcome later, as nothing could be stored.
func (c Code) Unstored() bool { return c == Full || c == Unwritable || c == Internal }

// Error is a refusal or a failure, in words that may be shown to the caller.
type Error struct {
	Code    Code
	Field   string // the request's field at fault, or empty
	Message string // lower case, what happened, what to do next
	// Busy is the time in the way, of a Conflict about a time; never whose it is.
	Busy *Interval

	words *words // they make the message again; nil: it is the same for every version
}

// words are a message whose parts may be said otherwise.
type words struct {
	format string
	args   []any
}

// Interval is a half-open time; a zero End means that it has none.
type Interval struct{ Start, End time.Time }

// Error is the field and the message.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + " " + e.Message
}

// FieldName is a field of the request that a message names.
type FieldName string

// Span is a length of time that a message names. It is written as 50ms or 1h.
type Span time.Duration

// String leaves out the minutes and seconds that are none.
func (s Span) String() string {
	text := time.Duration(s).String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// New makes an Error; its message is formatted as by fmt.Sprintf. Arguments that
// are a FieldName or a Span can be said in other words later, see In.
func New(code Code, field, format string, args ...any) *Error {
	e := &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		switch arg.(type) {
		case FieldName, Span:
			e.words = &words{format, args}
		}
	}
	return e
}

// In is the error in the words of who answers: name and span say how it calls each
// field and writes each length of time.
func (e *Error) In(name func(FieldName) string, span func(Span) string) *Error {
	worded := *e
	worded.Field = name(FieldName(e.Field))
	if e.words == nil {
		return &worded
	}
	args := slices.Clone(e.words.args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case FieldName:
			args[i] = name(arg)
		case Span:
			args[i] = span(arg)
		}
	}
	worded.Message = fmt.Sprintf(e.words.format, args...)
	return &worded
}

// As finds the Error in err, or returns nil.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// At is a refusal of the i-th item of a list: its field begins with the place, as
// [2].name. Any other error stays as it is.
func At(i int, err error) error {
	refusal := As(err)
	if refusal == nil {
		return err
	}
	placed := *refusal
	placed.Field = strings.TrimSuffix(fmt.Sprintf("[%d].%s", i, placed.Field), ".")
	return &placed
}

// List joins names as a person would read them.
func List(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
