package access

import (
	"context"
	"maps"
	"slices"
	"strings"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/store"
)

// User is a person who may sign in.
type User struct {
	ID             string    `json:"id"`
	Email          string    `json:"email"`
	Name           string    `json:"name"`
	Role           auth.Role `json:"role"`
	OrganizationID string    `json:"organization_id,omitempty"` // empty: the whole building
	Enabled        bool      `json:"enabled"`

	stamp string // what his tokens carry; another one ends them
}

// principal is who signed in.
func (u *User) principal() Principal {
	return Principal{ID: u.ID, Name: u.Name, Kind: KindUser, OrganizationID: u.OrganizationID,
		Permissions: u.Role.Permissions(), Role: u.Role, Email: u.Email, Admin: u.Role == auth.RoleAdmin}
}

// roster holds the users in memory. It is replaced whole, never changed.
type roster struct {
	people  []config.Person
	marks   map[string]storedUser
	byID    map[string]*User
	byEmail map[string]*User
}

// newRoster lays what was decided here over what the configuration says.
func newRoster(keys *auth.Keys, people []config.Person, marks map[string]storedUser) *roster {
	r := &roster{people: people, marks: marks, byID: map[string]*User{}, byEmail: map[string]*User{}}
	for _, p := range people {
		email, err := auth.ParseEmail(p.Email)
		if err != nil {
			continue // the configuration was checked
		}
		mark := marks[p.ID]
		u := &User{ID: p.ID, Email: email, Name: p.Name, Role: auth.Role(p.Role), OrganizationID: p.OrganizationID,
			Enabled: p.Enabled && !mark.Disabled, stamp: keys.Stamp(mark.Generation, email)}
		r.byID[u.ID], r.byEmail[email] = u, u
	}
	return r
}

// loadUsers lays what was decided about users over those who may sign in.
func (d *Directory) loadUsers(people []config.Person) error {
	marks := map[string]storedUser{}
	err := d.db.View(func(tx *store.Tx) error {
		for id, m := range userMarks.All(tx) {
			marks[id] = m
		}
		return nil
	})
	d.setUsers(people, marks)
	return err
}

// setUsers replaces the users. Who is no longer there, is disabled, or has
// another address loses access at once.
func (d *Directory) setUsers(people []config.Person, marks map[string]storedUser) {
	d.users.Store(newRoster(d.keys, people, marks))
	d.changed.Wake()
}

// Users returns every user, by id.
func (d *Directory) Users() []User {
	all := []User{}
	for _, u := range d.users.Load().byID {
		all = append(all, *u)
	}
	slices.SortFunc(all, func(x, y User) int { return strings.Compare(x.ID, y.ID) })
	return all
}

// EnableUser lets a user in or keeps him out, from now on and after a restart.
// Tokens from before he was kept out stay dead.
func (d *Directory) EnableUser(ctx context.Context, id string, enabled bool) error {
	return d.markUser(ctx, id, func(p config.Person, m *storedUser) error {
		if enabled && !p.Enabled {
			return problem.New(problem.NotNow, "id", "is disabled by the configuration: enable the user there")
		}
		if m.Disabled == enabled {
			m.Generation++
		}
		m.Disabled = !enabled
		return nil
	})
}

// SignOut ends every token of a user.
func (d *Directory) SignOut(ctx context.Context, id string) error {
	return d.markUser(ctx, id, func(_ config.Person, m *storedUser) error {
		m.Generation++
		return nil
	})
}

// SignOutAll ends every token there is: those of users, and those that API keys have
// bought. Keys stay good, and everybody may sign in again.
func (d *Directory) SignOutAll(ctx context.Context) error { return d.signing.rotate(ctx, true) }

func (d *Directory) markUser(ctx context.Context, id string, change func(config.Person, *storedUser) error) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	known := d.users.Load()
	i := slices.IndexFunc(known.people, func(p config.Person) bool { return p.ID == id })
	if i < 0 {
		return problem.New(problem.NotFound, "id", "is not a user of this gateway")
	}
	mark := known.marks[id]
	if err := change(known.people[i], &mark); err != nil {
		return err
	}
	if err := d.db.Update(ctx, func(tx *store.Tx) error { return userMarks.Put(tx, id, mark) }); err != nil {
		return err
	}
	marks := maps.Clone(known.marks)
	marks[id] = mark
	d.setUsers(known.people, marks)
	return nil
}

// User returns the user with an id, or nil. He is not to be changed.
func (d *Directory) User(id string) *User { return d.users.Load().byID[id] }

// UserByEmail returns the user with an address as auth.ParseEmail returns it, or
// nil. He is not to be changed.
func (d *Directory) UserByEmail(address string) *User { return d.users.Load().byEmail[address] }

// People returns who may sign in, as configured: also who was disabled here. They
// are not to be changed.
func (d *Directory) People() []config.Person { return d.users.Load().people }

// Admins returns who looks after an organization, or with an empty id after the
// building, by id.
func (d *Directory) Admins(organizationID string) []User {
	return slices.DeleteFunc(d.Users(), func(u User) bool {
		return !u.Enabled || u.Role != auth.RoleAdmin || u.OrganizationID != "" && u.OrganizationID != organizationID
	})
}

// Of says whether an organization, or with an empty id the building, knows the
// user.
func (u *User) Of(organizationID string) bool {
	return organizationID == "" || u.OrganizationID == organizationID
}
