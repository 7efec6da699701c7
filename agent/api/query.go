package api

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
	"roomgate/drivers"
)

// query is the checked query of a request: only known names, each once.
type query struct{ values url.Values }

// query reads the request's query, which may have only these names.
func (c *call) query(known ...string) (query, error) {
	if c.r.URL.RawQuery == "" {
		return query{}, nil
	}
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return query{}, &problem.Error{Code: malformed, Message: "the query cannot be read: escape it as a URL wants"}
	}
	known = c.wording.names(known)
	for name, given := range values {
		if !slices.Contains(known, name) {
			return query{}, c.worded(invalid(strict.Clip(name), "is not known: want "+strings.Join(known, ", ")))
		}
		if len(given) > 1 {
			return query{}, c.worded(invalid(name, "is there twice: send it once"))
		}
	}
	c.wording.literal(values)
	return query{values}, nil
}

func (q query) text(name string) string { return q.values.Get(name) }

// time reads an RFC 3339 time; zero if there is none.
func (q query) time(name string) (time.Time, error) {
	s := q.text(name)
	if s == "" {
		return time.Time{}, nil
	}
	if n := len(s) - len(" 01:00"); n > 0 && s[n] == ' ' { // the plus of an offset that was not escaped
		s = s[:n] + "+" + s[n+1:]
	}
	return strict.ParseTime(name, s)
}

// number reads a whole number from low to high; without if there is none.
func (q query) number(name string, low, high, without uint64) (uint64, error) {
	s := q.text(name)
	if s == "" {
		return without, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n < low || n > high {
		return 0, invalid(name, "is out of range: want a whole number from "+strconv.FormatUint(low, 10)+" to "+strconv.FormatUint(high, 10))
	}
	return n, nil
}

// duration reads a time span from 0 to longest.
func duration(field, s string, longest time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if seconds, bare := bareSeconds(s); bare {
		d, err = seconds, nil
	}
	if err != nil || d < 0 || d > longest {
		return 0, invalid(field, "is out of range: want a duration from 0s to "+longest.String()+", as 30s or 30")
	}
	return d, nil
}

// bareSeconds reads a number without a unit, which is of seconds.
func bareSeconds(s string) (time.Duration, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(f) < strict.MaxWhole/1e9) {
		return 0, false
	}
	return time.Duration(f * float64(time.Second)), true
}

// typeAll stands for every device of a space in a status request.
const typeAll = "all"

// unknownType refuses a device type that the platform does not have.
func unknownType(deviceType string, also ...string) error {
	known := append(also, drivers.Types()...)
	if slices.Contains(known, deviceType) {
		return nil
	}
	return invalid("device_type", "is not known: want one of "+strings.Join(known, ", "))
}
