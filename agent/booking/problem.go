package booking

import "roomgate/agent/problem"

func invalid(field, format string, args ...any) error {
	return problem.New(problem.Invalid, field, format, args...)
}

func notNow(format string, args ...any) error {
	return problem.New(problem.NotNow, "", format, args...)
}

// taken names the interval in the way.
func taken(busy Interval) error {
	e := problem.New(problem.Conflict, "start_time", "is not free: the space is booked %s", span(busy.Start, busy.End))
	e.Busy = &problem.Interval{Start: busy.Start, End: busy.End}
	return e
}
