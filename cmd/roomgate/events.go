package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/drivers"

	"roomgate/cmd/roomgate/show"
)

// event is the platform's event record.
type event struct {
	Type    string         `json:"eventType"`
	Time    string         `json:"timestamp"`
	Details map[string]any `json:"details"`
}

// eventPage is what the gateway answers.
type eventPage struct {
	Events []event `json:"events"`
	Next   string  `json:"next_cursor"`
}

// followWait is how long one request of --follow waits for the next event.
const followWait = "25s"

func newEvents() *cobra.Command {
	cmd := &cobra.Command{Use: "events", Short: "show what happened, oldest first", Args: cobra.NoArgs, RunE: asking(showEvents)}
	f := cmd.Flags()
	f.Bool("follow", false, "go on with what happens from now; JSON is then one record per line")
	f.String("space", "", "only of this meeting `SPACE`")
	f.String("device", "", "only of this device `TYPE`")
	f.String("sub-device", "", "only of this `SUB-DEVICE`")
	f.String("type", "", "only events of this `TYPE`, as temperatureAlert")
	f.String("since", "", "only from this `TIME` on, as -2h, 14:00, yesterday, 2026-11-21 or 2026-11-21T08:00:00Z; by the clock of --space, else of this machine")
	f.Int("limit", 50, "at most this many of the newest; with --since the first ones, all without --limit")
	clientFlags(cmd)
	return cmd
}

func showEvents(cmd *cobra.Command, c *client, _ []string) error {
	query, err := eventQuery(cmd, c)
	if err != nil {
		return err
	}
	if err := c.knownEvent(cmd); err != nil {
		return err
	}
	page, err := c.events(cmd, query)
	if err != nil {
		return err
	}
	follow, _ := cmd.Flags().GetBool("follow")
	if wantsJSON(cmd) && !follow {
		return show.JSON(cmd.OutOrStdout(), page)
	}
	names, err := c.names(cmd)
	if err != nil {
		return err
	}
	if err := printEvents(cmd, names, page.Events); err != nil || !follow {
		return err
	}
	query.Set("wait", followWait)
	query.Del("limit")
	return followEvents(cmd, c, names, query, page.Next)
}

// mostEvents is how many one answer may have.
const mostEvents = 200

// events are the newest, or with --since all from there on.
func (c *client) events(cmd *cobra.Command, query url.Values) (all eventPage, err error) {
	left, _ := cmd.Flags().GetInt("limit")
	pages := query.Has("since")
	if pages && !cmd.Flags().Changed("limit") {
		left = math.MaxInt
	}
	query, all.Events = maps.Clone(query), []event{}
	for {
		if pages {
			query.Set("limit", strconv.Itoa(min(left, mostEvents)))
		}
		var page eventPage
		if err := c.call(cmd.Context(), http.MethodGet, "/devices/events?"+query.Encode(), nil, &page); err != nil {
			return all, err
		}
		all.Events, all.Next = append(all.Events, page.Events...), page.Next
		if left -= len(page.Events); !pages || len(page.Events) == 0 || left <= 0 {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

// knownEvent lets the gateway refuse a type of event that there is not, which V2.0
// does: an empty answer would look as if nothing had happened.
func (c *client) knownEvent(cmd *cobra.Command) error {
	kind := text(cmd, "type")
	if kind == "" {
		return nil
	}
	return c.call(cmd.Context(), http.MethodGet, "/v2.0/events?"+url.Values{"limit": {"1"}, "event_type": {kind}}.Encode(), nil, nil)
}

// eventQuery is what the flags ask for.
func eventQuery(cmd *cobra.Command, c *client) (url.Values, error) {
	query := url.Values{}
	for flag, name := range map[string]string{"device": "device_type", "sub-device": "sub_device", "type": "event_type"} {
		if value := text(cmd, flag); value != "" {
			query.Set(name, value)
		}
	}
	limit, _ := cmd.Flags().GetInt("limit")
	query.Set("limit", strconv.Itoa(limit))
	wall := show.Clock{Zone: time.Local, Now: time.Now()}
	if name := text(cmd, "space"); name != "" {
		s, err := c.findRoom(cmd, name)
		if err != nil {
			return nil, err
		}
		query.Set("meeting_space_id", s.ID)
		wall = s.clock
	}
	if since := text(cmd, "since"); since != "" {
		at, err := wall.Since(since)
		if err != nil {
			return nil, err
		}
		query.Set("since", at.UTC().Format(time.RFC3339))
	}
	return query, nil
}

// followEvents asks again and again until it is interrupted or the gateway is
// gone.
func followEvents(cmd *cobra.Command, c *client, names map[string]string, query url.Values, cursor string) error {
	for {
		query.Set("cursor", cursor)
		var page eventPage
		err := c.call(cmd.Context(), http.MethodGet, "/devices/events?"+query.Encode(), nil, &page)
		switch {
		case cmd.Context().Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if err := printEvents(cmd, names, page.Events); err != nil {
			return err
		}
		cursor = page.Next
	}
}

// printEvents prints one line for each event.
func printEvents(cmd *cobra.Command, names map[string]string, events []event) error {
	out := cmd.OutOrStdout()
	for _, e := range events {
		var err error
		if wantsJSON(cmd) {
			err = json.NewEncoder(out).Encode(e)
		} else {
			_, err = fmt.Fprintln(out, show.Plain(e.line(names)))
		}
		if err != nil {
			return err // nobody reads any more
		}
	}
	return nil
}

// names are the names of the meeting spaces by id.
func (c *client) names(cmd *cobra.Command) (map[string]string, error) {
	all, err := c.spaces(cmd)
	names := map[string]string{}
	for _, s := range all {
		names[s.ID] = s.Name
	}
	return names, err
}

// where is the device's id, and the sub-device's name if it is about that; of
// an event of no device it is the meeting space's name.
func (e event) where(names map[string]string) string {
	id, _ := e.Details["device_id"].(string)
	if space, _ := e.Details["meeting_space_id"].(string); id == "" {
		id = names[space]
	}
	if sub, _ := e.Details["device"].(string); isSub(drivers.TypeO3, sub) {
		id += "/" + sub
	}
	return show.Dash(id)
}

// line is the event for people: when, what, where, and the rest by name.
func (e event) line(names map[string]string) string {
	parts := []string{e.Time, e.Type, e.where(names)}
	for _, name := range slices.Sorted(maps.Keys(e.Details)) {
		switch name {
		case "device_id", "device", "meeting_space_id":
			continue
		}
		if e.Details[name] == "" {
			continue
		}
		value, _ := json.Marshal(e.Details[name])
		parts = append(parts, name+"="+strings.Trim(string(value), `"`))
	}
	return strings.Join(parts, "  ")
}
