package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/drivers"

	"roomgate/cmd/roomgate/show"
)

// space is a meeting space as the gateway lists it.
type space struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	Timezone string      `json:"timezone"`
	Devices  []deviceRow `json:"devices"`
}

// deviceRow is one of its devices.
type deviceRow struct {
	ID          string              `json:"id"`
	Type        string              `json:"type"`
	Driver      string              `json:"driver"`
	SpaceID     string              `json:"meeting_space_id"`
	SpaceName   string              `json:"meeting_space"`
	Enabled     bool                `json:"enabled"`
	Description drivers.Description `json:"description"`
	Readings    []reading           `json:"readings,omitempty"` // only in the list of devices
}

// reading is what the gateway knows of a device or a sub-device.
type reading struct {
	record
	SubDevice  string         `json:"sub_device,omitempty"`
	ObservedAt time.Time      `json:"observed_at,omitzero"`
	Source     string         `json:"source,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	Reason     string         `json:"reason,omitempty"` // why it is offline
}

func newSpace() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "list the meeting spaces and what they are like now", Args: cobra.NoArgs, RunE: asking(listSpaces)}
	state := &cobra.Command{Use: "state SPACE", Short: "show whether a meeting space is free, and who is in it", Long: stateHelp,
		Example: "  roomgate space state aurora", Args: cobra.ExactArgs(1), ValidArgsFunction: completeSpace, RunE: asking(showState)}
	clientFlags(list)
	clientFlags(state)
	return group("space", "meeting spaces", list, state, newSpacePair(), newSpaceDisplays(), newSpaceUnpair())
}

func listSpaces(cmd *cobra.Command, c *client, _ []string) error {
	spaces, err := c.spaces(cmd)
	if err != nil {
		return err
	}
	rooms := make([]room, len(spaces))
	for i, s := range spaces {
		if rooms[i], err = c.stateOf(cmd, s); err != nil {
			return err
		}
	}
	return output(cmd, rooms, "NAME STATUS NOW NEXT FREE-UNTIL FREE-FROM TIMEZONE ID", func(row func(...string)) {
		for _, r := range rooms {
			today := r.clock.Today()
			row(r.Name, string(r.State.Status), r.meeting(r.State.Current), r.meeting(r.State.Next),
				r.freeUntil(), show.Dash(r.sayOr(r.State.NextAvailable, today)), r.Timezone, r.ID)
		}
	})
}

func (c *client) spaces(cmd *cobra.Command) ([]space, error) {
	var answer struct {
		Spaces []space `json:"meeting_spaces"`
	}
	err := c.call(cmd.Context(), http.MethodGet, "/gateway/spaces", nil, &answer)
	return answer.Spaces, err
}

// space finds a meeting space by id or, ignoring case, by name.
func (c *client) space(cmd *cobra.Command, nameOrID string) (space, error) {
	spaces, err := c.spaces(cmd)
	if err != nil {
		return space{}, err
	}
	names := make([]string, len(spaces))
	for i, s := range spaces {
		if s.ID == nameOrID || strings.EqualFold(s.Name, nameOrID) {
			return s, nil
		}
		names[i] = s.Name
	}
	if len(names) == 0 {
		return space{}, fail(exitRefused, "there is no meeting space %q here, and no other yet", nameOrID)
	}
	return space{}, fail(exitRefused, "there is no meeting space %q here, only %s", nameOrID, strings.Join(names, ", "))
}

// device finds a device of the space by its type.
func (s space) device(deviceType string) (deviceRow, error) {
	types := make([]string, len(s.Devices))
	for i, d := range s.Devices {
		if d.Type == deviceType {
			return d, nil
		}
		types[i] = d.Type
	}
	return deviceRow{}, fail(exitRefused, "there is no %q in %s, only %s", deviceType, s.Name, strings.Join(types, ", "))
}

// completeSpace offers the spaces' names to the shell.
func completeSpace(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || fromEnvironment(cmd.Flags()) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	if c, err := connect(cmd); err == nil {
		spaces, _ := c.spaces(cmd) // a gateway that is not there offers nothing
		for _, s := range spaces {
			names = append(names, strings.ToLower(s.Name))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
