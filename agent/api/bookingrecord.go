package api

import (
	"net/http"
	"strconv"

	"roomgate/agent/booking"
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
