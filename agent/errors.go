package agent

import (
	"errors"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
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
	var envelope *cloud.EnvelopeError
	if problem.As(err) == nil && errors.As(err, &envelope) {
		return &Error{Code: Invalid, Field: envelope.Field, Message: envelope.Problem}
	}
	return device.AsError(err)
}
