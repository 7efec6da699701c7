package api

import (
	"net/http"
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// userRecord is a person who may sign in.
type userRecord struct {
	ID             string    `json:"id"`
	Email          string    `json:"email"`
	Name           string    `json:"name"`
	Role           auth.Role `json:"role"`
	OrganizationID maybe     `json:"organization_id"` // null: the whole building
	Enabled        bool      `json:"enabled"`
	Made           bool      `json:"made_here"` // and not by the configuration, nor by the cloud
}

func newUserRecord(u access.User) userRecord {
	return userRecord{u.ID, u.Email, u.Name, u.Role, maybe(u.OrganizationID), u.Enabled, u.Made}
}

// listUsers lists the people who may sign in: all, or those of the organization.
func listUsers(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	seen := slices.DeleteFunc(s.agent.Access.Users(), func(u access.User) bool { return !c.who.Sees(u.OrganizationID) })
	if c.v2 {
		return list(c, q, seen, func(u access.User) string { return u.ID }, newUserRecord)
	}
	return c.data(http.StatusOK, records(seen, newUserRecord))
}

// createUser lets somebody more sign in. Whoever manages an organization makes people
// of his organization.
func createUser(s *Server, c *call) error {
	var p access.PersonSpec
	err := c.decode(strict.Required("email", &p.Email), strict.Optional("name", &p.Name), strict.Optional("role", &p.Role),
		strict.Optional("organization_id", &p.OrganizationID))
	if err != nil {
		return err
	}
	if p.OrganizationID == "" {
		p.OrganizationID = organizationOf(c.who)
	}
	if err := owns(c.who, "organization_id", p.OrganizationID); err != nil {
		return err
	}
	u, err := s.agent.Access.CreateUser(c.r.Context(), p)
	if err != nil {
		return err
	}
	return c.data(http.StatusCreated, newUserRecord(u))
}

// changeUser gives somebody who was made here another name or role.
func changeUser(s *Server, c *call) error {
	var change access.PersonChange
	if err := c.decode(strict.Given("name", &change.Name), strict.Given("role", &change.Role)); err != nil {
		return err
	}
	u, err := s.agent.Access.ChangeUser(c.r.Context(), c.params[0], change)
	if err != nil {
		return userField(err)
	}
	return c.data(http.StatusOK, newUserRecord(u))
}

// removeUser ends somebody who was made here, with every token.
func removeUser(s *Server, c *call) error {
	if err := s.agent.Access.RemoveUser(c.r.Context(), c.params[0]); err != nil {
		return userField(err)
	}
	return c.none()
}

// enableUser lets somebody sign in again.
func enableUser(s *Server, c *call) error { return setUser(s, c, true) }

// disableUser keeps somebody out, at once and until he is enabled.
func disableUser(s *Server, c *call) error { return setUser(s, c, false) }

func setUser(s *Server, c *call, enabled bool) error {
	if err := c.decodeAny(); err != nil {
		return err
	}
	if err := s.agent.Access.EnableUser(c.r.Context(), c.params[0], enabled); err != nil {
		return userField(err)
	}
	return c.data(http.StatusOK, newUserRecord(*s.agent.Access.User(c.params[0])))
}

// signOutUser ends every token of a user, who may sign in again.
func signOutUser(s *Server, c *call) error {
	if err := c.decodeAny(); err != nil {
		return err
	}
	if err := s.agent.Access.SignOut(c.r.Context(), c.params[0]); err != nil {
		return userField(err)
	}
	return c.none()
}

// signOutAll ends every token there is, those that keys have bought too. The body
// says so in words: a request that lost the user on its way signs nobody out.
func signOutAll(s *Server, c *call) error {
	var everybody bool
	if err := c.decode(strict.Required("everybody", &everybody)); err != nil {
		return err
	}
	if !everybody {
		return invalid("everybody", "is false: send true, or name one user in the path")
	}
	if err := s.agent.Access.SignOutAll(c.r.Context()); err != nil {
		return err
	}
	return c.none()
}

// userField names what the path calls the user.
func userField(err error) error {
	if e := problem.As(err); e != nil && e.Field == "id" {
		return &problem.Error{Code: e.Code, Field: "user_id", Message: e.Message}
	}
	return err
}

// ownUser refuses a user of another organization as one that is not there.
func (s visibility) ownUser(who *principal, id string) error {
	if u := s.agent.Access.User(id); u != nil && who.Sees(u.OrganizationID) {
		return nil
	}
	return problem.New(problem.NotFound, "user_id", "is not a user of this gateway")
}
