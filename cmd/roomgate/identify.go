package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"roomgate/agent/acceptance"
	"roomgate/agent/device"
	"roomgate/agent/site"
	"roomgate/drivers"

	"roomgate/cmd/roomgate/show"
)

const identifyHelp = `Makes a device show itself, so that the one in the hand is the one on the
screen: the ring blinks, the buzzer beeps, the light goes on and off, the fan
runs up, the display says where it is, the camera takes a picture. The lock
clicks open and locks again, and only with --door. Afterwards the device is
brought back to what it was.`

func newIdentify() *cobra.Command {
	cmd := &cobra.Command{Use: "identify SPACE DEVICE [SUB-DEVICE]", Short: "make a device show itself", Long: identifyHelp,
		Example: "  roomgate device identify aurora light\n  roomgate device identify aurora o3-sensor ring-light",
		Args:    cobra.RangeArgs(2, 3), RunE: asking(identify)}
	cmd.Flags().Bool("door", false, "let the lock of a door click: the door is open for a moment")
	return cmd
}

func identify(cmd *cobra.Command, c *client, args []string) error {
	args, err := addressed(args, 1)
	if err != nil {
		return err
	}
	if len(args) > 3 {
		return fail(exitUsage, "%s has no sub-device %q", args[2], args[3])
	}
	room, d, err := c.roomDevice(cmd, args)
	if err != nil {
		return err
	}
	sub := ""
	if len(args) == 3 {
		sub = drivers.Canonical(args[2])
		if !isSub(d.Type, sub) {
			return fail(exitRefused, "%s has no sub-device %q", d.Type, args[2])
		}
	}
	if door, _ := cmd.Flags().GetBool("door"); d.Type == drivers.TypeLock && !door {
		return fail(exitUsage, "the door of %s would be open for a moment: say --door if that is right", room.Name)
	}
	var shown []acceptance.Shown
	err = room.Identify(cmd.Context(), d.Type, sub, func(s acceptance.Shown) {
		shown = append(shown, s)
		if !wantsJSON(cmd) {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", show.Plain(room.Name), show.Plain(s.What))
		}
	})
	if err == nil && wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), shown)
	}
	return err
}

// roomDevice finds the room and the device that a command names.
func (c *client) roomDevice(cmd *cobra.Command, args []string) (acceptance.Room, deviceRow, error) {
	s, err := c.space(cmd, args[0])
	if err != nil {
		return acceptance.Room{}, deviceRow{}, err
	}
	d, err := s.device(args[1])
	if err != nil {
		return acceptance.Room{}, deviceRow{}, err
	}
	room, err := c.room(cmd.Context(), s.ID)
	return room, d, err
}

// room is a meeting space as this client reaches it.
func (c *client) room(ctx context.Context, id string) (acceptance.Room, error) {
	var answer struct {
		Spaces []site.SpaceInfo `json:"meeting_spaces"`
	}
	if err := c.call(ctx, http.MethodGet, "/gateway/spaces", nil, &answer); err != nil {
		return acceptance.Room{}, err
	}
	i := slices.IndexFunc(answer.Spaces, func(s site.SpaceInfo) bool { return s.ID == id })
	if i < 0 {
		return acceptance.Room{}, fail(exitRefused, "the meeting space %s is gone", id)
	}
	r := acceptance.Room{SpaceInfo: answer.Spaces[i]}
	r.Command = func(ctx context.Context, o acceptance.Command) (got device.Receipt, err error) {
		err = reached(c.call(ctx, http.MethodPost, "/devices/"+id+"/action", o, &got))
		return got, err
	}
	r.Read = func(ctx context.Context, deviceType string) ([]device.Reading, error) {
		return c.readings(ctx, id, deviceType)
	}
	r.Picture = func(ctx context.Context, deviceType string) (drivers.Picture, error) {
		path := "/devices/" + id + "/snapshot"
		if deviceType == drivers.TypeDisplay {
			path = "/meetingspace/" + id + "/screenshot"
		}
		return c.picture(ctx, path)
	}
	return r, nil
}

// reached marks an error of a gateway that does not answer.
func reached(err error) error {
	var f *fault
	if errors.As(err, &f) && f.code == exitUnreachable {
		return fmt.Errorf("%w: %w", acceptance.ErrUnreachable, err)
	}
	return err
}

// readings are what the gateway knows of a device.
func (c *client) readings(ctx context.Context, space, deviceType string) ([]device.Reading, error) {
	var answer struct {
		Devices []struct {
			Type     string           `json:"type"`
			Space    string           `json:"meeting_space_id"`
			Readings []device.Reading `json:"readings"`
		} `json:"devices"`
	}
	err := reached(c.call(ctx, http.MethodGet, "/gateway/devices", nil, &answer))
	for _, d := range answer.Devices {
		if d.Space == space && d.Type == deviceType {
			return d.Readings, err
		}
	}
	return nil, err
}

// picture fetches an image.
func (c *client) picture(ctx context.Context, path string) (p drivers.Picture, err error) {
	answer, raw, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return p, reached(err)
	}
	if answer.StatusCode != http.StatusOK {
		return p, c.refusal(answer, raw)
	}
	return drivers.Picture{ContentType: answer.Header.Get("Content-Type"), Data: raw}, nil
}
