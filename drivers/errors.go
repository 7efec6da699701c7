package drivers

import (
	"errors"
	"fmt"
)

var (
	// ErrOffline: the hardware certainly does not answer.
	ErrOffline = errors.New("device does not answer")
	// ErrNoValue: the hardware has said that it has no value, or something that
	// cannot be one. It is as definite as ErrOffline: the value before is over.
	ErrNoValue = errors.New("no value")
	// ErrNotConfirmed: the order was given, the read-back did not follow.
	ErrNotConfirmed = errors.New("device did not follow the command")
	// ErrUnsupported: the device has no such action or sub-device.
	ErrUnsupported = errors.New("device does not take this action")
	// ErrNoLine: the board has no line, channel or bus of that name.
	ErrNoLine = errors.New("no such line or bus on this board")
	// ErrInUse: another driver or process holds the line.
	ErrInUse = errors.New("line is in use")
	// ErrPassword: the device, or the broker it is at, refuses the user.
	ErrPassword = errors.New("with this password, correct it and start the gateway again")
	// ErrClosed: the driver or the line was closed.
	ErrClosed = errors.New("device is closed")
)

// FieldError is a value that cannot be accepted, with the name of its field.
type FieldError struct {
	Field   string // as the client or the file spells it
	Problem string // "is out of range: want a number from 0 to 100 %"
}

// Error is the field and the problem, as "value is out of range".
func (e *FieldError) Error() string { return e.Field + " " + e.Problem }

// Unknown refuses a value that an option does not take, with what it takes.
func Unknown(field, value, want string) error {
	if value == "" {
		return &FieldError{field, "is missing: want " + want}
	}
	return &FieldError{field, fmt.Sprintf("is %.64q: want %s", value, want)}
}
