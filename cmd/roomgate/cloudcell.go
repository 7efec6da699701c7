package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"roomgate/agent/atomicfile"
	"roomgate/cloud/cell"
)

// loginsFile is which gateways have been admitted, in the folder of cloud cell. It has no
// password.
const loginsFile = "logins.json"

func newCloudCell() *cobra.Command {
	cmd := &cobra.Command{Use: "cell DIR [GATEWAY...]", Short: "share gateways out over cells, and write what their brokers read",
		Long: "Admits gateways to a fleet: each gets a place in a cell and a login, whose user is its\n" +
			"id and whose password is written to DIR/GATEWAY.password. Bring it with the claim\n" +
			"(roomgate cloud claim --user GATEWAY --password-file FILE), then delete the file. One that is\n" +
			"admitted again gets another password. Each cell has a backend, backend@1 and so on.\n\n" +
			"DIR/accounts.conf is for NATS, where a cell is an account; mosquitto-1.acl and\n" +
			"mosquitto-1.passwords are for the Mosquitto of cell 1. A broker reads them again on SIGHUP.\n" +
			"DIR/logins.json has who was admitted, without passwords: keep it.",
		Example: "  roomgate cloud cell fleet berlin-3 berlin-4\n  roomgate cloud cell fleet --expel berlin-3",
		Args:    cobra.MinimumNArgs(1), RunE: action(writeCells)}
	f := cmd.Flags()
	f.StringSlice("expel", nil, "`GATEWAY` whose login is taken away")
	f.Int("size", 0, "`GATEWAYS` that a new cell has at most; else as before, at first 300")
	f.String("disk", "", "`BYTES` that may wait for a cell at NATS, as 500M; else as before, at first 1G")
	return cmd
}

func writeCells(cmd *cobra.Command, args []string) error {
	made := map[string]string{}
	logins, err := changeCells(args[0], func(c *cell.Logins) (map[string]string, error) {
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

// changeCells changes who is admitted, one after the other, and writes what brokers read and the passwords
// that change returns.
func changeCells(dir string, change func(*cell.Logins) (passwords map[string]string, err error)) (logins *cell.Logins, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	if logins, err = readLogins(dir); err != nil {
		return nil, err
	}
	made, err := change(logins)
	if err != nil {
		return nil, err
	}
	// Passwords are first: without their hashes they let nobody in, while nobody could make a hash's password again.
	for user, password := range made {
		if err := atomicfile.Write(filepath.Join(dir, user+".password"), []byte(password+"\n"), nil); err != nil {
			return nil, err
		}
	}
	raw, err := json.MarshalIndent(logins, "", "  ")
	if err != nil {
		return nil, err
	}
	files := logins.Files()
	files[loginsFile] = string(raw) + "\n"
	for name, content := range files {
		if err := atomicfile.Write(filepath.Join(dir, name), []byte(content), nil); err != nil {
			return nil, err
		}
	}
	return logins, nil
}

// admitBy is how a fleet admits a gateway that it claims; nil: it admits none. The gateway's password goes
// with the claim, and nowhere else.
func admitBy(dir string) func(gateway string) (user, password string, err error) {
	if dir == "" {
		return nil
	}
	return func(gateway string) (user, password string, err error) {
		_, err = changeCells(dir, func(c *cell.Logins) (map[string]string, error) {
			made, err := c.Admit(gateway)
			user, password = gateway, made[gateway]
			delete(made, gateway)
			return made, err
		})
		return user, password, err
	}
}

// admittedBy is how a fleet knows who has a login; nil: nobody does.
func admittedBy(dir string) func(gateway string) (bool, error) {
	if dir == "" {
		return nil
	}
	return func(gateway string) (bool, error) {
		logins, err := readLogins(dir)
		return err == nil && slices.ContainsFunc(logins.Gateways, func(l cell.Login) bool { return l.User == gateway }), err
	}
}

func readLogins(dir string) (*cell.Logins, error) {
	logins := &cell.Logins{}
	raw, err := os.ReadFile(filepath.Join(dir, loginsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return logins, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, logins)
	}
	if err != nil {
		return nil, fail(exitFailed, "%s cannot be read: %w", filepath.Join(dir, loginsFile), err)
	}
	return logins, nil
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
