package booking

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// State is where a booking stands.
type State string

// The life of a booking. Booked and CheckedIn ones hold their time, the others
// are for the record.
const (
	Booked    State = "booked"
	CheckedIn State = "checked_in"
	Ended     State = "ended"     // it was over, or was ended early
	Cancelled State = "cancelled" // taken back before it began
	Released  State = "released"  // nobody came
	Displaced State = "displaced" // another booking has the better right
)

// Source is where a booking was made.
type Source string

// The sources of a booking.
const (
	Local    Source = "local"    // in the building
	Cloud    Source = "cloud"    // by the cloud backend
	Calendar Source = "calendar" // read from an external calendar
	WalkUp   Source = "walk_up"  // by somebody who stood in the room
)

// Person is who organizes a meeting.
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
}

// Arrival is when people checked in; zero: they did not.
type Arrival struct {
	CheckedInAt time.Time `json:"checked_in_at,omitzero"`
	// CheckedInBy is Cloud where the cloud asked for the check-in, which opens no door;
	// empty: somebody in the building did.
	CheckedInBy Source `json:"checked_in_by,omitempty"`
}

// Ending is when a booking was over before its time; zero times: it was not.
type Ending struct {
	ReleasedAt time.Time `json:"released_at,omitzero"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	// PlannedEnd is the end that was booked, where End is another.
	PlannedEnd time.Time `json:"planned_end_time,omitzero"`
}

// Booking is the use of a meeting space from Start until before End, in UTC.
type Booking struct {
	ID             string `json:"id"`
	SpaceID        string `json:"meeting_space_id"`
	OrganizationID string `json:"organization_id,omitempty"`
	Title          string `json:"title,omitempty"`
	Private        bool   `json:"private,omitempty"` // hides the organizer too
	Organizer      Person `json:"organizer"`

	Start time.Time `json:"start_time"`
	End   time.Time `json:"end_time"`
	State State     `json:"state"`
	// Revision counts the changes, from 1.
	Revision uint64 `json:"revision"`
	Source   Source `json:"source"`

	Arrival
	Ending
	ExternalID string    `json:"external_id,omitempty"` // at its source
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`

	// Reason says why it was released, displaced or ended for somebody.
	Reason string `json:"reason,omitempty"`
	// CloudRevision is the schedule revision by which the cloud first knew the
	// booking; 0: it does not yet.
	CloudRevision uint64 `json:"cloud_revision,omitempty"`

	Origin `json:"-"`
}

// Origin says whose word the times of a booking are. It stays in the building.
type Origin struct {
	// Unsigned: they came from the cloud, or from a calendar by plain http, and nobody has
	// signed them.
	Unsigned bool
	Vouched  Interval // when it was to be before, then; zero: nobody had said
}

// Doubt notes that somebody whose word opens no door has made b of was, if it was known.
func (b *Booking) Doubt(was Booking, known bool) {
	b.Unsigned, b.Vouched = true, was.Vouched
	if known && !was.Unsigned && was.Live() {
		b.Vouched = Interval{was.Start, was.End}
	}
}

// Is says whether the person has that address. Nobody has none.
func (p Person) Is(email string) bool { return email != "" && strings.EqualFold(p.Email, email) }

// Live says whether the booking holds its time.
func (b Booking) Live() bool { return b.State == Booked || b.State == CheckedIn }

// Overlaps says whether the booking and the interval share a moment.
func (b Booking) Overlaps(start, end time.Time) bool {
	return b.Start.Before(end) && start.Before(b.End)
}

// Interval is a time that is taken, half-open.
type Interval struct {
	Start time.Time `json:"start_time"`
	End   time.Time `json:"end_time"`
}

// The bounds of what a booking may hold, in bytes.
const (
	maxTitle = 500
	maxName  = 200
)

// idPattern is what an id may look like: it goes into paths and feeds.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]*$`)

func isID(s string) bool { return len(s) <= 128 && idPattern.MatchString(s) }

var emailPattern = regexp.MustCompile(`^[^\s@<>"]+@[^\s@<>"]+$`)

// isEmail refuses what can be no address; who owns it is not asked.
func isEmail(s string) bool {
	person, host, _ := strings.Cut(s, "@")
	return utf8.RuneCountInString(person) <= 64 && utf8.RuneCountInString(host) <= 189 && emailPattern.MatchString(s)
}

// check refuses texts that cannot be kept.
func (b Booking) check() error {
	switch {
	case !isID(b.ID):
		return invalid("id", "is not one: want 1 to 128 of a-z A-Z 0-9 . _ : @ -")
	case len(b.Title) > maxTitle:
		return invalid("title", "is longer than %d bytes", maxTitle)
	case len(b.Organizer.Name) > maxName:
		return invalid("organizer.name", "is longer than %d bytes", maxName)
	case b.Organizer.Email != "" && !isEmail(b.Organizer.Email):
		return invalid("organizer.email", "is no e-mail address")
	case len(b.ExternalID) > 2*maxTitle:
		return invalid("external_id", "is longer than %d bytes", 2*maxTitle)
	case len(b.OrganizationID) > maxName:
		return invalid("organization_id", "is longer than %d bytes", maxName)
	}
	return nil
}
