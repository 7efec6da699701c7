package problem

import "time"

// SlowDown refuses somebody who tried too often.
type SlowDown struct {
	After   time.Duration // whole seconds; then he may try again
	Refusal *Error
}

// Error is the refusal.
func (s *SlowDown) Error() string { return s.Refusal.Error() }

// Unwrap is the refusal.
func (s *SlowDown) Unwrap() error { return s.Refusal }

// TooOften makes a SlowDown that says what was too much; wait is rounded up to
// a later full second.
func TooOften(what string, wait time.Duration) *SlowDown {
	wait = wait.Truncate(time.Second) + time.Second
	return &SlowDown{wait, New(TooMany, "", "%s: try again in %v", what, wait)}
}
