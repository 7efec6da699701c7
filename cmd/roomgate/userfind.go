package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

const ofOrganization = "of two users with one address, that of this `ORGANIZATION`, by id or name"

// user finds one by id or, ignoring case, by e-mail address. An address that several
// organizations have takes the flag that names one of them, or an id.
func (c *client) user(cmd *cobra.Command, idOrEmail string) (userEntry, error) {
	all, err := c.users(cmd)
	if err != nil {
		return userEntry{}, err
	}
	where := ""
	if named := text(cmd, "organization"); named != "" {
		o, err := c.organization(cmd, named)
		if err != nil {
			return userEntry{}, err
		}
		where = " in organization " + show.Plain(o.Name)
		all = slices.DeleteFunc(all, func(u userEntry) bool { return u.OrganizationID == nil || *u.OrganizationID != o.ID })
	}
	if i := slices.IndexFunc(all, func(u userEntry) bool { return u.ID == idOrEmail }); i >= 0 {
		return all[i], nil
	}
	found := slices.DeleteFunc(all, func(u userEntry) bool { return !strings.EqualFold(u.Email, idOrEmail) })
	switch len(found) {
	case 0:
		return userEntry{}, fail(exitRefused, "there is no user %q%s here: see roomgate user list", idOrEmail, where)
	case 1:
		return found[0], nil
	}
	return userEntry{}, fail(exitRefused, "%s have the address %s: say which one by its id, or with --organization: %s",
		show.Count(len(found), "user"), show.Plain(idOrEmail), apart(cmd, c, found))
}

// apart names users by what tells them apart: the id and the organization.
func apart(cmd *cobra.Command, c *client, users []userEntry) string {
	names := map[string]string{}
	organizations, _ := c.organizations(cmd) // without them the ids stand for the names
	for _, o := range organizations {
		names[o.ID] = o.Name
	}
	var each []string
	for _, u := range users {
		of := "of the whole building"
		if u.OrganizationID != nil {
			name := names[*u.OrganizationID]
			if name == "" {
				name = *u.OrganizationID
			}
			of = "of organization " + name
		}
		each = append(each, show.Plain(u.ID+" "+of))
	}
	return strings.Join(each, ", ")
}
