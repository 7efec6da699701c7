package rule

import "roomgate/agent/problem"

// wrong refuses a field, as "trigger.time" or "actions[0].action".
func wrong(field, format string, args ...any) error {
	return problem.New(problem.Invalid, field, format, args...)
}
