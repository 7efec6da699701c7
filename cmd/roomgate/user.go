package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
}

func newUser() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "list the people who may sign in", Args: cobra.NoArgs, RunE: asking(listUsers),
		Long: "Lists the people who may sign in. The configuration names them under users, with their roles, and so may the cloud."}
	enable := &cobra.Command{Use: "enable USER", Short: "let somebody sign in again", Args: cobra.ExactArgs(1), RunE: asking(switchUser("enable"))}
	disable := &cobra.Command{Use: "disable USER", Short: "keep somebody out, at once and until he is enabled", Args: cobra.ExactArgs(1), RunE: asking(switchUser("disable"))}
	out := &cobra.Command{Use: "sign-out [USER]", Short: "sign somebody out, or everybody", Args: cobra.MaximumNArgs(1), RunE: asking(signOut),
		Long:    "Ends every token of a user, who may sign in again. With --all it ends the tokens of\nall users, and those that API keys have bought; the keys stay good.",
		Example: "  roomgate user sign-out ada@example.com\n  roomgate user sign-out --all"}
	out.Flags().Bool("all", false, "sign everybody out")
	for _, cmd := range []*cobra.Command{list, enable, disable, out} {
		clientFlags(cmd)
	}
	return group("user", "people who sign in", list, enable, disable, out)
}

func (c *client) users(cmd *cobra.Command) ([]userEntry, error) {
	var answer struct {
		Data []userEntry `json:"data"`
	}
	err := c.call(cmd.Context(), http.MethodGet, usersPath, nil, &answer)
	return answer.Data, err
}

// user finds one by id or, ignoring case, by e-mail address.
func (c *client) user(cmd *cobra.Command, idOrEmail string) (userEntry, error) {
	all, err := c.users(cmd)
	if err != nil {
		return userEntry{}, err
	}
	i := slices.IndexFunc(all, func(u userEntry) bool { return u.ID == idOrEmail || strings.EqualFold(u.Email, idOrEmail) })
	if i < 0 {
		return userEntry{}, fail(exitRefused, "there is no user %q here: see roomgate user list", idOrEmail)
	}
	return all[i], nil
}

func listUsers(cmd *cobra.Command, c *client, _ []string) error {
	all, err := c.users(cmd)
	if err != nil {
		return err
	}
	return output(cmd, all, "ID EMAIL NAME ROLE ORGANIZATION STATE", func(row func(...string)) {
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
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "user %s is %s\n", show.Plain(answer.Data.ID), answer.Data.state())
		return err
	}
}

func signOut(cmd *cobra.Command, c *client, args []string) error {
	all, _ := cmd.Flags().GetBool("all")
	if all == (len(args) > 0) {
		return fail(exitUsage, "name a user, or say --all")
	}
	path, who, id, ask := usersPath+"/sign-out", "everybody", "*", any(map[string]bool{"everybody": true})
	if !all {
		u, err := c.user(cmd, args[0])
		if err != nil {
			return err
		}
		path, who, id, ask = usersPath+"/"+url.PathEscape(u.ID)+"/sign-out", "user "+u.ID, u.ID, nil
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
