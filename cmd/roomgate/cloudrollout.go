package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/fleet"
	"roomgate/cloud/backend/rollout"

	"roomgate/cmd/roomgate/show"
)

const rolloutStartHelp = `Brings a configuration to the gateways of a fleet: FILE is the data of down/config,
as for "roomgate cloud config". Without a revision each gateway gets it with the
one after that which it has. --release with --from brings a release.

First come the gateways of --canary; the others wait until each of these has taken
it. Then come --per-minute, and --growth times as many each time as many have taken
it. It stops when the share of --stop has not taken it, among --stop-after or more.
Without --to it goes to all that the fleet knows, those online first.`

func newCloudRollout() *cobra.Command {
	start := &cobra.Command{Use: "start [FILE]", Short: "bring a configuration or a release to the fleet", Long: rolloutStartHelp,
		Example: "  roomgate cloud rollout start rules.json --fleet /var/lib/fleet --canary 5 --per-minute 50 --growth 2\n" +
			"  roomgate cloud rollout start --release 1.10.0 --from https://releases.example.org/1.10.0 --below --fleet /var/lib/fleet",
		Args: cobra.MaximumNArgs(1), RunE: action(startRollout)}
	f := start.Flags()
	f.String("name", "", "what people call it; else the file or the release")
	f.StringSlice("to", nil, "`ID` of a gateway that is to have it; else all")
	f.Bool("below", false, "only gateways with an earlier release than --release")
	f.String("release", "", "`VERSION` that the gateways are to run, as 1.10.0")
	f.String("from", "", "https `URL` of its signed bundle")
	f.Int("canary", 1, "how many gateways come first")
	f.Float64("per-minute", 10, "how many come per minute then")
	f.Float64("growth", 1, "what that is multiplied by each time as many have taken it; 1: it stays")
	f.Float64("stop", 0.1, "the `SHARE` of gateways that do not take it which stops it, 0 to 1; 0: none does")
	f.Int("stop-after", 10, "how many have to have ended before it stops")
	f.Duration("timeout", 10*time.Minute, "how long a gateway may take, 1s to 720h")
	list := &cobra.Command{Use: "list [ID]", Short: "list rollouts, or the gateways of one", Args: cobra.MaximumNArgs(1), RunE: action(listRollouts)}
	all := []*cobra.Command{start, list}
	for _, t := range []struct{ does, short string }{{"pause", "let no other gateway have a rollout for now"},
		{"resume", "go on with a rollout that is paused or stopped"}, {"abort", "end a rollout; what was sent stays sent"}} {
		all = append(all, &cobra.Command{Use: t.does + " ID", Short: t.short, Args: cobra.ExactArgs(1), RunE: action(func(cmd *cobra.Command, args []string) error {
			return turnRollout(cmd, args[0], t.does)
		})})
	}
	for _, cmd := range all {
		cmd.Flags().String("fleet", "", withVariable(fleetUsage, "fleet"))
		outputFlag(cmd)
	}
	return group("rollout", "bring configurations and releases to a fleet, step by step", all...)
}

// dialFleet finds the fleet of --fleet.
func dialFleet(cmd *cobra.Command) (*client, error) {
	dir := text(cmd, "fleet")
	if dir == "" {
		return nil, fail(exitUsage, "--fleet is missing: name the folder of roomgate cloud serve --fleet")
	}
	door, err := fleet.ReadDoor(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitUnreachable, "no fleet was ever started in %s: roomgate cloud serve --fleet %s does", dir, dir)
	}
	if err != nil {
		return nil, err
	}
	c := overHTTP(door.URL, door.Key, "the fleet at "+door.URL)
	c.start = ": roomgate cloud serve --fleet " + dir + " starts it"
	return c, nil
}

func startRollout(cmd *cobra.Command, args []string) error {
	o, err := rolloutOrder(cmd, args)
	if err != nil {
		return err
	}
	c, err := dialFleet(cmd)
	if err != nil {
		return err
	}
	if below, _ := cmd.Flags().GetBool("below"); below {
		if o.Gateways, err = gatewaysBelow(cmd, c, o.Release); err != nil {
			return err
		}
	}
	var begun rollout.Rollout
	if err := c.call(cmd.Context(), http.MethodPost, "/rollouts", o, &begun); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), begun)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "rollout %s has begun, for %s\n", begun.ID, show.Count(begun.Counts.Waiting, "gateway"))
	return err
}

