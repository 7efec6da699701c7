package device

import (
	"errors"
	"strings"

	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// AsError sorts what went wrong with a device or with the store into the codes
// of a problem. Causes that a caller must not see become Internal without
// detail; nil stays nil.
func AsError(err error) *problem.Error {
	if err == nil {
		return nil
	}
	if e := problem.As(err); e != nil {
		return e
	}
	var field *drivers.FieldError
	switch {
	case errors.As(err, &field):
		return &problem.Error{Code: problem.Invalid, Field: field.Field, Message: field.Problem}
	case errors.Is(err, drivers.ErrNotConfirmed):
		return &problem.Error{Code: problem.NotFollowed, Message: err.Error()}
	case errors.Is(err, drivers.ErrUnsupported):
		return &problem.Error{Code: problem.Invalid, Field: "action", Message: err.Error()}
	case errors.Is(err, store.ErrFull):
		return problem.New(problem.Full, "", "the gateway's storage is full, nothing was changed: free space or raise store.max_size")
	case errors.Is(err, store.ErrFailed):
		return problem.New(problem.Unwritable, "", "the gateway's storage cannot be written, nothing was changed: see roomgate doctor")
	case isFault(err):
		return &problem.Error{Code: problem.Unavailable, Message: err.Error()}
	}
	return problem.New(problem.Internal, "", "internal error, see the gateway's log")
}

// fault is whatever went wrong inside a driver.
type fault struct{ error }

func (e *fault) Unwrap() error { return e.error }

func isFault(err error) bool {
	var inside *fault
	if errors.As(err, &inside) {
		return true
	}
	for _, known := range []error{drivers.ErrOffline, drivers.ErrClosed, drivers.ErrInUse, drivers.ErrNoLine} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// ErrDisabled refuses a command to a device that is not used.
func ErrDisabled() *problem.Error {
	return problem.New(problem.NotNow, "", "the device is disabled: enable it first")
}

// firstLine is an error without the stack that a panic carries.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
