package agent

import (
	"errors"

	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/store"
)

// Code is why an operation was refused or failed, Error says it, and SlowDown to
// somebody who tried too often.
type (
	Code     = problem.Code
	Error    = problem.Error
	SlowDown = problem.SlowDown
)

// The codes of an Error.
const (
	Invalid      = problem.Invalid
	NotFound     = problem.NotFound
	Conflict     = problem.Conflict
	Forbidden    = problem.Forbidden
	Unauthorized = problem.Unauthorized
	TooMany      = problem.TooMany
	Expired      = problem.Expired
	Unavailable  = problem.Unavailable
	NotFollowed  = problem.NotFollowed
	Full         = problem.Full
	Stale        = problem.Stale
	NotNow       = problem.NotNow
	Busy         = problem.Busy
	Internal     = problem.Internal
)

func refuse(code Code, field, format string, args ...any) *Error {
	return problem.New(code, field, format, args...)
}

// AsError sorts any error into the codes. Causes that a caller must not see
// become Internal without detail.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e := problem.As(err); e != nil {
		return e
	}
	var field *drivers.FieldError
	var envelope *cloud.EnvelopeError
	switch {
	case errors.As(err, &field):
		return &Error{Code: Invalid, Field: field.Field, Message: field.Problem}
	case errors.As(err, &envelope):
		return &Error{Code: Invalid, Field: envelope.Field, Message: envelope.Problem}
	case errors.Is(err, drivers.ErrNotConfirmed):
		return &Error{Code: NotFollowed, Message: err.Error()}
	case errors.Is(err, drivers.ErrUnsupported):
		return &Error{Code: Invalid, Field: "action", Message: err.Error()}
	case errors.Is(err, store.ErrFull):
		return refuse(Full, "", "the gateway's storage is full, nothing was changed: free space or raise store.max_size")
	case isDeviceFault(err):
		return &Error{Code: Unavailable, Message: err.Error()}
	}
	return refuse(Internal, "", "internal error, see the gateway's log")
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
