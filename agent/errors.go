package agent

import (
	"roomgate/agent/cloudcommand"
	"roomgate/agent/problem"
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
func AsError(err error) *problem.Error { return cloudcommand.AsError(err) }
