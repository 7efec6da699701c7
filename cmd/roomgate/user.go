package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/auth"

	"roomgate/cmd/roomgate/show"
)

const usersPath = "/gateway/users"

// userEntry is a person as the gateway lists him.
type userEntry struct {
	ID             string  `json:"id"`
	Email          string  `json:"email"`
	Name           string  `json:"name"`
	Role           string  `json:"role"`
	OrganizationID *string `json:"organization_id"` // nil: the whole building
	Enabled        bool    `json:"enabled"`
	Made           bool    `json:"made_here"`
}

const userCreateHelp = `Adds a user, who signs in with a one-time password that comes by mail. A member sees rooms and books
them, an operator also gives commands to devices, a display is the page at a door, an admin manages
all that the organization has, or the building. No two users of one organization, or of the building, have the
same address.`

func newUser() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "list the users", Args: cobra.NoArgs, RunE: asking(listUsers),
		Long: "Lists the people who may sign in. The configuration names them under users, with their roles, and so may the cloud.\n" +
			"Others are made here, by create."}
	create := &cobra.Command{Use: "create EMAIL", Short: "add a user", Args: cobra.ExactArgs(1), RunE: asking(createUser), Long: userCreateHelp,
		Example: "  roomgate user create uma@example.com --name Uma\n  roomgate user create front@example.com --role operator --organization Acme"}
	create.Flags().String("name", "", "how the user is called")
	create.Flags().String("role", string(auth.RoleMember), "what the user may: "+strings.Join(auth.Roles(), ", "))
	create.Flags().String("organization", "", "what the user sees: what is of that `ORGANIZATION`, by id or name; else the building")
	role := &cobra.Command{Use: "role USER ROLE", Short: "change the role of a user made here", Args: cobra.ExactArgs(2), RunE: asking(changeRole),
		Long: "Gives a user another role, which holds at once: " + strings.Join(auth.Roles(), ", ") + ". A user of the configuration gets it there."}
	remove := &cobra.Command{Use: "delete USER", Short: "delete a user made here", Args: cobra.ExactArgs(1), RunE: asking(deleteUser),
		Long: "Deletes a user, whose tokens end at once. A user of the configuration is deleted there, or kept out by disable."}
	enable := &cobra.Command{Use: "enable USER", Short: "let a user sign in again", Args: cobra.ExactArgs(1), RunE: asking(switchUser("enable"))}
	disable := &cobra.Command{Use: "disable USER", Short: "keep a user out, at once and until enabled", Args: cobra.ExactArgs(1), RunE: asking(switchUser("disable"))}
	out := &cobra.Command{Use: "sign-out [USER]", Short: "sign a user out, or everybody", Args: cobra.MaximumNArgs(1), RunE: asking(signOut),
		Long:    "Ends every token of a user, who may sign in again. With --all it ends the tokens of\nall users and of API keys; the keys stay good.",
		Example: "  roomgate user sign-out ada@example.com\n  roomgate user sign-out --all"}
	out.Flags().Bool("all", false, "sign everybody out")
	for _, cmd := range []*cobra.Command{role, remove, enable, disable, out} {
		cmd.Flags().String("organization", "", ofOrganization)
	}
	in := newSignIn()
	for _, cmd := range []*cobra.Command{list, create, role, remove, enable, disable, in, out} {
		clientFlags(cmd)
	}
	return group("user", "people who sign in", list, create, role, remove, enable, disable, in, out)
}

func (c *client) users(cmd *cobra.Command) ([]userEntry, error) {
	var answer struct {
		Data []userEntry `json:"data"`
	}
	err := c.call(cmd.Context(), http.MethodGet, usersPath, nil, &answer)
	return answer.Data, err
}

func listUsers(cmd *cobra.Command, c *client, _ []string) error {
	all, err := c.users(cmd)
	if err != nil {
		return err
	}
	return outputSome(cmd, all, len(all), "none yet: make one with roomgate user create EMAIL, or name people under users in the configuration", "ID EMAIL NAME ROLE ORGANIZATION STATE", func(row func(...string)) {
		for _, u := range all {
			organization := "-"
			if u.OrganizationID != nil {
				organization = *u.OrganizationID
			}
			row(u.ID, u.Email, u.Name, u.Role, organization, u.state())
		}
	})
}

