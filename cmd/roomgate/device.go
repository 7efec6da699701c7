package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/spelling"
	"roomgate/drivers"

	"roomgate/cmd/roomgate/show"
)

// record is the platform's status record.
type record struct {
	Device string `json:"device"`
	Value  string `json:"value"`
	Status string `json:"status"`
}

func newDevice() *cobra.Command {
	list := &cobra.Command{Use: "list [SPACE]", Short: "list the devices", Args: cobra.MaximumNArgs(1), RunE: asking(listDevices)}
	status := &cobra.Command{Use: "status SPACE [DEVICE [SUB-DEVICE]]", Short: "show what devices are and whether they answer",
		Example: "  roomgate device status aurora\n  roomgate device status aurora temperature",
		Args:    cobra.RangeArgs(1, 3), RunE: asking(showStatus)}
	act := &cobra.Command{Use: "action SPACE DEVICE [SUB-DEVICE] ACTION [VALUE | NAME=VALUE...]", Short: "tell a device to do something",
		Long: "Orders a device to do something and waits for the proof that it did. A sub-device is\nnamed after its device, or alone.\n\"device list --output json\" has the actions and their values.",
		Example: "  roomgate device action aurora lock open\n  roomgate device action aurora light intensity 40\n" +
			"  roomgate device action aurora ring-light color '#ff8800'",
		Args: cobra.MinimumNArgs(3), RunE: asking(doAction)}
	below := []*cobra.Command{list, status, act, newIdentify(), newAccept()}
	for _, cmd := range below {
		clientFlags(cmd)
	}
	return group("device", "devices in meeting spaces", below...)
}

func listDevices(cmd *cobra.Command, c *client, args []string) error {
	var answer struct {
		Devices []deviceRow `json:"devices"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, "/gateway/devices", nil, &answer); err != nil {
		return err
	}
	if len(args) == 1 {
		s, err := c.space(cmd, args[0])
		if err != nil {
			return err
		}
		answer.Devices = slices.DeleteFunc(answer.Devices, func(d deviceRow) bool { return d.SpaceID != s.ID })
	}
	return output(cmd, answer.Devices, "SPACE DEVICE VALUE STATUS DRIVER ACTIONS", func(row func(...string)) {
		for _, d := range answer.Devices {
			for _, r := range d.Readings {
				row(d.SpaceName, r.Device, show.Dash(r.Value), r.Status, d.Driver, show.Dash(strings.Join(d.Description.ActionNames(r.SubDevice), " ")))
			}
		}
	})
}

func showStatus(cmd *cobra.Command, c *client, args []string) error {
	args, err := addressed(args, 1)
	if err != nil {
		return err
	}
	if len(args) > 3 {
		return fail(exitUsage, "%s has no sub-device %q", args[2], args[3])
	}
	s, err := c.space(cmd, args[0])
	if err != nil {
		return err
	}
	ask := struct {
		DeviceType string `json:"device_type"`
		SubDevice  string `json:"sub_device,omitempty"`
	}{DeviceType: "all"}
	var one struct{ Response record }
	var all struct{ Response struct{ Devices []record } }
	if len(args) == 1 {
		err = c.call(cmd.Context(), http.MethodPost, "/devices/"+s.ID+"/status", ask, &all)
		return showRecords(cmd, all.Response.Devices, all.Response.Devices, err)
	}
	ask.DeviceType = args[1]
	if len(args) == 3 {
		ask.SubDevice = args[2]
	}
	err = c.call(cmd.Context(), http.MethodPost, "/devices/"+s.ID+"/status", ask, &one)
	return showRecords(cmd, one.Response, []record{one.Response}, err)
}

// showRecords prints v, or the records in it as a table.
func showRecords(cmd *cobra.Command, v any, records []record, err error) error {
	if err != nil {
		return err
	}
	return output(cmd, v, "DEVICE VALUE STATUS", func(row func(...string)) {
		for _, r := range records {
			row(r.Device, show.Dash(r.Value), r.Status)
		}
	})
}

// addressed are arguments of which the one at a place names a device as the tables show
// it: a sub-device is there by its own name, and gets the device before it that has it. The
// error names the one that was probably meant.
func addressed(args []string, at int) ([]string, error) {
	if len(args) <= at || args[at] == "all" || slices.Contains(drivers.Types(), args[at]) {
		return args, nil
	}
	known := drivers.Types()
	for _, deviceType := range drivers.Types() {
		if isSub(deviceType, args[at]) {
			return slices.Insert(slices.Clone(args), at, deviceType), nil
		}
		known = append(known, drivers.SubDevices(deviceType)...)
	}
	if near := spelling.Nearest(args[at], known); near != "" {
		return nil, fail(exitUsage, "there is no device %q: did you mean %q?", args[at], near)
	}
	return args, nil // the gateway says what there is
}

// isSub says whether a word names a sub-device of a device type.
func isSub(deviceType, word string) bool {
	return slices.Contains(drivers.SubDevices(deviceType), drivers.Canonical(word))
}
