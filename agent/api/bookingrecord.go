package api

import (
	"net/http"
	"strconv"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// bookingRecord is a booking with every field, also those without a value.
type bookingRecord struct {
	ID             string         `json:"id"`
	SpaceID        string         `json:"meeting_space_id"`
	OrganizationID string         `json:"organization_id"`
	Title          string         `json:"title"`
	Private        bool           `json:"private"`
	Organizer      organizer      `json:"organizer"`
	Start          moment         `json:"start_time"`
	End            moment         `json:"end_time"`
	State          booking.State  `json:"state"`
	Revision       uint64         `json:"revision"`
	Source         booking.Source `json:"source"`
	CheckedInAt    moment         `json:"checked_in_at"`
	ReleasedAt     moment         `json:"released_at"`
	EndedAt        moment         `json:"ended_at"`
	PlannedEnd     moment         `json:"planned_end_time"`
	ExternalID     string         `json:"external_id"`
	CreatedAt      moment         `json:"created_at"`
	UpdatedAt      moment         `json:"updated_at"`
	Reason         string         `json:"reason,omitempty"`
}

// organizer is who organizes a meeting. V1.0 has both fields in any case; in V2.0 the
// address is one, or absent.
type organizer struct {
	Name  string  `json:"name"`
	Email *string `json:"email,omitempty"`
}

func newBookingRecord(b booking.Booking, v2 bool) bookingRecord {
	who := organizer{b.Organizer.Name, &b.Organizer.Email}
	if v2 && b.Organizer.Email == "" {
		who.Email = nil
	}
	return bookingRecord{b.ID, b.SpaceID, b.OrganizationID, b.Title, b.Private, who, moment(b.Start), moment(b.End),
		b.State, b.Revision, b.Source, moment(b.CheckedInAt), moment(b.ReleasedAt), moment(b.EndedAt), moment(b.PlannedEnd),
		b.ExternalID, moment(b.CreatedAt), moment(b.UpdatedAt), b.Reason}
}

// bookingRecord is a booking as who asks sees it.
func (c *call) bookingRecord(b booking.Booking) bookingRecord {
	return newBookingRecord(seenBy(&c.who.Principal, b), c.v2)
}

// caller is who asks, for what is booked.
func (c *call) caller() schedule.Caller {
	return schedule.Caller{By: c.who.Name, Organizer: c.who.Address(),
		Hidden: func(b *booking.Booking) bool { return hides(&c.who.Principal, b) }}
}

// booking answers with a booking. Its ETag is its revision; a new one also
// says where it is.
func (c *call) booking(status int, b booking.Booking) error {
	h := c.w.Header()
	h["Etag"] = []string{`"` + strconv.FormatUint(b.Revision, 10) + `"`}
	if status == http.StatusCreated {
		h["Location"] = []string{c.root() + "/bookings/" + b.ID}
	}
	return c.json(status, c.bookingRecord(b))
}

// options says who asks, and which revision he saw. The header is the ETag of
// an earlier answer, or * for any revision.
func (c *call) options() (o schedule.Caller, err error) {
	o = c.caller()
	match := c.r.Header["If-Match"]
	if len(match) == 0 || len(match) == 1 && match[0] == "*" {
		return o, nil
	}
	if quoted := match[0]; len(match) == 1 && len(quoted) > 2 && quoted[0] == '"' && quoted[len(quoted)-1] == '"' {
		o.Revision, _ = strconv.ParseUint(quoted[1:len(quoted)-1], 10, 64) // what is no number is no revision
	}
	if o.Revision == 0 {
		return o, &problem.Error{Code: problem.Stale, Field: "If-Match", Message: `is not the ETag of a booking: send one like "3", quotes included`}
	}
	return o, nil
}
