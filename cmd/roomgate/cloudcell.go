package main

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"roomgate/cloud/cell"
)

func newCloudCell() *cobra.Command {
	cmd := &cobra.Command{Use: "cell DIR [GATEWAY...]", Short: "share gateways out over cells, and write what their brokers read",
		Long: "Admits gateways to a fleet: each gets a place in a cell and a login, whose user is its\n" +
			"id and whose password is written to DIR/GATEWAY.password. Bring it with the claim\n" +
			"(roomgate cloud claim --user GATEWAY --password-file FILE), then delete the file. One that is\n" +
			"admitted again gets another password. Each cell has a backend, backend@1 and so on.\n\n" +
			"DIR/accounts.conf is for NATS, where a cell is an account; mosquitto-1.acl and\n" +
			"mosquitto-1.passwords are for the Mosquitto of cell 1. A broker reads them again on SIGHUP.\n" +
			"With --certificates NATS takes the users from certificates, now and with each later gateway; they\n" +
			"have no password there, so let it ask for certificates first (verify_and_map).\n" +
			"DIR/logins.json has who was admitted, without passwords: keep it.",
		Example: "  roomgate cloud cell fleet berlin-3 berlin-4\n  roomgate cloud cell fleet --expel berlin-3",
		Args:    cobra.MinimumNArgs(1), RunE: action(writeCells)}
	f := cmd.Flags()
	f.StringSlice("expel", nil, "`GATEWAY` whose login is taken away")
	f.Int("size", 0, "`GATEWAYS` that a new cell has at most; else as before, at first 300")
	f.String("disk", "", "`BYTES` that may wait for a cell at NATS, as 500M; else as before, at first 1G")
	f.Bool("certificates", false, "NATS lets in by certificate (roomgate cloud ca); as before if not given, --certificates=false: by password again")
	return cmd
}

func writeCells(cmd *cobra.Command, args []string) error {
	made := map[string]string{}
	logins, err := cell.Folder(args[0]).Change(func(c *cell.Logins) (map[string]string, error) {
		if err := changeLogins(cmd, c); err != nil {
			return nil, err
		}
		for _, gateway := range args[1:] {
			passwords, err := c.Admit(gateway)
			if err != nil {
				return nil, fail(exitUsage, "%w", err)
			}
			maps.Copy(made, passwords)
		}
		return made, nil
	})
	if err != nil {
		return err
	}
	return printCells(cmd, logins, slices.Sorted(maps.Keys(made)))
}

// changeLogins changes what the flags want changed.
func changeLogins(cmd *cobra.Command, c *cell.Logins) error {
	if size, _ := cmd.Flags().GetInt("size"); size < 0 || size > cell.MaxSize {
		return fail(exitUsage, "--size %d is no number of gateways in a cell: want 1 to %d", size, cell.MaxSize)
	} else if size > 0 {
		c.Size = size
	}
	if disk := text(cmd, "disk"); disk != "" {
		if !cell.ValidDisk(disk) {
			return fail(exitUsage, "--disk %q is no number of bytes: want one as 500M or 1G", disk)
		}
		c.Disk = disk
	}
	if cmd.Flags().Changed("certificates") {
		c.Certificates, _ = cmd.Flags().GetBool("certificates")
	}
	leave, _ := cmd.Flags().GetStringSlice("expel")
	for _, gateway := range leave {
		if err := c.Expel(gateway); err != nil {
			return fail(exitRefused, "%w", err)
		}
	}
	return nil
}

// printCells says how full the cells are, and whose passwords are new.
func printCells(cmd *cobra.Command, c *cell.Logins, made []string) error {
	members := map[int]int{}
	for _, g := range c.Gateways {
		members[g.Cell]++
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CELL\tBACKEND\tGATEWAYS")
	for i, b := range c.Backends {
		fmt.Fprintf(w, "%d\t%s\t%d\n", i+1, b.User, members[i+1])
	}
	for _, user := range made {
		fmt.Fprintf(w, "new password: %s.password\n", user)
	}
	return w.Flush()
}
