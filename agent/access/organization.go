package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/store"
)

// maxOrganizations bounds the organizations of a building.
const maxOrganizations = 500

// Organization owns meeting spaces, webhooks and API keys.
type Organization struct {
	ID        string    `json:"id"` // a UUID
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

// NewUUID makes a random UUID (RFC 9562 section 5.4).
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// CreateOrganization makes an organization. An empty id means a new one. One
// that so far only the configuration names, which calls it by its id, gets the
// name.
func (d *Directory) CreateOrganization(ctx context.Context, id, name string) (o Organization, err error) {
	if name, err = organizationName(name); err != nil {
		return o, err
	}
	switch {
	case id == "":
		id = NewUUID()
	case !auth.IsUUID(id):
		return o, problem.New(problem.Invalid, "id", "is not a UUID in small letters")
	}
	err = d.db.Update(ctx, func(tx *store.Tx) error {
		if err := onlyName(tx, id, name); err != nil {
			return err
		}
		o, err = organizations.Get(tx, id)
		switch {
		case err == nil && o.Name != id:
			return problem.New(problem.Conflict, "id", "is that of another organization")
		case errors.Is(err, store.ErrNotFound):
			o = Organization{ID: id, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
		case err != nil:
			return err
		}
		if organizations.Len(tx) >= maxOrganizations {
			return problem.New(problem.Full, "", "there are %d organizations, the most that a gateway keeps", maxOrganizations)
		}
		o.Name = name
		return errors.Join(organizations.Put(tx, id, o), eventlog.Audit(ctx, tx, map[string]any{"organization_id": id, "name": name}))
	})
	if err != nil {
		return Organization{}, err
	}
	return o, nil
}

// organizationName refuses a name that no organization can have.
func organizationName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 100 || !printable.Line(name) {
		return "", problem.New(problem.Invalid, "name", "must have 1 to 100 characters on one line, without control characters")
	}
	return name, nil
}

// onlyName refuses a name that another organization has, whatever its case: people
// call organizations by their names.
func onlyName(tx *store.Tx, id, name string) error {
	for _, o := range organizations.All(tx) {
		if o.ID != id && strings.EqualFold(o.Name, name) {
			return problem.New(problem.Conflict, "name", "is that of organization %s: use that one, or choose another name", o.ID)
		}
	}
	return tx.Err()
}

// RenameOrganization gives an organization another name.
func (d *Directory) RenameOrganization(ctx context.Context, id, name string) (o Organization, err error) {
	if name, err = organizationName(name); err != nil {
		return o, err
	}
	err = d.db.Update(ctx, func(tx *store.Tx) error {
		if o, err = organizationIn(tx, id); err != nil {
			return err
		}
		if err := onlyName(tx, id, name); err != nil {
			return err
		}
		o.Name = name
		return errors.Join(organizations.Put(tx, id, o), eventlog.Audit(ctx, tx, map[string]any{"name": name}))
	})
	if err != nil {
		return Organization{}, err
	}
	return o, nil
}

// RemoveOrganization ends an organization that has nothing any more: no meeting
// space, user, good key or anything else. Its revoked keys go
// with it.
func (d *Directory) RemoveOrganization(ctx context.Context, id string) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	d.keyring.turn.Lock()
	defer d.keyring.turn.Unlock()
	if _, err := d.Organization(id); err != nil {
		return err
	}
	var has []string
	if d.options.Holdings != nil {
		has = d.options.Holdings(id)
	}
	users := len(slices.DeleteFunc(d.Users(), func(u User) bool { return u.OrganizationID != id }))
	byID, keys := maps.Clone(d.keyring.held().byID), 0
	var dead []string
	for _, k := range byID {
		switch {
		case k.OrganizationID != id:
		case d.keyring.good(k):
			keys++
		default:
			dead = append(dead, k.ID)
		}
	}
	for _, words := range []string{Counted(users, "user"), Counted(keys, "key")} {
		if words != "" {
			has = append(has, words)
		}
	}
	if len(has) > 0 {
		return problem.New(problem.Conflict, "organization_id", "still has %s: remove that first", strings.Join(has, ", "))
	}
	err := d.db.Update(ctx, func(tx *store.Tx) error {
		err := organizations.Delete(tx, id)
		for _, key := range dead {
			err = errors.Join(err, keyRows.Delete(tx, key))
		}
		return errors.Join(err, eventlog.Audit(ctx, tx, nil))
	})
	if err != nil {
		return err
	}
	for _, key := range dead {
		delete(byID, key)
	}
	d.keyring.now.Store(newHeldKeys(byID))
	return nil
}

// Counted is a number with its noun; none is empty.
func Counted(n int, noun string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Organizations returns every organization, oldest first.
func (d *Directory) Organizations() ([]Organization, error) {
	all := []Organization{}
	err := d.db.View(func(tx *store.Tx) error {
		for _, o := range organizations.All(tx) {
			all = append(all, o)
		}
		return tx.Err()
	})
	slices.SortFunc(all, func(x, y Organization) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), strings.Compare(x.ID, y.ID))
	})
	return all, err
}

// Organization returns one.
func (d *Directory) Organization(id string) (o Organization, err error) {
	err = d.db.View(func(tx *store.Tx) error {
		o, err = organizationIn(tx, id)
		return err
	})
	return o, err
}

func organizationIn(tx *store.Tx, id string) (Organization, error) {
	o, err := organizations.Get(tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return o, problem.New(problem.NotFound, "organization_id", "is not an organization of this gateway")
	}
	return o, err
}

// EnsureOrganization makes an organization that somebody names, if it is not
// there; an empty id is none.
func EnsureOrganization(tx *store.Tx, id string) error {
	if _, err := organizations.Get(tx, id); id == "" || !errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return organizations.Put(tx, id, Organization{ID: id, Name: id, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)})
}

func ensureOrganizations(tx *store.Tx, ids []string) error {
	for _, id := range ids {
		if err := EnsureOrganization(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// NameOrganization is EnsureOrganization of one whose name is known. One that
// has a name keeps it.
func NameOrganization(tx *store.Tx, id, name string, made time.Time) error {
	o, err := organizations.Get(tx, id)
	switch {
	case errors.Is(err, store.ErrNotFound) && organizations.Len(tx) >= maxOrganizations:
		return problem.New(problem.Conflict, "organization_id", "is new, and there are %d organizations, the most that a gateway keeps", maxOrganizations)
	case errors.Is(err, store.ErrNotFound):
		o = Organization{ID: id, Name: name, CreatedAt: made}
	case err != nil:
		return err
	case o.Name == o.ID: // so far only the configuration names it
		o.Name = name
	}
	return organizations.Put(tx, id, o)
}
