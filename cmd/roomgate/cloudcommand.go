package main

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cloud"
	"roomgate/cloud/backend"
)

func newCloudCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "command GATEWAY SPACE DEVICE [SUB-DEVICE] ACTION [VALUE | NAME=VALUE...]",
		Short: "command a device as the cloud does, over MQTT",
		Long: "Sends a command to a gateway by way of the cloud's broker and waits for its\n" +
			"receipt. A meeting space is named by id or, if the broker knows it, by name.",
		Example: "  roomgate cloud command demo aurora lock open\n  roomgate cloud command demo aurora light intensity 40 --ttl 5s\n" +
			"  roomgate cloud command berlin-3 aurora lock open --key backend.key",
		Args: cobra.MinimumNArgs(4), RunE: action(commandByCloud)}
	cloudFlags(cmd)
	signingFlag(cmd)
	cmd.Flags().Duration("ttl", 30*time.Second, "how late the command may still be carried out; with --key by the clock of this machine, which has to be right, else from its arrival")
	cmd.Flags().Duration("wait", 15*time.Second, "how long to wait for the receipt")
	return cmd
}

func commandByCloud(cmd *cobra.Command, args []string) error {
	args, err := addressed(args, 2)
	if err != nil {
		return err
	}
	gateway := args[0]
	if !cloud.ValidGateway(gateway) {
		return fail(exitUsage, "%q is no gateway's id: want letters, digits, dots, dashes and underscores", gateway)
	}
	ttl, _ := cmd.Flags().GetDuration("ttl")
	if ttl < time.Millisecond || ttl > 24*time.Hour {
		return fail(exitUsage, "--ttl %v is out of range: want 1ms to 24h, and at most 1m to open a lock", ttl)
	}
	by, err := signer(cmd)
	if err != nil {
		return err
	}
	topics := cloud.Topics{Gateway: gateway}
	l, err := dialCloud(cmd, topics.Up(cloud.LevelReceipt), topics.Up(cloud.LevelState, "+"))
	if err != nil {
		return err
	}
	defer l.close()
	l.signer = by
	space, err := l.space(cmd, gateway, args[1])
	if err != nil {
		return err
	}
	o, err := newCommand(deviceRow{Type: args[2]}, args[3:])
	if err != nil {
		return err
	}
	c := backend.Command{MeetingSpaceID: space, DeviceType: args[2], SubDevice: o.SubDevice, Action: o.Action, Value: o.Value, TTL: ttl.Seconds()}
	if by != nil { // what counts from its arrival would be fresh whenever it comes
		c.ExpiresAt, c.TTL = time.Now().UTC().Add(ttl), 0
	}
	got, err := l.ask(cmd, gateway, cloud.LevelCommand, c)
	if err != nil {
		return err
	}
	if err := got.show(cmd); err != nil {
		return err
	}
	return got.verdict()
}

// space finds a space of a gateway by its id or by the name in its state.
func (l *cloudLink) space(cmd *cobra.Command, gateway, name string) (string, error) {
	if strings.Count(name, "-") == 4 && len(name) == 36 {
		return name, nil
	}
	var id string
	all := l.fleetUntil(cmd, func(g *fleetGateway) bool {
		if i := slices.IndexFunc(g.Spaces, func(s fleetSpace) bool { return strings.EqualFold(s.Name, name) }); i >= 0 && g.ID == gateway {
			id = g.Spaces[i].ID
		}
		return id != ""
	})
	if id != "" {
		return id, nil
	}
	var names []string
	for _, g := range all {
		for _, s := range g.Spaces {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return "", fail(exitUnreachable, "the broker knows no meeting space of gateway %s: roomgate cloud fleet shows the gateways it knows; of one that was never online name the space by its id", gateway)
	}
	slices.Sort(names)
	return "", fail(exitRefused, "%q is not a meeting space of gateway %s, which has %s", name, gateway, strings.Join(slices.Compact(names), ", "))
}

func newCloudConfig() *cobra.Command {
	cmd := &cobra.Command{Use: "config GATEWAY FILE", Short: "configure a gateway as the cloud does, over MQTT",
		Long: "Sends a JSON file as down/config and waits for the receipt. The file has a\n" +
			"revision, later than that of the one before. The broker keeps it for the\n" +
			"gateway. GET /asyncapi.yaml of a gateway has the fields.",
		Example: "  roomgate cloud config demo building.json",
		Args:    cobra.ExactArgs(2), RunE: action(configureByCloud)}
	cloudFlags(cmd)
	signingFlag(cmd)
	cmd.Flags().Duration("wait", 15*time.Second, "how long to wait for the receipt")
	return cmd
}

func configureByCloud(cmd *cobra.Command, args []string) error {
	gateway := args[0]
	if !cloud.ValidGateway(gateway) {
		return fail(exitUsage, "%q is no gateway's id: want letters, digits, dots, dashes and underscores", gateway)
	}
	data, err := readGiven(cmd, args[1], maxGiven)
	if err != nil {
		return err
	}
	var c struct {
		Revision uint64 `json:"revision"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return fail(exitConfig, "%s is no JSON: %w", args[1], err)
	}
	by, err := signer(cmd)
	if err != nil {
		return err
	}
	l, err := dialCloud(cmd, cloud.Topics{Gateway: gateway}.Up(cloud.LevelReceipt))
	if err != nil {
		return err
	}
	defer l.close()
	l.signer = by
	got, err := l.ask(cmd, gateway, cloud.LevelConfig, json.RawMessage(data))
	if err != nil {
		return err
	}
	return got.tell(cmd, "gateway %s is configured by revision %d", gateway, c.Revision)
}
