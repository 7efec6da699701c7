package agent

import (
	"errors"
	"fmt"

	"roomgate/agent/booking"
	"roomgate/drivers"
	"roomgate/store"
)

// Code is why an operation was refused or failed. There are few, and one
// table maps them to HTTP, another to receipts.
type Code string

// The codes of an Error.
const (
	Invalid     Code = "invalid"           // a value that cannot be accepted; Field names it
	NotFound    Code = "not_found"         // no such space, device, command or key
	Conflict    Code = "conflict"          // the same id with another content
	Forbidden   Code = "forbidden"         // this caller may not
	Expired     Code = "expired"           // too late to be carried out
	Unavailable Code = "unavailable"       // the device does not answer, or is busy
	NotFollowed Code = "not_followed"      // the order was given, the read-back did not follow
	Full        Code = "storage_full"      // the disk or a budget is full
	Stale       Code = "revision_mismatch" // it has changed since the caller saw it
	NotNow      Code = "not_now"           // its state or the time does not allow it
	Internal    Code = "internal"
)

// Error is a refusal or a failure, in words that may be shown to the caller.
type Error struct {
	Code    Code
	Field   string // the request's field at fault, or empty
	Message string // lower case, what happened, what to do next
	// Busy is the time in the way, of a Conflict about a time.
	Busy *booking.Interval
}

// Error is the field and the message.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + " " + e.Message
}

func refuse(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// AsError sorts any error into the codes. Causes that a caller must not see
// become Internal without detail.
func AsError(err error) *Error {
	var e *Error
	var field *drivers.FieldError
	var plan *booking.Problem
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.As(err, &field):
		return &Error{Code: Invalid, Field: field.Field, Message: field.Problem}
	case errors.As(err, &plan):
		return planError(plan)
	case errors.Is(err, drivers.ErrNotConfirmed):
		return &Error{Code: NotFollowed, Field: "", Message: err.Error()}
	case errors.Is(err, drivers.ErrUnsupported):
		return &Error{Code: Invalid, Field: "action", Message: err.Error()}
	case errors.Is(err, store.ErrFull):
		return &Error{Code: Full, Field: "", Message: "the gateway's storage is full, nothing was changed: free space or raise store.max_size"}
	case isDeviceFault(err):
		return &Error{Code: Unavailable, Field: "", Message: err.Error()}
	}
	return &Error{Code: Internal, Field: "", Message: "internal error, see the gateway's log"}
}

func isDeviceFault(err error) bool {
	var fault *deviceError
	if errors.As(err, &fault) {
		return true
	}
	for _, known := range []error{drivers.ErrOffline, drivers.ErrClosed, drivers.ErrInUse, drivers.ErrNoLine} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// planError says a problem with a booking in the words of this floor.
func planError(p *booking.Problem) *Error {
	e := &Error{Code: Invalid, Field: p.Field, Message: p.Message}
	switch p.Kind {
	case booking.Taken:
		e.Code, e.Busy = Conflict, &p.Busy
	case booking.NotNow:
		e.Code = NotNow
	case booking.Stale:
		e.Code = Stale
	case booking.NotFound:
		e.Code = NotFound
	}
	return e
}
