package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/setup"
	"roomgate/cmd/roomgate/show"
)

// apiKey is a key as the gateway lists it.
type apiKey struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Prefix   string    `json:"prefix"`
	Created  time.Time `json:"created_at"`
	Expires  time.Time `json:"expires_at,omitzero"`
	LastUsed time.Time `json:"last_used_at,omitzero"`
	Revoked  bool      `json:"revoked"`

	OrganizationID string   `json:"organization_id,omitempty"`
	Permissions    []string `json:"permissions,omitempty"`
}

// madeKey is a new key with its secret, which is told only once.
type madeKey struct {
	Key    apiKey `json:"key"`
	Secret string `json:"secret"`
}

const keyCreateHelp = `Makes an API key and shows it once. Without --organization it is a key of the
whole building, which may do everything. One of an organization has the
permissions that are named, <resource>:read and <resource>:write with a resource
of devices, events, spaces, bookings, webhooks, rules and messages, and sees
what is that organization's.`

func newKey() *cobra.Command {
	create := &cobra.Command{Use: "create NAME", Short: "make an API key and show it once", Long: keyCreateHelp,
		Example: "  roomgate key create 'facility management' --expires 720h\n" +
			"  roomgate key create booking-app --organization 'Acme' --permission bookings:read,bookings:write,spaces:read",
		Args: cobra.ExactArgs(1), RunE: asking(createKey)}
	lifeFlag(create, "expires", 0, "how long it is valid, as 720h or 30d; 0: until it is revoked")
	create.Flags().StringSlice("permission", nil, "what a key of an organization may, as `RESOURCE:read` or RESOURCE:write")
	list := &cobra.Command{Use: "list", Short: "list the API keys", Args: cobra.NoArgs, RunE: asking(listKeys)}
	revoke := &cobra.Command{Use: "revoke ID", Short: "revoke an API key", Args: cobra.ExactArgs(1), RunE: asking(revokeKey)}
	for _, cmd := range []*cobra.Command{create, list, revoke} {
		clientFlags(cmd)
		cmd.Flags().String("organization", "", "keys of that `ORGANIZATION`, by id or name")
	}
	return group("key", "API keys of the gateway", create, list, revoke)
}

// keyPath is where the keys are: those of the building or of an organization.
func (c *client) keyPath(cmd *cobra.Command) (string, error) {
	name := text(cmd, "organization")
	if name == "" {
		return "/gateway/keys", nil
	}
	o, err := c.organization(cmd, name)
	return organizationsPath + "/" + url.PathEscape(o.ID) + "/api-keys", err
}

func createKey(cmd *cobra.Command, c *client, args []string) error {
	ask := struct {
		Name        string    `json:"name"`
		Permissions []string  `json:"permissions,omitempty"`
		Expires     time.Time `json:"expires_at,omitzero"`
	}{Name: args[0]}
	ask.Permissions, _ = cmd.Flags().GetStringSlice("permission")
	ofOne := text(cmd, "organization") != ""
	switch valid, _ := cmd.Flags().GetDuration("expires"); {
	case valid < 0:
		return fail(exitUsage, "--expires %s is in the past: want how long from now, as 720h or 30d", valid)
	case ofOne && len(ask.Permissions) == 0:
		return fail(exitUsage, "a key of an organization needs --permission, as bookings:read")
	case !ofOne && len(ask.Permissions) > 0:
		return fail(exitUsage, "--permission needs --organization: a key of the building may do everything")
	case valid > 0:
		answer, _, err := c.ask(cmd.Context(), http.MethodGet, "/gateway", nil) // whatever it says, it says when
		if err != nil {
			return err
		}
		ask.Expires = toldAt(answer).Add(valid).UTC().Truncate(time.Second)
	}
	path, err := c.keyPath(cmd)
	if err != nil {
		return err
	}
	made, err := c.makeKey(cmd, path, ask)
	if err != nil {
		return err
	}
	undo := func(ctx context.Context) error {
		return c.call(ctx, http.MethodDelete, path+"/"+url.PathEscape(made.Key.ID), nil, nil)
	}
	if wantsJSON(cmd) {
		return unshown(cmd, "key "+made.Key.ID, undo, show.JSON(cmd.OutOrStdout(), made))
	}
	header := "X-API-Key"
	if ofOne {
		header = "X-Org-Api-Key"
	}
	if _, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", made.Secret); err != nil {
		return unshown(cmd, "key "+made.Key.ID, undo, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "key %s is shown only now: keep it, and send it as %s\n", made.Key.ID, header)
	return nil
}

