package api

import (
	"roomgate/agent"
	"roomgate/agent/problem"
)

// scope refuses what a value in a path names, if it is of an organization that
// who asks does not see.
type scope func(s visibility, who *principal, id string) error

// scopes are those of the values in paths. A key says itself whose it is.
var scopes = map[string]scope{
	"{meeting_space_id}": visibility.ownSpace,
	"{device_id}":        visibility.ownDevice,
	"{booking_id}":       visibility.ownBooking,
	"{organization_id}":  visibility.ownOrganization,
	"{webhook_id}":       visibility.ownHook,
	"{user_id}":          visibility.ownUser,
	"{rule_id}":          visibility.ownRule,
	"{message_id}":       visibility.ownMessage,
}

// visibility says what of the building somebody sees.
type visibility struct{ agent *agent.Agent }

// nobody is an id that nothing has. A thing that somebody must not see is refused as
// this is, so that nothing tells the two apart.
const nobody = ""

// within refuses what the path names, if who asks does not see it.
func (s visibility) within(c *call, o *endpoint) error {
	if !c.who.Bounded() {
		return nil
	}
	for i, own := range o.scopes {
		if own == nil {
			continue
		}
		if err := own(s, &c.who, c.params[i]); err != nil {
			return err
		}
	}
	return nil
}

// ownSpace refuses a space that who asks does not see as one that is not
// there. It is also for handlers whose body or query names one.
func (s visibility) ownSpace(who *principal, id string) error {
	if !who.Bounded() {
		return nil
	}
	organization, err := s.agent.Site.OrganizationOf(id)
	if err == nil && (!who.Sees(organization) || who.SpaceID != "" && who.SpaceID != id) {
		_, err = s.agent.Site.OrganizationOf(nobody)
	}
	return err
}

func (s visibility) ownDevice(who *principal, id string) error {
	space, err := s.agent.Site.SpaceOfDevice(id)
	if err == nil && s.ownSpace(who, space) != nil {
		_, err = s.agent.Site.SpaceOfDevice(nobody)
	}
	return err
}

func (s visibility) ownBooking(who *principal, id string) error {
	b, err := s.agent.Bookings.Get(id)
	if err == nil && s.ownSpace(who, b.SpaceID) != nil {
		_, err = s.agent.Bookings.Get(nobody)
	}
	return err
}

func (s visibility) ownOrganization(who *principal, id string) error {
	if who.Sees(id) {
		return nil
	}
	_, err := s.agent.Access.Organization(nobody)
	return err
}

func (s visibility) ownHook(who *principal, id string) error {
	w, err := s.agent.Webhooks.Get(id)
	if err == nil && !who.Sees(w.OrganizationID) {
		_, err = s.agent.Webhooks.Get(nobody)
	}
	return err
}

// sees says whether who asks sees a space, for lists.
func (s visibility) sees(who *principal, spaceID string) bool {
	return !who.Bounded() || s.ownSpace(who, spaceID) == nil
}

// ownFields refuses bookings of spaces that who asks does not see, also where
// the body names them, and bookings for another organization. His bookings are
// his organization's.
func (s visibility) ownFields(who *principal, operation string, f *bookingFields) error {
	own := &who.OrganizationID
	if *own == "" {
		return nil
	}
	if f.organization != nil && *f.organization != *own {
		return invalid("organization_id", "is not yours: leave it out")
	}
	if operation != opCreate {
		return s.ownBooking(who, value(f.id))
	}
	if f.space != nil {
		if err := s.ownSpace(who, *f.space); err != nil {
			return err
		}
	}
	if f.id != nil {
		if _, err := s.agent.Bookings.Get(*f.id); err == nil { // it is changed
			if s.ownBooking(who, *f.id) != nil {
				return &problem.Error{Code: problem.Conflict, Field: "id", Message: "was used before for another booking: choose a new one"}
			}
			return nil
		}
	}
	f.organization = own
	return nil
}
