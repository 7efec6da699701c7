package access

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/store"
)

// maxPeople bounds those who may sign in, made here or not.
const maxPeople = 1000

// maxMade bounds the users who were made here in one organization, so that one tenant
// does not take the places of the others. It does not count those of the building.
const maxMade = 250

// madePerson is a user who was made here, and not by the configuration.
type madePerson struct {
	Email          string    `json:"email"` // as auth.ParseEmail returns it
	Name           string    `json:"name"`
	Role           auth.Role `json:"role"`
	OrganizationID string    `json:"organization_id,omitempty"`
	Created        time.Time `json:"created_at"`
}

// PersonSpec is somebody who shall sign in.
type PersonSpec struct {
	Email, Name    string
	Role           string // one of auth.Roles; empty: auth.RoleMember
	OrganizationID string // of one that there is; empty: the whole building
}

// PersonChange is what changes of a user who was made here; nil: it stays.
type PersonChange struct{ Name, Role *string }

// made are the users who were made here, the oldest first: their ids are made of
// the time.
func made(marks map[string]storedUser) (all []config.Person) {
	for id, m := range marks {
		if p := m.Made; p != nil {
			all = append(all, config.Person{ID: id, Email: p.Email, Name: p.Name, Role: string(p.Role), OrganizationID: p.OrganizationID, Enabled: true})
		}
	}
	slices.SortFunc(all, func(x, y config.Person) int { return strings.Compare(x.ID, y.ID) })
	return all
}

// CreateUser lets somebody more sign in, from now on and after a restart. The id is
// never that of another person.
func (d *Directory) CreateUser(ctx context.Context, s PersonSpec) (User, error) {
	p := madePerson{Name: strings.TrimSpace(s.Name), Role: auth.Role(cmp.Or(s.Role, string(auth.RoleMember))), OrganizationID: s.OrganizationID,
		Created: time.Now().UTC().Truncate(time.Millisecond)}
	var err error
	if p.Email, err = auth.ParseEmail(s.Email); err != nil {
		return User{}, problem.New(problem.Invalid, "email", "%v", err)
	}
	if err := p.check(true); err != nil {
		return User{}, err
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	known := d.users.Load()
	switch {
	case known.of(p.Email, p.OrganizationID) != nil: // an organization is not told of others
		return User{}, problem.New(problem.Conflict, "email", "is that of another user there: choose another address, or remove that user first")
	case len(known.people) >= maxPeople:
		return User{}, problem.New(problem.Full, "", "there are %d users, the most that a gateway keeps: remove one", maxPeople)
	case p.OrganizationID != "" && known.madeOf(p.OrganizationID) >= maxMade:
		return User{}, problem.New(problem.Full, "organization_id", "has %d users who were made here, the most of an organization: remove one", maxMade)
	}
	id := ulid.Make().String()
	err = putMark(ctx, d, id, storedUser{Made: &p}, func(tx *store.Tx) error {
		if _, err := organizations.Get(tx, p.OrganizationID); p.OrganizationID != "" && err != nil {
			return problem.New(problem.Invalid, "organization_id", "is not an organization of this gateway: create it first")
		}
		return nil
	})
	if err != nil {
		return User{}, err
	}
	return *d.User(id), nil
}

// check refuses what no user can have. A name is judged when it is given: an earlier
// version has taken others, whose role can still be changed.
func (p *madePerson) check(named bool) error {
	switch {
	case named && len(p.Name) > 200:
		return problem.New(problem.Invalid, "name", "is too long: want at most 200 bytes")
	case named && !printable.Line(p.Name):
		return problem.New(problem.Invalid, "name", "has control characters: want text on one line, without characters that turn its direction")
	case !slices.Contains(auth.Roles(), string(p.Role)):
		return problem.New(problem.Invalid, "role", "is not a role: want one of %s", strings.Join(auth.Roles(), ", "))
	}
	return nil
}

// madeOf counts the users of an organization who were made here.
func (r *roster) madeOf(organizationID string) (n int) {
	for _, m := range r.marks {
		if m.Made != nil && m.Made.OrganizationID == organizationID {
			n++
		}
	}
	return n
}

// ChangeUser gives a user who was made here another name or role, which holds at
// once. One of the configuration is changed there.
func (d *Directory) ChangeUser(ctx context.Context, id string, c PersonChange) (User, error) {
	d.turn.Lock()
	defer d.turn.Unlock()
	mark, err := d.users.Load().madeHere(id)
	if err != nil {
		return User{}, err
	}
	p := *mark.Made
	if c.Name != nil {
		p.Name = strings.TrimSpace(*c.Name)
	}
	if c.Role != nil {
		p.Role = auth.Role(*c.Role)
	}
	if err := p.check(c.Name != nil); err != nil {
		return User{}, err
	}
	mark.Made = &p
	if err := putMark(ctx, d, id, mark, nil); err != nil {
		return User{}, err
	}
	return *d.User(id), nil
}

// RemoveUser ends a user who was made here, with every token.
func (d *Directory) RemoveUser(ctx context.Context, id string) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	if _, err := d.users.Load().madeHere(id); err != nil {
		return err
	}
	u := d.User(id)
	if err := d.db.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(userMarks.Delete(tx, id), eventlog.Audit(ctx, tx, map[string]any{"name": cmp.Or(u.Email, u.Name)}))
	}); err != nil {
		return err
	}
	known := d.users.Load()
	marks := maps.Clone(known.marks)
	delete(marks, id)
	d.setUsers(known.configured, marks)
	return nil
}

// madeHere is what is stored of a user who was made here.
func (r *roster) madeHere(id string) (storedUser, error) {
	switch mark := r.marks[id]; {
	case r.byID[id] == nil:
		return mark, problem.New(problem.NotFound, "id", "is not a user of this gateway")
	case !r.byID[id].Made:
		return mark, problem.New(problem.NotNow, "id", "is named by the configuration: change or remove the user there")
	default:
		return mark, nil
	}
}

// putMark stores what was decided about a user, if check allows it, and shows it.
// The caller has the turn.
func putMark(ctx context.Context, d *Directory, id string, mark storedUser, check func(*store.Tx) error) error {
	err := d.db.Update(ctx, func(tx *store.Tx) error {
		if check != nil {
			if err := check(tx); err != nil {
				return err
			}
		}
		return errors.Join(userMarks.Put(tx, id, mark), eventlog.Audit(ctx, tx, map[string]any{"user_id": id}))
	})
	if err != nil {
		return err
	}
	known := d.users.Load()
	marks := maps.Clone(known.marks)
	marks[id] = mark
	d.setUsers(known.configured, marks)
	return nil
}