// unshown takes back what was made where its secret could not be shown: nobody will ever see it.
func unshown(cmd *cobra.Command, made string, undo func(ctx context.Context) error, err error) error {
	if err == nil {
		return nil
	}
	if e := undo(cmd.Context()); e != nil {
		return fail(exitFailed, "%s is made and its secret could not be shown: %w; it could not be taken back, do that by hand: %w", made, err, e)
	}
	return fail(exitFailed, "the secret could not be shown, so %s is taken back: %w", made, err)
}

// makeKey asks for a key. The answer of an organization's has the secret beside
// the key's own fields.
func (c *client) makeKey(cmd *cobra.Command, path string, ask any) (made madeKey, err error) {
	if path == "/gateway/keys" {
		return made, c.call(cmd.Context(), http.MethodPost, path, ask, &made)
	}
	var answer struct {
		Data struct {
			apiKey
			Secret string `json:"secret"`
		} `json:"data"`
	}
	err = c.call(cmd.Context(), http.MethodPost, path, ask, &answer)
	return madeKey{answer.Data.apiKey, answer.Data.Secret}, err
}

func listKeys(cmd *cobra.Command, c *client, _ []string) error {
	path, err := c.keyPath(cmd)
	if err != nil {
		return err
	}
	var answer struct {
		Keys []apiKey `json:"keys"`
		Data []apiKey `json:"data"` // of an organization
	}
	told, raw, err := c.ask(cmd.Context(), http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := c.decode(told, raw, &answer); err != nil {
		return err
	}
	now := toldAt(told)
	if text(cmd, "organization") == "" {
		return output(cmd, answer.Keys, "ID NAME KEY CREATED EXPIRES USED STATE", func(row func(...string)) {
			for _, k := range answer.Keys {
				row(k.ID, k.Name, k.Prefix+"…", day(k.Created), day(k.Expires), day(k.LastUsed), k.state(now))
			}
		})
	}
	return outputSome(cmd, answer.Data, len(answer.Data), "none yet: make one with roomgate key create NAME --organization ORGANIZATION --permission RESOURCE:read", "ID NAME KEY PERMISSIONS EXPIRES USED STATE", func(row func(...string)) {
		for _, k := range answer.Data {
			row(k.ID, k.Name, k.Prefix+"…", strings.Join(k.Permissions, ","), day(k.Expires), day(k.LastUsed), k.state(now))
		}
	})
}

func (k apiKey) state(now time.Time) string {
	switch {
	case k.Revoked:
		return "revoked"
	case !k.Expires.IsZero() && now.After(k.Expires):
		return "expired"
	}
	return "valid"
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateOnly)
}

func revokeKey(cmd *cobra.Command, c *client, args []string) error {
	path, err := c.keyPath(cmd)
	if err != nil {
		return err
	}
	if err := c.call(cmd.Context(), http.MethodDelete, path+"/"+url.PathEscape(args[0]), nil, nil); err != nil {
		list := "roomgate key list, and of an organization roomgate key list --organization NAME"
		if of := text(cmd, "organization"); of != "" {
			list = "roomgate key list --organization " + setup.ShellWord(of)
		}
		return absentID(err, "key", args[0], list)
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), map[string]any{"id": args[0], "revoked": true})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "key %s is revoked\n", args[0])
	return err
}