func (u userEntry) state() string {
	if u.Enabled {
		return "enabled"
	}
	return "disabled"
}

func createUser(cmd *cobra.Command, c *client, args []string) error {
	ask := map[string]string{"email": args[0], "role": text(cmd, "role")}
	if name := text(cmd, "name"); name != "" {
		ask["name"] = name
	}
	if named := text(cmd, "organization"); named != "" {
		o, err := c.organization(cmd, named)
		if err != nil {
			return err
		}
		ask["organization_id"] = o.ID
	}
	if err := c.changeUser(cmd, http.MethodPost, usersPath, ask, "user %[1]s may sign in as %[2]s with %[3]s\n"); err != nil {
		return err
	}
	var gateway struct {
		Outward struct {
			Mail struct {
				Configured bool `json:"configured"`
			} `json:"mail"`
		} `json:"outward"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, "/gateway", nil, &gateway); err == nil && !gateway.Outward.Mail.Configured {
		fmt.Fprintln(cmd.ErrOrStderr(), "this gateway has no mail relay, so nobody can sign in: set smtp.url in its configuration")
	}
	return nil
}

// changeUser asks for a change of a user and prints the result with the id, the role
// and the address.
func (c *client) changeUser(cmd *cobra.Command, method, path string, ask any, said string) error {
	var answer struct {
		Data userEntry `json:"data"`
	}
	if err := c.call(cmd.Context(), method, path, ask, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer.Data)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), said, show.Plain(answer.Data.ID), answer.Data.Role, show.Plain(answer.Data.Email))
	return err
}

func changeRole(cmd *cobra.Command, c *client, args []string) error {
	u, err := c.user(cmd, args[0])
	if err != nil {
		return err
	}
	return c.changeUser(cmd, http.MethodPatch, usersPath+"/"+url.PathEscape(u.ID), map[string]string{"role": args[1]}, "user %[3]s has the role %[2]s\n")
}

func deleteUser(cmd *cobra.Command, c *client, args []string) error {
	u, err := c.user(cmd, args[0])
	if err != nil {
		return err
	}
	if err := c.call(cmd.Context(), http.MethodDelete, usersPath+"/"+url.PathEscape(u.ID), nil, nil); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), map[string]any{"id": u.ID, "deleted": true})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "user %s is deleted\n", show.Plain(u.Email))
	return err
}

// switchUser lets somebody in or keeps him out.
func switchUser(way string) func(*cobra.Command, *client, []string) error {
	return func(cmd *cobra.Command, c *client, args []string) error {
		u, err := c.user(cmd, args[0])
		if err != nil {
			return err
		}
		var answer struct {
			Data userEntry `json:"data"`
		}
		if err := c.call(cmd.Context(), http.MethodPost, usersPath+"/"+url.PathEscape(u.ID)+"/"+way, nil, &answer); err != nil {
			return err
		}
		if wantsJSON(cmd) {
			return show.JSON(cmd.OutOrStdout(), answer.Data)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "user %s is %s\n", show.Plain(answer.Data.Email), answer.Data.state())
		return err
	}
}

func signOut(cmd *cobra.Command, c *client, args []string) error {
	all, _ := cmd.Flags().GetBool("all")
	if all == (len(args) > 0) {
		return fail(exitUsage, "name a user, or say --all")
	}
	if all && text(cmd, "organization") != "" {
		return fail(exitUsage, "--all is everybody of every organization: leave --organization out")
	}
	path, who, id, ask := usersPath+"/sign-out", "everybody", "*", any(map[string]bool{"everybody": true})
	if !all {
		u, err := c.user(cmd, args[0])
		if err != nil {
			return err
		}
		path, who, id, ask = usersPath+"/"+url.PathEscape(u.ID)+"/sign-out", "user "+u.Email, u.ID, nil
	}
	if err := c.call(cmd.Context(), http.MethodPost, path, ask, nil); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), map[string]any{"id": id, "signed_out": true})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is signed out\n", show.Plain(who))
	return err
}
