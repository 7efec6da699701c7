package site

import (
	"reflect"
	"slices"

	"roomgate/agent/config"
	"roomgate/drivers"
)

// Opens names what of a change may let somebody in, spaces or devices; empty:
// nothing does. Any device counts, as a light may be put on the line of a lock; a
// space that has a lock now counts, as it may be given to others. In a building with a
// lock what decides over any space counts, as a rule of one space may open another's door.
func (c *Change) Opens() (part string) {
	for key := range c.edits {
		if isDevice(key) {
			return "devices"
		}
		if slices.ContainsFunc(c.was.order, func(s *Space) bool { return spaceKey(s.ID) == key && s.OfType(drivers.TypeLock) != nil }) {
			part = "spaces"
		}
	}
	if !slices.ContainsFunc(c.was.order, func(s *Space) bool { return s.OfType(drivers.TypeLock) != nil }) {
		return part
	}
	for _, s := range c.Next.order {
		if was := c.was.byID[s.ID]; was == nil || !reflect.DeepEqual(decisive(was.Config), decisive(s.Config)) {
			return "spaces"
		}
	}
	return part
}

// decisive is what of a space decides when something happens there, who may book it, or what the condition of a rule
// reads: all but what only describes it.
func decisive(c config.Space) config.Space {
	return config.Space{ID: c.ID, Name: c.Name, OrganizationID: c.Organization(), Timezone: c.Timezone, Enabled: c.Enabled,
		SlotSize: c.SlotSize, AllowCurrentTimeBooking: c.AllowCurrentTimeBooking, AroundTheClock: c.AroundTheClock,
		Booking: c.Booking, Follow: c.Follow, Calendar: c.Calendar}
}
