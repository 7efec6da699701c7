package console

import (
	"time"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/problem"
)

// Role is what somebody is to the console, from least to most.
type Role int

// The roles.
const (
	Member   Role = iota // sees the rooms, and books them
	Operator             // commands devices too
	Admin                // manages an organization, or the building
	System               // manages the whole building
)

// RoleOf is the role of who asks.
func RoleOf(p access.Principal) Role {
	switch {
	case p.System():
		return System
	case p.Admin:
		return Admin
	case p.May(auth.DevicesWrite):
		return Operator
	}
	return Member
}

// Section is a page of the console.
type Section struct {
	Name   string // in its path, /console/NAME, and in the names of its templates
	Title  string
	Hidden bool // the navigation does not have it: another page leads to it
	Least  Role // who gets less is not shown it
	// Parts are its regions, in order, by the ids of their elements. The template
	// of each is NAME-PART.
	Parts []string
	// View gathers what it shows now, and until when that holds by itself (zero: for
	// good). A view that is a heading gives the page another title.
	View func(l *Look) (view any, until time.Time, err error)
	// Panels are the dialogs that it opens, by the names of their templates, panel-NAME.
	Panels map[string]func(l *Look) (view any, err error)
}

// heading is a view that knows a better title than its section's.
type heading interface{ Heading() string }

// Sees is what every page shows something of. Each person may; a key, or a token that was
// bought with one, may have less.
const Sees = auth.DevicesRead | auth.EventsRead | auth.SpacesRead | auth.BookingsRead

// mayOpen refuses who is not shown a section. That he has [Sees] was asked at the door.
func (l *Look) mayOpen(s Section) error {
	if l.Role() < s.Least {
		return problem.New(problem.Forbidden, "section", "is not for you: ask an admin of the building")
	}
	return nil
}

// sections are the pages of the console, in the order of its navigation.
func sections() []Section {
	return []Section{
		overview(),
		space(),
		events(),
		accept(),
		manage(),
		setUp(),
		displays(), users(), keys(), organizations(), webhooks(), deliveries(), rules(), codes(), changes(), backups(), updates(), supports(),
	}
}

// find is the section of a name.
func find(name string) (Section, bool) {
	for _, s := range sections() {
		if s.Name == name {
			return s, true
		}
	}
	return Section{}, false
}

// panel is the function of a dialog, and the section that has it.
func panel(name string) (s Section, view func(*Look) (any, error), found bool) {
	for _, s := range sections() {
		if view := s.Panels[name]; view != nil {
			return s, view, true
		}
	}
	return s, nil, false
}
