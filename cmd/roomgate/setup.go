package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/configs"
	"roomgate/drivers/all"
	"roomgate/drivers/o3"

	"roomgate/cmd/roomgate/show"
)

const setupHelp = `Looks at what this board has, asks what it cannot know, shows what it will
change in the configuration, writes it, and lets the doctor examine the result.

Every question has a default, taken with the return key; "?" explains it. The
answers can come from a file instead, in the keys of the configuration, of which
ids may be left out:

  gateway: {id: berlin-3}
  cloud: {url: "mqtts://cloud.example.com", username: berlin-3, password: secret}
  spaces:
    - name: Atlas
      timezone: Europe/Berlin
      devices:
        - {driver: lock-relay, options: {relay: GPIO17}}
        - {driver: o3-mqtt, options: {address: "10.0.0.31:1883", password: secret}}
        - {driver: display-page}

What the file says already stays, with its comments; what was there before is
kept as FILE.before. Passwords go to files of their own in credentials/ beside
the configuration. With a mistake nothing is written.`

func newSetup() *cobra.Command {
	cmd := &cobra.Command{Use: "setup", Short: "look at this board, ask, and write its configuration",
		Long: setupHelp, Args: cobra.NoArgs, RunE: action(runSetup)}
	gatewayFlags(cmd)
	f := cmd.Flags()
	f.String("answers", "", "`FILE` with the answers: nobody is asked for them")
	f.Bool("yes", false, "write the plan without asking")
	f.Bool("scan", false, "look for O3 hubs in this machine's networks, with the factory password")
	f.Bool("dry-run", false, "show what would change and write nothing")
	f.Bool("no-doctor", false, "end without the doctor, as for another machine")
	outputFlag(cmd)
	return cmd
}

func runSetup(cmd *cobra.Command, _ []string) error {
	options, err := setupOptions(configFile(cmd))
	if err != nil {
		return err
	}
	w := &wizard{cmd: cmd, Terminal: newTerminal(cmd), options: options, asks: text(cmd, "answers") == "" && !flagged(cmd, "yes")}
	w.look()
	name, answers, err := w.answers()
	if err != nil {
		return err
	}
	plan, err := setup.Prepare(name, answers, options)
	if err != nil {
		return invalid(err)
	}
	if err := w.write(plan); err != nil || flagged(cmd, "no-doctor") || flagged(cmd, "dry-run") {
		return err
	}
	fmt.Fprintln(w.Out)
	return runDoctor(cmd, nil)
}

func flagged(cmd *cobra.Command, name string) bool {
	on, err := cmd.Flags().GetBool(name)
	return err == nil && on
}

// invalid gives problems of a configuration their exit code.
func invalid(err error) error {
	var problems *config.Errors
	if errors.As(err, &problems) {
		return &fault{exitConfig, err}
	}
	return err
}

// setupOptions are those of a machine whose configuration is the file.
func setupOptions(file string) (setup.Options, error) {
	fresh, err := setup.Fresh(configs.Gateway)
	if err != nil {
		return setup.Options{}, err
	}
	file, err = filepath.Abs(file)
	o := setup.Options{File: file, Fresh: fresh, Credentials: filepath.Join(filepath.Dir(file), "credentials"),
		Kinds: all.All(), Timezone: localZone("/")}
	if file == defaultConfig { // systemd reads that folder for the service, and nobody else may
		o.Reference = func(name string) string { return "${CREDENTIALS_DIRECTORY}/secret_" + name }
	}
	return o, err
}

// localZone is the time zone of the machine below root by its IANA name.
func localZone(root string) string {
	if name, err := os.ReadFile(filepath.Join(root, "etc/timezone")); err == nil {
		return strings.TrimSpace(string(name))
	}
	link, err := os.Readlink(filepath.Join(root, "etc/localtime"))
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(link, "zoneinfo/")
	return name
}

// answers are what the file of answers says, or what a person does, with the
// flags laid over it.
func (w *wizard) answers() (name string, data []byte, err error) {
	name, a := "the answers", setup.NewAnswers()
	if file := text(w.cmd, "answers"); file != "" {
		name = file
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", nil, fail(exitUsage, "read answers: %w", err)
		}
		if _, err = setup.ReadAnswers(name, raw, w.options); err != nil {
			return "", nil, invalid(err)
		}
		data = raw
	} else if w.asks {
		if err := w.ask(a); err != nil {
			return "", nil, err
		}
		data, err = a.YAML()
	}
	set := overlay(w.cmd.Flags())
	if err != nil || len(set) == 0 {
		return name, data, err
	}
	flags := setup.NewAnswers()
	for _, s := range set {
		flags.Set(s.Key, s.Value)
	}
	over, err := flags.YAML()
	if err != nil {
		return "", nil, err
	}
	data, err = setup.Lay(data, over)
	return name, data, err
}

// write shows the plan, asks, and does it.
func (w *wizard) write(p *setup.Plan) error {
	if !p.Changes() {
		fmt.Fprintf(w.Out, "%s: nothing changes, %s\n", p.File, spacesOf(p.Config))
		w.warn(p.Config)
		return nil
	}
	if p.Before == nil {
		fmt.Fprintf(w.Out, "%s will be new, from the commented example with these changes:\n%s", p.File, setup.Diff(w.options.Fresh, p.After))
	} else {
		fmt.Fprintf(w.Out, "%s will change:\n%s", p.File, setup.Diff(p.Before, p.After))
	}
	for _, c := range p.Credentials {
		fmt.Fprintf(w.Out, "+ %s, a password, readable to the gateway alone\n", c.Name)
	}
	if flagged(w.cmd, "dry-run") {
		return nil
	}
	if !flagged(w.cmd, "yes") {
		yes, err := w.yes("write this?", false, "y writes it and keeps the file before as "+p.File+".before; n leaves everything as it is.")
		if err != nil {
			return err
		}
		if !yes {
			return fail(exitFailed, "nothing was written")
		}
	}
	err := p.Write(serviceGroup())
	if errors.Is(err, fs.ErrPermission) {
		return fail(exitFailed, "%w: run it as root", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "%s is written, %s\n", p.File, spacesOf(p.Config))
	w.warn(p.Config)
	if p.File == defaultConfig {
		fmt.Fprintln(w.Out, "a gateway that runs takes rooms, devices and users with systemctl reload roomgate, all else and new passwords with restart")
	}
	return nil
}

// warn names the hubs that keep the password of their factory. What only systemd
// hands to the service is read where systemd reads it.
func (w *wizard) warn(c *config.Config) {
	for _, s := range c.Spaces {
		for _, d := range s.Devices {
			hub, ok := d.Options.(*o3.Options)
			if !ok {
				continue
			}
			file := hub.PasswordFile
			if source := config.CredentialSource(file); source != "" {
				file = source
			}
			if password, err := hub.Password.Reveal(file); err == nil && password == o3.FactoryPassword {
				fmt.Fprintf(w.Out, "WARNING: %s still has the password with which an O3 leaves the factory, which everybody knows: change it at the hub and here\n", d.ID)
			}
		}
	}
}

func spacesOf(c *config.Config) string {
	devices := 0
	for _, s := range c.Spaces {
		devices += len(s.Devices)
	}
	return show.Count(len(c.Spaces), "meeting space") + " with " + show.Count(devices, "device")
}

// serviceGroup is the group of the packaged service, -1 if there is none.
func serviceGroup() int {
	g, err := user.LookupGroup("roomgate")
	if err != nil {
		return -1
	}
	id, err := strconv.Atoi(g.Gid)
	if err != nil {
		return -1
	}
	return id
}
