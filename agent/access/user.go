package access

import (
	"cmp"
	"context"
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
	Made           bool      `json:"made_here"` // and not by the configuration

	stamp string // what his tokens carry; another one ends them
}

// principal is who signed in.
func (u *User) principal() Principal {
	return Principal{ID: u.ID, Name: u.Name, Kind: KindUser, OrganizationID: u.OrganizationID,
		Permissions: u.Role.Permissions(), Role: u.Role, Email: u.Email, Admin: u.Role == auth.RoleAdmin}
}

// roster holds the users in memory. It is replaced whole, never changed.
type roster struct {
	configured []config.Person
	people     []config.Person // also those who were made here
	marks      map[string]storedUser
	byID       map[string]*User
	byEmail    map[string][]*User // who signs in first, then the others, one of each organization
}

// newRoster lays what was decided here over what the configuration says. Where the
// configuration names the id of somebody who was made here, or his address for the same
// organization, it counts; he is kept out until it does not any more.
func newRoster(keys *auth.Keys, configured []config.Person, marks map[string]storedUser) *roster {
	r := &roster{configured: configured, people: configured, marks: marks, byID: map[string]*User{}, byEmail: map[string][]*User{}}
	for _, p := range configured {
		r.add(keys, p, false)
	}
	for _, p := range made(marks) {
		if r.byID[p.ID] != nil {
			continue
		}
		p.Enabled = r.of(p.Email, p.OrganizationID) == nil
		r.people = append(slices.Clip(r.people), p)
		r.add(keys, p, true)
	}
	for _, users := range r.byEmail {
		slices.SortStableFunc(users, func(x, y *User) int { return cmp.Compare(y.first(), x.first()) })
	}
	return r
}

func (r *roster) add(keys *auth.Keys, p config.Person, made bool) {
	email, err := auth.ParseEmail(p.Email)
	if err != nil {
		return // the configuration was checked
	}
	mark := r.marks[p.ID]
	u := &User{ID: p.ID, Email: email, Name: p.Name, Role: auth.Role(p.Role), OrganizationID: p.OrganizationID,
		Enabled: p.Enabled && !mark.Disabled, Made: made, stamp: keys.Stamp(mark.Generation, email)}
	r.byID[u.ID] = u
	r.byEmail[email] = append(r.byEmail[email], u)
}

// first ranks the users of one address: who is let in, and then who is of the building.
func (u *User) first() (rank int) {
	if u.Enabled {
		rank = 2
	}
	if u.OrganizationID == "" {
		rank++
	}
	return rank
}

// of is the user with an address in an organization, or with an empty id in none.
func (r *roster) of(email, organizationID string) *User {
	i := slices.IndexFunc(r.byEmail[email], func(u *User) bool { return u.OrganizationID == organizationID })
	if i < 0 {
		return nil
	}
	return r.byEmail[email][i]
}

// several are the organizations of an address of which none says by itself who signs in: who
// makes a user is not who decides where others come in.
func (r *roster) several(email string) (organizations []string) {
	for _, u := range r.byEmail[email] {
		if !u.Enabled {
			continue // he comes in nowhere
		}
		if u.OrganizationID == "" || !u.Made {
			return nil // no organization has made him
		}
		organizations = append(organizations, u.OrganizationID)
	}
	if len(organizations) < 2 {
		return nil
	}
	return organizations
}

// signsIn is who comes in with an address: the user in an organization, or if that is empty
// the first one. nil: nobody.
func (r *roster) signsIn(email, organizationID string) *User {
	u := r.of(email, organizationID)
	if users := r.byEmail[email]; organizationID == "" && len(users) > 0 {
		u = users[0]
	}
	if u == nil || !u.Enabled {
		return nil
	}
	return u
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

// setUsers replaces the users. A person who is no longer there, is disabled, or has
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
		switch {
		case enabled && !p.Enabled && d.users.Load().byID[id].Made:
			return problem.New(problem.NotNow, "id", "has an address that the configuration names for another user: remove this one, or that")
		case enabled && !p.Enabled:
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
func (d *Directory) SignOutAll(ctx context.Context) error {
	if err := d.signing.rotate(ctx, true); err != nil {
		return err
	}
	return d.ended.forget(ctx, d.db)
}

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
	return putMark(ctx, d, id, mark, nil)
}

// User returns the user with an id, or nil. He is not to be changed.
func (d *Directory) User(id string) *User { return d.users.Load().byID[id] }

// UserByEmail returns the user with an address as auth.ParseEmail returns it in an
// organization, or with an empty id the one who signs in first; nil: there is none. He is not
// to be changed.
func (d *Directory) UserByEmail(address, organizationID string) *User {
	return d.users.Load().signsIn(address, organizationID)
}

// People returns who may sign in, as configured or made here: also who was disabled
// here. They are not to be changed.
func (d *Directory) People() []config.Person { return d.users.Load().people }

// Admins returns who looks after an organization, or with an empty id after the
// building, by id.
func (d *Directory) Admins(organizationID string) []User {
	return slices.DeleteFunc(d.Users(), func(u User) bool {
		return !u.Enabled || u.Role != auth.RoleAdmin || u.OrganizationID != "" && u.OrganizationID != organizationID
	})
}
