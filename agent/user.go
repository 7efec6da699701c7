package agent

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"roomgate/agent/auth"
	"roomgate/agent/config"
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
		Permissions: u.Role.Permissions(), Admin: u.Role == auth.RoleAdmin}
}

// directory holds the users in memory. It is replaced whole, never changed.
type directory struct {
	people  []config.Person
	marks   map[string]storedUser
	byID    map[string]*User
	byEmail map[string]*User
}

// users is the directory.
type users struct{ known atomic.Pointer[directory] }

// newDirectory lays what was decided here over what the configuration says.
func newDirectory(keys *auth.Keys, people []config.Person, marks map[string]storedUser) *directory {
	d := &directory{people: people, marks: marks, byID: map[string]*User{}, byEmail: map[string]*User{}}
	for _, p := range people {
		email, err := auth.ParseEmail(p.Email)
		if err != nil {
			continue // the configuration was checked
		}
		mark := marks[p.ID]
		u := &User{ID: p.ID, Email: email, Name: p.Name, Role: auth.Role(p.Role), OrganizationID: p.OrganizationID,
			Enabled: p.Enabled && !mark.Disabled, stamp: keys.Stamp(mark.Generation, email)}
		d.byID[u.ID], d.byEmail[email] = u, u
	}
	return d
}

// loadUsers reads what was decided about users.
func (a *Agent) loadUsers() error {
	marks := map[string]storedUser{}
	var people []config.Person
	err := a.db.View(func(tx *store.Tx) (err error) {
		for id, m := range userMarks.All(tx) {
			marks[id] = m
		}
		people, err = a.loadCloudUsers(tx)
		return err
	})
	a.setUsers(people, marks)
	return err
}

// setUsers replaces the users. Who is no longer there, is disabled, or has
// another address loses access at once.
func (a *Agent) setUsers(people []config.Person, marks map[string]storedUser) {
	a.signIn.users.known.Store(newDirectory(a.signIn.keys, people, marks))
	a.signIn.changed.Wake()
}

// Users returns every user, by id.
func (a *Agent) Users() []User {
	all := []User{}
	for _, u := range a.signIn.users.known.Load().byID {
		all = append(all, *u)
	}
	slices.SortFunc(all, func(x, y User) int { return strings.Compare(x.ID, y.ID) })
	return all
}

// EnableUser lets a user in or keeps him out, from now on and after a restart.
// Tokens from before he was kept out stay dead.
func (a *Agent) EnableUser(ctx context.Context, id string, enabled bool) error {
	return a.markUser(ctx, id, func(p config.Person, m *storedUser) error {
		if enabled && !p.Enabled {
			return refuse(NotNow, "id", "is disabled by the configuration: enable the user there")
		}
		if m.Disabled == enabled {
			m.Generation++
		}
		m.Disabled = !enabled
		return nil
	})
}

// SignOut ends every token of a user.
func (a *Agent) SignOut(ctx context.Context, id string) error {
	return a.markUser(ctx, id, func(_ config.Person, m *storedUser) error {
		m.Generation++
		return nil
	})
}

func (a *Agent) markUser(ctx context.Context, id string, change func(config.Person, *storedUser) error) error {
	a.signIn.change.Lock()
	defer a.signIn.change.Unlock()
	known := a.signIn.users.known.Load()
	i := slices.IndexFunc(known.people, func(p config.Person) bool { return p.ID == id })
	if i < 0 {
		return refuse(NotFound, "id", "is not a user of this gateway")
	}
	mark := known.marks[id]
	if err := change(known.people[i], &mark); err != nil {
		return err
	}
	if err := a.db.Update(ctx, func(tx *store.Tx) error { return userMarks.Put(tx, id, mark) }); err != nil {
		return err
	}
	marks := maps.Clone(known.marks)
	marks[id] = mark
	a.setUsers(known.people, marks)
	return nil
}

// MailAdmins sends a text to those who look after an organization, or with an
// empty id after the building. It is queued when MailAdmins returns nil.
func (a *Agent) MailAdmins(ctx context.Context, organizationID, subject, text string) error {
	letters := a.adminLetters(organizationID, subject, text)
	if len(letters) == 0 {
		return noAdmin()
	}
	return a.postLetters(ctx, letters)
}

// adminLetters are the letters of MailAdmins.
func (a *Agent) adminLetters(organizationID, subject, text string) (letters []letter) {
	for _, u := range a.Users() {
		if u.Enabled && u.Role == auth.RoleAdmin && (u.OrganizationID == "" || u.OrganizationID == organizationID) {
			letters = append(letters, letter{To: u.Email, Subject: subject, Text: text})
		}
	}
	return letters
}

func noAdmin() error {
	return refuse(NotFound, "users", "has no admin who could be told: name one")
}
