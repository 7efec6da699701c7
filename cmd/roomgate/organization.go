package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

const organizationsPath = "/api/v1/organizations"

// organization is one as the gateway lists it.
type organization struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created_at"`
}

func newOrganization() *cobra.Command {
	create := &cobra.Command{Use: "create NAME", Short: "make an organization", Args: cobra.ExactArgs(1), RunE: asking(createOrganization),
		Long: "Makes an organization, which can then have meeting spaces, keys and webhooks.\n\n" +
			"One that the configuration names by its id, as a space's organization_id, exists\nalready and is called by that id: --id gives it a name.",
		Example: "  roomgate organization create Acme\n  roomgate organization create Acme --id 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0"}
	create.Flags().String("id", "", "a `UUID` of your own, else one is made")
	list := &cobra.Command{Use: "list", Short: "list the organizations", Args: cobra.NoArgs, RunE: asking(listOrganizations)}
	rename := &cobra.Command{Use: "rename ORGANIZATION NAME", Short: "give an organization another name", Args: cobra.ExactArgs(2), RunE: asking(renameOrganization)}
	remove := &cobra.Command{Use: "delete ORGANIZATION", Short: "delete an empty organization", Args: cobra.ExactArgs(1), RunE: asking(deleteOrganization),
		Long: "Deletes an organization that has nothing left: no meeting space, user, good key, webhook or booking\nto come. Else it says what is left."}
	for _, cmd := range []*cobra.Command{list, create, rename, remove} {
		clientFlags(cmd)
	}
	return group("organization", "organizations, which own meeting spaces, keys and webhooks", list, create, rename, remove)
}

func (c *client) organizations(cmd *cobra.Command) ([]organization, error) {
	var answer struct {
		Data []organization `json:"data"`
	}
	err := c.call(cmd.Context(), http.MethodGet, organizationsPath, nil, &answer)
	return answer.Data, err
}

// organization finds one by id or, ignoring case, by name.
func (c *client) organization(cmd *cobra.Command, nameOrID string) (organization, error) {
	all, err := c.organizations(cmd)
	if err != nil {
		return organization{}, err
	}
	found := slices.DeleteFunc(all, func(o organization) bool { return o.ID != nameOrID && !strings.EqualFold(o.Name, nameOrID) })
	switch len(found) {
	case 0:
		return organization{}, fail(exitRefused, "there is no organization %q here: see roomgate organization list", nameOrID)
	case 1:
		return found[0], nil
	}
	return organization{}, fail(exitRefused, "%d organizations are called %q: say which one by its id", len(found), nameOrID)
}

func listOrganizations(cmd *cobra.Command, c *client, _ []string) error {
	all, err := c.organizations(cmd)
	if err != nil {
		return err
	}
	return outputSome(cmd, all, len(all), "none yet: make one with roomgate organization create NAME", "ID NAME CREATED", func(row func(...string)) {
		for _, o := range all {
			row(o.ID, o.Name, day(o.Created))
		}
	})
}

func createOrganization(cmd *cobra.Command, c *client, args []string) error {
	ask := map[string]string{"name": args[0]}
	if id := text(cmd, "id"); id != "" {
		ask["id"] = id
	}
	return c.nameOrganization(cmd, http.MethodPost, organizationsPath, ask)
}

func renameOrganization(cmd *cobra.Command, c *client, args []string) error {
	o, err := c.organization(cmd, args[0])
	if err != nil {
		return err
	}
	return c.nameOrganization(cmd, http.MethodPatch, organizationsPath+"/"+url.PathEscape(o.ID), map[string]string{"name": args[1]})
}

func deleteOrganization(cmd *cobra.Command, c *client, args []string) error {
	o, err := c.organization(cmd, args[0])
	if err != nil {
		return err
	}
	if err := c.call(cmd.Context(), http.MethodDelete, organizationsPath+"/"+url.PathEscape(o.ID), nil, nil); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), map[string]any{"id": o.ID, "deleted": true})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "organization %s is deleted\n", show.Plain(o.Name))
	return err
}

// nameOrganization makes an organization or gives one another name.
func (c *client) nameOrganization(cmd *cobra.Command, method, path string, ask any) error {
	var answer struct {
		Data organization `json:"data"`
	}
	if err := c.call(cmd.Context(), method, path, ask, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer.Data)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "organization %s is named %s\n", answer.Data.ID, show.Plain(answer.Data.Name))
	return err
}
