package agent

import (
	"errors"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
)

// Code and the codes are what the files of the site call by a short name, until
// they are a package.
type Code = problem.Code

const (
	Invalid   = problem.Invalid
	NotFound  = problem.NotFound
	Conflict  = problem.Conflict
	Forbidden = problem.Forbidden
	Full      = problem.Full
	NotNow    = problem.NotNow
)

func refuse(code Code, field, format string, args ...any) *problem.Error {
	return problem.New(code, field, format, args...)
}

// AsError sorts any error into the codes. Causes that a caller must not see
// become Internal without detail.
func AsError(err error) *problem.Error {
	var envelope *cloud.EnvelopeError
	if problem.As(err) == nil && errors.As(err, &envelope) {
		return &problem.Error{Code: problem.Invalid, Field: envelope.Field, Message: envelope.Problem}
	}
	return device.AsError(err)
}
