package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
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
}

// madeKey is a new key with its secret, which is told only once.
type madeKey struct {
	Key    apiKey `json:"key"`
	Secret string `json:"secret"`
}

func newKey() *cobra.Command {
	create := &cobra.Command{Use: "create NAME", Short: "make an API key and show it once", Args: cobra.ExactArgs(1), RunE: asking(createKey)}
	create.Flags().Duration("expires", 0, "how long it is valid, as 720h; 0: until it is revoked")
	list := &cobra.Command{Use: "list", Short: "list the API keys", Args: cobra.NoArgs, RunE: asking(listKeys)}
	revoke := &cobra.Command{Use: "revoke ID", Short: "make an API key useless at once", Args: cobra.ExactArgs(1), RunE: asking(revokeKey)}
	for _, cmd := range []*cobra.Command{create, list, revoke} {
		clientFlags(cmd)
	}
	return group("key", "API keys of the gateway", create, list, revoke)
}

func createKey(cmd *cobra.Command, c *client, args []string) error {
	ask := struct {
		Name    string    `json:"name"`
		Expires time.Time `json:"expires_at,omitzero"`
	}{Name: args[0]}
	switch valid, _ := cmd.Flags().GetDuration("expires"); {
	case valid < 0:
		return fail(exitUsage, "--expires %s is in the past: want how long from now, as 720h", valid)
	case valid > 0:
		ask.Expires = time.Now().Add(valid).UTC().Truncate(time.Second)
	}
	var made madeKey
	if err := c.call(cmd.Context(), http.MethodPost, "/gateway/keys", ask, &made); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), made)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", made.Secret)
	fmt.Fprintf(cmd.ErrOrStderr(), "key %s is shown only now: keep it, and send it as X-API-Key\n", made.Key.ID)
	return err
}

func listKeys(cmd *cobra.Command, c *client, _ []string) error {
	var answer struct {
		Keys []apiKey `json:"keys"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, "/gateway/keys", nil, &answer); err != nil {
		return err
	}
	return show(cmd, answer.Keys, "ID NAME KEY CREATED EXPIRES USED STATE", func(row func(...string)) {
		for _, k := range answer.Keys {
			row(k.ID, k.Name, k.Prefix+"…", day(k.Created), day(k.Expires), day(k.LastUsed), k.state())
		}
	})
}

func (k apiKey) state() string {
	switch {
	case k.Revoked:
		return "revoked"
	case !k.Expires.IsZero() && time.Now().After(k.Expires):
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
	if err := c.call(cmd.Context(), http.MethodDelete, "/gateway/keys/"+url.PathEscape(args[0]), nil, nil); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), map[string]any{"id": args[0], "revoked": true})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "key %s is revoked\n", args[0])
	return err
}
