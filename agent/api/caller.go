package api

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// caller is who asks, for what is booked.
func (c *call) caller() schedule.Caller {
	return schedule.Caller{By: c.who.Name, Organizer: c.who.Address(),
		Hidden: func(b *booking.Booking) bool { return hides(&c.who.Principal, b) }}
}

// callerWithRevision says who asks, and which revision he saw. The header is the ETag of
// an earlier answer, or * for any revision.
func (c *call) callerWithRevision() (who schedule.Caller, err error) {
	who = c.caller()
	match := c.r.Header["If-Match"]
	if len(match) == 0 || len(match) == 1 && match[0] == "*" {
		return who, nil
	}
	if quoted := match[0]; len(match) == 1 && len(quoted) > 2 && quoted[0] == '"' && quoted[len(quoted)-1] == '"' {
		who.Revision, _ = strconv.ParseUint(quoted[1:len(quoted)-1], 10, 64) // what is no number is no revision
	}
	if who.Revision == 0 {
		return who, &problem.Error{Code: problem.Stale, Field: "If-Match", Message: `is not the ETag of a booking: send one like "3", quotes included`}
	}
	return who, nil
}

// requestKey derives the command's id from who asks and what the caller calls
// it; empty if it has no name. The same name from another caller is another
// command.
func requestKey(c *call) (string, error) {
	given := c.r.Header[headerIdempotencyKey]
	if len(given) == 0 {
		return "", nil
	}
	if len(given) > 1 || len(given[0]) == 0 || len(given[0]) > longestIdempotencyKey || !visible(given[0]) {
		return "", invalid(headerIdempotencyKey, "is out of range: want 1 to 200 visible characters, once")
	}
	sum := sha256.Sum256([]byte(c.who.Kind + "\x00" + c.who.ID + "\x00" + given[0]))
	return device.OfCallers + hex.EncodeToString(sum[:16]), nil
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