// rolloutOrder is what the arguments and flags want.
func rolloutOrder(cmd *cobra.Command, args []string) (o rollout.Order, err error) {
	f := cmd.Flags()
	o.Release, o.Name = text(cmd, "release"), text(cmd, "name")
	o.Gateways, _ = f.GetStringSlice("to")
	if len(o.Gateways) == 0 {
		o.Gateways = nil // all
	}
	p := &o.Plan
	p.Canary, _ = f.GetInt("canary")
	p.PerMinute, _ = f.GetFloat64("per-minute")
	p.Growth, _ = f.GetFloat64("growth")
	p.StopShare, _ = f.GetFloat64("stop")
	p.StopAfter, _ = f.GetInt("stop-after")
	timeout, _ := f.GetDuration("timeout")
	p.TimeoutS = int(timeout.Seconds())
	below, _ := f.GetBool("below")
	from := text(cmd, "from")
	switch {
	case (o.Release == "") != (from == ""):
		return o, fail(exitUsage, "--release and --from belong together: which release, and where it is")
	case len(args) == 0 && o.Release == "":
		return o, fail(exitUsage, "nothing is to be brought: name a file with a configuration, or --release and --from")
	case below && (o.Release == "" || o.Gateways != nil):
		return o, fail(exitUsage, "--below goes with --release and without --to")
	}
	if len(args) > 0 {
		raw, err := readGiven(cmd, args[0], maxGiven)
		if err != nil {
			return o, err
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&o.Config); err != nil {
			return o, fail(exitConfig, "%s is no configuration: %s", args[0], strings.TrimPrefix(err.Error(), "json: "))
		}
		o.Name = cmp.Or(o.Name, args[0])
	}
	if from != "" {
		o.Config.Update, o.Name = &backend.Update{URL: from}, cmp.Or(o.Name, o.Release)
	}
	return o, nil
}

// knownGateways are those of a fleet.
func knownGateways(cmd *cobra.Command, c *client) ([]fleet.Gateway, error) {
	var known struct{ Gateways []fleet.Gateway }
	err := c.call(cmd.Context(), http.MethodGet, "/gateways", nil, &known)
	return known.Gateways, err
}

// listGateways lists what the reference backend knows of its fleet.
func listGateways(cmd *cobra.Command) error {
	c, err := dialFleet(cmd)
	if err != nil {
		return err
	}
	all, err := knownGateways(cmd, c)
	if err != nil {
		return err
	}
	return outputSome(cmd, all, len(all), "no gateway was heard yet: connect one to the broker of this fleet",
		"GATEWAY PRESENCE SINCE RELEASE REVISION LOCKS WAITING CERTIFICATE", func(row func(...string)) {
			for _, g := range all {
				locks := "closed"
				if g.Unlocked {
					locks = "not closed"
				}
				row(g.ID, presence(g), g.Since.Format(time.RFC3339), show.Dash(show.Plain(g.Version)), strconv.FormatUint(g.Revision, 10), locks, strconv.FormatUint(g.Backlog, 10), certified(g))
			}
		})
}

// presence is whether a gateway is online, and when a second one with its id was heard last.
func presence(g fleet.Gateway) string {
	is := "offline"
	if g.Online {
		is = "online"
	}
	if !g.Contested.IsZero() {
		is += ", contested at " + g.Contested.Format(time.RFC3339)
	}
	return is
}

// gatewaysBelow are those with an earlier release.
func gatewaysBelow(cmd *cobra.Command, c *client, release string) (ids []string, err error) {
	known, err := knownGateways(cmd, c)
	if err != nil {
		return nil, err
	}
	for _, g := range known {
		if g.Below(release) {
			ids = append(ids, g.ID)
		}
	}
	if ids == nil {
		return nil, fail(exitRefused, "no gateway has an earlier release than %s", release)
	}
	return ids, nil
}

func listRollouts(cmd *cobra.Command, args []string) error {
	c, err := dialFleet(cmd)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return listSteps(cmd, c, args[0])
	}
	var answer struct{ Rollouts []rollout.Rollout }
	if err := c.call(cmd.Context(), http.MethodGet, "/rollouts", nil, &answer); err != nil {
		return err
	}
	return outputSome(cmd, answer.Rollouts, len(answer.Rollouts), "there is no rollout: roomgate cloud rollout start begins one",
		"ID NAME STATE WAITING SENT TAKEN REFUSED LATE WHY", func(row func(...string)) {
			for _, r := range answer.Rollouts {
				n := r.Counts
				row(r.ID, show.Plain(r.Name), r.State, strconv.Itoa(n.Waiting), strconv.Itoa(n.Sent), strconv.Itoa(n.Taken), strconv.Itoa(n.Refused), strconv.Itoa(n.Late), show.Dash(r.Why))
			}
		})
}

func listSteps(cmd *cobra.Command, c *client, id string) error {
	var answer struct {
		Rollout rollout.Rollout `json:"rollout"`
		Steps   []rollout.Step  `json:"steps"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, "/rollouts/"+id, nil, &answer); err != nil {
		return err
	}
	return output(cmd, answer, "GATEWAY STATE REVISION SENT WHY", func(row func(...string)) {
		for _, s := range answer.Steps {
			at := "-"
			if !s.At.IsZero() {
				at = s.At.Format(time.RFC3339)
			}
			row(s.Gateway, s.State, strconv.FormatUint(s.Revision, 10), at, show.Dash(show.Plain(s.Why)))
		}
	})
}

func turnRollout(cmd *cobra.Command, id, does string) error {
	c, err := dialFleet(cmd)
	if err != nil {
		return err
	}
	var now rollout.Rollout
	if err := c.call(cmd.Context(), http.MethodPost, "/rollouts/"+id+"/"+does, nil, &now); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), now)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "rollout %s is %s\n", now.ID, now.State)
	return err
}
