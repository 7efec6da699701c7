package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/strict"
)

// organizationAnswer is an organization as it is shown.
type organizationAnswer struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt moment `json:"created_at"`
}

func newOrganizationAnswer(o access.Organization) organizationAnswer {
	return organizationAnswer{o.ID, o.Name, moment(o.CreatedAt)}
}

// listOrganizations lists those that who asks sees: all, or his own.
func listOrganizations(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	all, err := s.agent.Access.Organizations()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o access.Organization) bool { return !c.who.Sees(o.ID) })
	if c.v2 {
		return list(c, q, all, func(o access.Organization) string { return o.ID }, newOrganizationAnswer)
	}
	return c.data(http.StatusOK, records(all, newOrganizationAnswer))
}

// createOrganization makes an organization, or names one that so far only the
// configuration knows.
func createOrganization(s *Server, c *call) error {
	var id, name string
	if err := c.decode(strict.Optional("id", &id), strict.Required("name", &name)); err != nil {
		return err
	}
	o, err := s.agent.Access.CreateOrganization(c.r.Context(), id, name)
	if err != nil {
		return err
	}
	return c.data(http.StatusCreated, newOrganizationAnswer(o))
}

// renameOrganization gives an organization another name.
func renameOrganization(s *Server, c *call) error {
	var name string
	if err := c.decode(strict.Required("name", &name)); err != nil {
		return err
	}
	o, err := s.agent.Access.RenameOrganization(c.r.Context(), c.params[0], name)
	if err != nil {
		return err
	}
	return c.data(http.StatusOK, newOrganizationAnswer(o))
}

// removeOrganization ends an organization that has nothing any more.
func removeOrganization(s *Server, c *call) error {
	if err := s.agent.Access.RemoveOrganization(c.r.Context(), c.params[0]); err != nil {
		return err
	}
	return c.none()
}

// listOrgKeys lists the keys of an organization, without their secrets.
func listOrgKeys(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	keys, err := s.agent.Access.OrgKeys(c.params[0])
	if err != nil {
		return err
	}
	if c.v2 {
		return list(c, q, keys, keyID, newKeyRecord)
	}
	return c.data(http.StatusOK, keys)
}

// createOrgKey makes a key of an organization. Its secret is in this answer
// and nowhere else.
func createOrgKey(s *Server, c *call) error {
	var name string
	var permissions []json.RawMessage
	var expires time.Time
	err := c.decode(strict.Required("name", &name), strict.Required("permissions", &permissions), strict.Optional("expires_at", &expires))
	if err != nil {
		return err
	}
	named, err := texts("permissions", permissions)
	if err != nil {
		return err
	}
	key, secret, err := s.agent.Access.CreateOrgKey(c.r.Context(), c.params[0], name, named, expires)
	if err != nil {
		return err
	}
	if c.v2 {
		return c.json(http.StatusCreated, newSecretKey(key, secret))
	}
	return c.data(http.StatusCreated, struct {
		access.Key
		Secret string `json:"secret"`
	}{key, secret})
}

// revokeOrgKey ends a key of an organization at once, with the streams and
// the tokens that it opened and bought.
func revokeOrgKey(s *Server, c *call) error {
	if err := s.agent.Access.RevokeOrgKey(c.r.Context(), c.params[0], c.params[1]); err != nil {
		return err
	}
	return c.none()
}
