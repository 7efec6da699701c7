package rule

import "fmt"

// Problem is why a rule was refused, in words that may be shown.
type Problem struct {
	Field   string // at fault, as "trigger.time" or "actions[0].action"
	Message string
}

// Error is the field and the message.
func (p *Problem) Error() string { return p.Field + " " + p.Message }

func wrong(field, format string, args ...any) error {
	return &Problem{Field: field, Message: fmt.Sprintf(format, args...)}
}
