package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"roomgate/agent/backup"
	"roomgate/agent/update"
	"roomgate/cmd/roomgate/show"
)

const bundleHelp = `Installs a signed bundle beside the release that runs. The gateway verifies it,
waits for a moment at which no meeting is under way or begins soon and nobody is
in a room, and restarts into it on trial. If it is not healthy for update.trial
(5 minutes), or does not start, the release before runs again by itself.

The gateway takes a release for this machine that is newer than anything that has
run here, that a key of the configuration has signed, and that can read the
database and the configuration in use. Any other bundle changes nothing.

With --now and no bundle the one that waits is tried at once.`

func newUpdate() *cobra.Command {
	cmd := &cobra.Command{Use: "update [BUNDLE]", Short: "install a release of the gateway, or show the state of updates", Long: bundleHelp,
		Example: "  roomgate update /media/stick/roomgate-1.5.0-arm64.bundle\n  roomgate update status",
		Args:    cobra.MaximumNArgs(1), RunE: onThisMachine(installUpdate)}
	cmd.Flags().Bool("now", false, "do not wait for the end of a meeting")
	cmd.Flags().Bool("again", false, "take a release that was tried and given up")
	cmd.PersistentFlags().String("data", "", withVariable(dataUsage, "data"))
	status := &cobra.Command{Use: "status", Short: "show the release that runs, and the one that waits or failed", Args: cobra.NoArgs, RunE: onThisMachine(showUpdate)}
	for _, c := range []*cobra.Command{cmd, status} {
		outputFlag(c)
	}
	cmd.AddCommand(status, newUpdateBundle(), newUpdateKey())
	return cmd
}

// onThisMachine is for commands that only the control socket can do.
func onThisMachine(f func(cmd *cobra.Command, c *client, args []string) error) func(*cobra.Command, []string) error {
	return action(func(cmd *cobra.Command, args []string) error {
		path, err := findSocket(text(cmd, "data"))
		if err != nil {
			return err
		}
		return f(cmd, overSocket(path, bundleTime), args)
	})
}

func installUpdate(cmd *cobra.Command, c *client, args []string) error {
	if len(args) == 0 {
		return hurryUpdate(cmd, c)
	}
	f, err := openGiven(args[0])
	if err != nil {
		return fail(exitUsage, "%w", err)
	}
	defer f.Close()
	query := url.Values{}
	for _, name := range []string{"now", "again"} {
		if set, _ := cmd.Flags().GetBool(name); set {
			query.Set(name, "true")
		}
	}
	u, err := c.sendBundle(cmd.Context(), "/update?"+query.Encode(), f)
	if err != nil {
		return err
	}
	return printUpdate(cmd, u)
}

// hurryUpdate lets the release that waits be tried at once.
func hurryUpdate(cmd *cobra.Command, c *client) error {
	if now, _ := cmd.Flags().GetBool("now"); !now {
		return fail(exitUsage, "name the BUNDLE to install, or try the one that waits at once with --now")
	}
	var u update.Status
	if err := c.call(cmd.Context(), http.MethodPost, "/update/now", nil, &u); err != nil {
		return err
	}
	return printUpdate(cmd, u)
}

// sendBundle sends a bundle and returns how updates stand then.
func (c *client) sendBundle(ctx context.Context, path string, bundle *os.File) (u update.Status, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bundle)
	if err != nil {
		return u, err
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	answer, raw, err := c.answered(r)
	if err != nil {
		return u, err
	}
	return u, c.decode(answer, raw, &u)
}

func showUpdate(cmd *cobra.Command, c *client, _ []string) error {
	u, err := updatesOf(cmd.Context(), c)
	if err != nil {
		return err
	}
	return printUpdate(cmd, u)
}

// updatesOf is how updates stand. A demo takes none, and does not say.
func updatesOf(ctx context.Context, c *client) (u update.Status, err error) {
	err = c.call(ctx, http.MethodGet, "/update", nil, &u)
	return u, err
}

// traces lists what a gateway has made in its data folder, the releases that it has installed
// too, as backup.Traces does.
func traces(data string) (ours, others []string, err error) { return backup.Traces(data, update.Dir) }

func printUpdate(cmd *cobra.Command, u update.Status) (err error) {
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), u)
	}
	for _, line := range u.Lines() {
		_, e := fmt.Fprintln(cmd.OutOrStdout(), show.Plain(line))
		err = errors.Join(err, e)
	}
	return err
}
