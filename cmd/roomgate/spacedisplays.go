package main

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/web"

	"roomgate/cmd/roomgate/show"
)

const displaysHelp = `Lists the displays and boards that were paired with meeting spaces: when the gateway
last heard of each, and from which address. "-" is not since it started.`

const unpairHelp = `Ends the key of a display or board at once. A page at a door says so, and asks for a
pairing code again. The ID is that of "roomgate space displays".`

// edgeEntry is a display or a board as the gateway lists it.
type edgeEntry struct {
	ID         string    `json:"device_id"`
	SpaceID    string    `json:"meeting_space_id"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	Serial     string    `json:"serial,omitempty"`
	Registered time.Time `json:"registered_at"`
	LastSeen   time.Time `json:"last_seen_at,omitzero"`
	Address    string    `json:"address"`
	UptimeS    int64     `json:"uptime_s"`
	Version    string    `json:"version"`
}

func newSpaceDisplays() *cobra.Command {
	cmd := &cobra.Command{Use: "displays [SPACE]", Short: "list the displays that were paired, with last seen and address", Long: displaysHelp,
		Example: "  roomgate space displays aurora", Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeSpace, RunE: asking(listDisplays)}
	clientFlags(cmd)
	return cmd
}

func newSpaceUnpair() *cobra.Command {
	cmd := &cobra.Command{Use: "unpair ID", Short: "end the key of a display at once", Long: unpairHelp, Args: cobra.ExactArgs(1), RunE: asking(unpairDisplay)}
	clientFlags(cmd)
	return cmd
}

func listDisplays(cmd *cobra.Command, c *client, args []string) error {
	spaces, err := c.spaces(cmd)
	if err != nil {
		return err
	}
	of := func(edgeEntry) bool { return true }
	if len(args) > 0 {
		s, err := c.space(cmd, args[0])
		if err != nil {
			return err
		}
		of = func(e edgeEntry) bool { return e.SpaceID == s.ID }
	}
	told, raw, err := c.ask(cmd.Context(), http.MethodGet, "/gateway/edge", nil)
	if err != nil {
		return err
	}
	var answer struct {
		Devices []edgeEntry `json:"edge_devices"`
	}
	if err := c.decode(told, raw, &answer); err != nil {
		return err
	}
	all := slices.DeleteFunc(answer.Devices, func(e edgeEntry) bool { return !of(e) })
	name := map[string]string{}
	for _, s := range spaces {
		name[s.ID] = s.Name
	}
	now := toldAt(told)
	return outputSome(cmd, all, len(all), "none yet: pair one with roomgate space pair SPACE", "SPACE KIND NAME LAST-SEEN ADDRESS REGISTERED ID", func(row func(...string)) {
		for _, e := range all {
			seen := "-"
			if !e.LastSeen.IsZero() {
				seen = web.Age(now.Sub(e.LastSeen)) + " ago"
			}
			row(show.Dash(name[e.SpaceID]), e.Kind, e.Name, seen, show.Dash(e.Address), day(e.Registered), e.ID)
		}
	})
}

func unpairDisplay(cmd *cobra.Command, c *client, args []string) error {
	return c.call(cmd.Context(), http.MethodDelete, "/gateway/edge/"+url.PathEscape(args[0]), nil, nil)
}
