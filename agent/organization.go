package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

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

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

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
func (a *Agent) CreateOrganization(ctx context.Context, id, name string) (o Organization, err error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || len(name) > 100:
		return o, refuse(Invalid, "name", "must have 1 to 100 characters")
	case id == "":
		id = NewUUID()
	case !uuidPattern.MatchString(id):
		return o, refuse(Invalid, "id", "is not a UUID in small letters")
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		o, err = organizations.Get(tx, id)
		switch {
		case err == nil && o.Name != id:
			return refuse(Conflict, "id", "is that of another organization")
		case errors.Is(err, store.ErrNotFound):
			o = Organization{ID: id, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
		case err != nil:
			return err
		}
		if organizations.Len(tx) >= maxOrganizations {
			return refuse(Full, "", "there are %d organizations, the most that a gateway keeps", maxOrganizations)
		}
		o.Name = name
		return organizations.Put(tx, id, o)
	})
	if err != nil {
		return Organization{}, err
	}
	return o, nil
}

// Organizations returns every organization, oldest first.
func (a *Agent) Organizations() ([]Organization, error) {
	all := []Organization{}
	err := a.db.View(func(tx *store.Tx) error {
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
func (a *Agent) Organization(id string) (o Organization, err error) {
	err = a.db.View(func(tx *store.Tx) error {
		o, err = organizations.Get(tx, id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return o, refuse(NotFound, "organization_id", "is not an organization of this gateway")
	}
	return o, err
}

// OrganizationOf is the organization that a space belongs to, empty for none.
func (a *Agent) OrganizationOf(spaceID string) (string, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return "", err
	}
	return a.ownerOf(s), nil
}

// ownerOf is the organization that a space belongs to: the one that it names, else
// the one that has claimed the gateway, empty if nobody has. Nothing is written
// for it, so it holds from the moment at which the claim is stored, and as long.
func (a *Agent) ownerOf(s *space) string {
	if own := s.Organization(); own != "" {
		return own // who asks for such a space never waits for the claim
	}
	return a.Claim.Organization()
}

// SpacesSeen are the ids of the spaces that a principal sees; nil stands for
// the whole building.
func (a *Agent) SpacesSeen(p Principal) []string {
	if p.OrganizationID == "" {
		return nil
	}
	seen := []string{}
	for _, s := range a.spaces() {
		if p.Sees(a.ownerOf(s)) {
			seen = append(seen, s.ID)
		}
	}
	return seen
}

// bearOrganizations makes those that the configuration names.
func (a *Agent) bearOrganizations(ctx context.Context) error {
	var named []string
	for _, s := range a.config.Spaces {
		named = append(named, s.Organization())
	}
	for _, u := range a.config.Users {
		named = append(named, u.OrganizationID)
	}
	return a.db.Update(ctx, func(tx *store.Tx) error {
		for _, id := range named {
			if err := a.bearOrganization(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// bearOrganization makes an organization that somebody names, if it is not
// there.
func (a *Agent) bearOrganization(tx *store.Tx, id string) error {
	if _, err := organizations.Get(tx, id); id == "" || !errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return organizations.Put(tx, id, Organization{ID: id, Name: id, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)})
}
