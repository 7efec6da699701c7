package api

import (
	"slices"
	"strconv"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/schedule"
	"roomgate/agent/strict"
)

// bookingFields is what a request says of a booking; nil is nothing.
type bookingFields struct {
	id, space, organization, title, source, external *string

	private    *bool
	organizer  *booking.Person
	start, end *time.Time
	minutes    *int64
	revision   *int64

	booker booking.Person // organizes what is made without an organizer
}

// What an operation takes.
var (
	createFields = append([]string{"id", "meeting_space_id", "source"}, updateFields...)
	updateFields = []string{"organization_id", "title", "private", "organizer", "start_time", "end_time", "minutes", "external_id"}
	extendFields = []string{"end_time", "minutes"}
)

// members are those of the request that have these names.
func (f *bookingFields) members(names ...string) []strict.Member {
	all := []strict.Member{strict.Given("id", &f.id), strict.Given("meeting_space_id", &f.space),
		strict.Given("organization_id", &f.organization), strict.Given("title", &f.title),
		strict.Given("private", &f.private), strict.Optional("organizer", f.decodeOrganizer),
		strict.Given("start_time", &f.start), strict.Given("end_time", &f.end),
		strict.Given("minutes", &f.minutes), strict.Given("source", &f.source),
		strict.Given("external_id", &f.external), strict.Given("revision", &f.revision)}
	return slices.DeleteFunc(all, func(m strict.Member) bool { return !slices.Contains(names, m.Name) })
}

func (f *bookingFields) decodeOrganizer(field string, value []byte) error {
	f.organizer = &booking.Person{}
	return strict.Value([]strict.Member{strict.Optional("name", &f.organizer.Name), strict.Optional("email", &f.organizer.Email)}, field, value)
}

// longestMinutes bounds a length in minutes; what a space allows is less.
const longestMinutes = 31 * 24 * 60

// check refuses what contradicts itself, before anything is looked up. Times
// are kept to the millisecond, as they are shown.
func (f *bookingFields) check() error {
	for _, t := range []*time.Time{f.start, f.end} {
		if t != nil {
			*t = t.Truncate(time.Millisecond)
		}
	}
	switch {
	case f.id != nil && *f.id == "":
		return invalid("id", "is empty: leave it out, and one is made")
	case f.source != nil && *f.source != string(booking.Local) && *f.source != string(booking.WalkUp):
		return invalid("source", "is not known: want local or walk_up")
	case f.minutes != nil && f.end != nil:
		return invalid("minutes", "has no meaning with end_time: send one of them")
	case f.minutes != nil && (*f.minutes < 1 || *f.minutes > longestMinutes):
		return invalid("minutes", "is out of range: want a whole number from 1 to "+strconv.Itoa(longestMinutes))
	}
	return nil
}

func (f *bookingFields) walkUp() bool { return value(f.source) == string(booking.WalkUp) }

// ownOrganizer makes a person the organizer of what he books. Another one that he
// names is left to be refused.
func (f *bookingFields) ownOrganizer(who *access.Principal) {
	self := booking.Person{Name: who.Name, Email: who.Email}
	switch {
	case who.Kind != access.KindUser || who.Personal() && who.Address() == "":
	case f.organizer == nil:
		f.booker = self
	case who.Personal() && (f.organizer.Email == "" || f.organizer.Is(self.Email)):
		f.organizer = &self
	}
}

// match takes the revision that the request names beside the fields.
func (f *bookingFields) match(who *schedule.Caller) error {
	if f.revision == nil {
		return nil
	}
	if *f.revision < 1 {
		return invalid("revision", "is out of range: want that of an earlier answer")
	}
	who.Revision = uint64(*f.revision)
	return nil
}

// length is what minutes stand for; 0: nothing.
func (f *bookingFields) length() time.Duration { return time.Duration(value(f.minutes)) * time.Minute }

// asked is the booking to be made. A walk-up need not name its times.
func (f *bookingFields) asked() (booking.Booking, error) {
	b := booking.Booking{ID: value(f.id), SpaceID: value(f.space), OrganizationID: value(f.organization), Title: value(f.title),
		Private: value(f.private), Organizer: value(f.organizer), Start: value(f.start), End: value(f.end),
		ExternalID: value(f.external), Source: booking.Source(value(f.source))}
	if f.organizer == nil {
		b.Organizer = f.booker
	}
	switch {
	case b.SpaceID == "":
		return b, invalid("meeting_space_id", "is missing")
	case b.Start.IsZero() && !f.walkUp():
		return b, invalid("start_time", "is missing")
	case b.End.IsZero() && f.minutes == nil && !f.walkUp():
		return b, invalid("end_time", "is missing: send it, or minutes")
	}
	if f.minutes != nil && !b.Start.IsZero() {
		b.End = b.Start.Add(f.length())
	}
	return b, nil
}

// edit is the change to be made to a booking that exists.
func (f *bookingFields) edit() (booking.Edit, error) {
	e := booking.Edit{Title: f.title, Private: f.private, Organizer: f.organizer, Start: f.start, End: f.end,
		ExternalID: f.external, OrganizationID: f.organization}
	if f.minutes == nil {
		return e, nil
	}
	if f.start == nil {
		return e, invalid("minutes", "has no meaning without start_time here: send that too, or end_time instead")
	}
	end := f.start.Add(f.length())
	e.End = &end
	return e, nil
}

// fits refuses to make another booking of one that exists.
func (f *bookingFields) fits(b booking.Booking) error {
	switch {
	case f.space != nil && *f.space != b.SpaceID:
		return invalid("meeting_space_id", "cannot be changed: cancel the booking and book the other space")
	case f.source != nil && *f.source != string(b.Source):
		return invalid("source", "cannot be changed: leave it out")
	}
	return nil
}

// value is what a pointer leads to, or nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
