package show

import "fmt"

// UsageError says why what somebody typed cannot be read, and what is wanted.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }
