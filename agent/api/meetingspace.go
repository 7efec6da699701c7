package api

import (
	"net/http"
	"slices"
	"strings"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/strict"
)

// meetingSpaces answers with the platform's record of every space that who
// asks sees, bare.
func meetingSpaces(s *Server, c *call) error {
	hidden := func(m site.MeetingSpace) bool { return !s.visibility.sees(&c.who, m.ID) }
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	seen := slices.DeleteFunc(s.agent.Site.MeetingSpaces(), hidden)
	if c.v2 {
		return list(c, q, seen, spaceID, newSpaceRecord)
	}
	return c.json(http.StatusOK, seen)
}

// The bounds of a slot, in minutes.
const (
	shortestSlot = 5
	longestSlot  = 240
)

// storeAvailability sets when and how a space may be booked, over its
// configuration, and answers with what is in force then.
func storeAvailability(s *Server, c *call) error {
	var v schedule.Availability
	var slot *int64
	err := c.decode(strict.Given("enabled", &v.Enabled), strict.Given("slot_size", &slot),
		strict.Given("allow_current_time_booking", &v.AllowCurrentTimeBooking),
		strict.Given("24_hr_available", &v.AroundTheClock),
		strict.Optional("hours", func(field string, value []byte) error { return decodeHours(&v, field, value) }))
	if err != nil {
		return err
	}
	if slot != nil {
		if *slot < shortestSlot || *slot > longestSlot {
			return invalid("slot_size", "is out of range: want 5 to 240 minutes")
		}
		v.SlotSize = new(int(*slot))
	}
	if err := alignHours(&v); err != nil {
		return err
	}
	if v, err = s.agent.Bookings.SetAvailability(c.r.Context(), c.params[0], v); err != nil {
		return err
	}
	if c.v2 {
		return c.response(newTypedAvailability(v))
	}
	return c.response(v)
}

// alignHours makes hours and 24_hr_available agree: who names the one has said the
// other.
func alignHours(v *schedule.Availability) error {
	hours := v.Hours != nil && *v.Hours != config.Hours{}
	switch {
	case hours && v.AroundTheClock != nil && *v.AroundTheClock:
		return problem.New(problem.Invalid, "hours", "have no meaning with %v: send one of them", problem.FieldName("24_hr_available"))
	case hours:
		v.AroundTheClock = new(false)
	case v.AroundTheClock != nil && *v.AroundTheClock:
		v.Hours = &config.Hours{}
	}
	return nil
}

// decodeHours reads the opening hours of the days of a week. A day that is not
// named is closed.
func decodeHours(v *schedule.Availability, field string, value []byte) error {
	v.Hours = &config.Hours{}
	days := []struct {
		name  string
		hours *string
	}{{"monday", &v.Hours.Monday}, {"tuesday", &v.Hours.Tuesday}, {"wednesday", &v.Hours.Wednesday}, {"thursday", &v.Hours.Thursday},
		{"friday", &v.Hours.Friday}, {"saturday", &v.Hours.Saturday}, {"sunday", &v.Hours.Sunday}}
	members := make([]strict.Member, len(days))
	for i, d := range days {
		members[i] = strict.Optional(d.name, d.hours)
	}
	if err := strict.Value(members, field, value); err != nil {
		return err
	}
	for _, d := range days {
		if *d.hours = strings.TrimSpace(*d.hours); *d.hours == "" {
			continue
		}
		if _, err := booking.ParseHours(*d.hours); err != nil {
			return invalid(field+"."+d.name, "are not hours: want them like 08:00-18:30, or closed")
		}
	}
	return nil
}
