package main

import (
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"roomgate/cloud/authority"
	"roomgate/cloud/backend"
	"roomgate/cloud/backend/fleet"
)

func newServe() *cobra.Command {
	serve := &cobra.Command{Use: "serve", Short: "run a cloud for gateways elsewhere",
		Long: "Runs the demo's stand-in cloud by itself: a broker, and a backend that takes what\n" +
			"gateways send, acknowledges it and merges their bookings. It keeps nothing over a\n" +
			"restart and lets anybody on this machine in: it is for trying and testing.\n\n" +
			"With --fleet it is the reference backend: it keeps in that folder who is online\n" +
			"with which release, what gateways have sent, and rollouts, and goes on with them\n" +
			"after a restart. It merges no bookings. roomgate cloud rollout talks to it. With\n" +
			"--at it takes what comes at another broker, and starts none. With --ca the gateways that\n" +
			"are claimed there get certificates of that authority.",
		Example: "  roomgate cloud serve\n  roomgate run --cloud mqtt://127.0.0.1:1884\n  roomgate cloud serve --fleet /var/lib/fleet --at mqtts://broker.example.org --username backend",
		Args:    cobra.NoArgs, RunE: action(serveCloud)}
	f := serve.Flags()
	f.String("cloud-listen", demoCloudListen, withVariable("`HOST:PORT` of the broker, on this machine", "cloud-listen"))
	f.String("fleet", "", withVariable(fleetUsage, "fleet"))
	f.String("fleet-listen", "127.0.0.1:1885", withVariable("`HOST:PORT` on this machine at which the fleet is asked", "fleet-listen"))
	f.String("at", "", "`URL` of the broker of the fleet's gateways; else one is started")
	f.String("cells", "", "`DIR` of roomgate cloud cell: a gateway that is claimed gets a place there and a login")
	f.String("username", "", "`NAME` at that broker; its password is taken from ROOMGATE_CLOUD_PASSWORD")
	tlsFlags(serve)
	signingFlag(serve)
	authorityFlag(serve)
	return serve
}

// fleetUsage is what --fleet is.
const fleetUsage = "`DIR` of the fleet's data, of roomgate cloud serve"

func serveCloud(cmd *cobra.Command, _ []string) (err error) {
	g := &gateway{out: cmd.OutOrStdout(), log: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)), extra: nil}
	slog.SetDefault(g.log) // what libraries say goes there too
	defer func() { err = errors.Join(err, g.close()) }()
	dir, url := text(cmd, "fleet"), text(cmd, "at")
	if dir == "" && (url != "" || cmd.Flags().Changed("key") || cmd.Flags().Changed("cells") || cmd.Flags().Changed("ca")) {
		return fail(exitUsage, "--at, --cells, --key and --ca go with --fleet: name a folder for the fleet's data")
	}
	if url == "" {
		if url, err = g.openCloudBroker(text(cmd, "cloud-listen")); err != nil {
			return err
		}
	}
	if dir == "" {
		err = g.openStandIn(url, "")
	} else {
		err = openFleet(g, cmd, dir, url)
	}
	if err != nil {
		return err
	}
	g.say("ready")
	return g.run(cmd.Context())
}

// openFleet opens the reference backend at a broker.
func openFleet(g *gateway, cmd *cobra.Command, dir, url string) error {
	by, err := signer(cmd)
	if err != nil {
		return err
	}
	secure, err := cloudTLS(cmd)
	if err != nil {
		return err
	}
	f, err := fleet.Opening{Dir: dir, Listen: text(cmd, "fleet-listen"), CA: text(cmd, "ca"), Cells: text(cmd, "cells"), Options: fleet.Options{Log: g.log, Broker: backend.Options{
		URL: url, Signer: by, TLS: secure, Username: text(cmd, "username"), Password: func() (string, error) { return os.Getenv("ROOMGATE_CLOUD_PASSWORD"), nil }}}}.Open()
	if errors.Is(err, fleet.ErrElsewhere) || errors.Is(err, authority.ErrNone) {
		return fail(exitUsage, "%w", err)
	} else if err != nil {
		return fail(exitFailed, "%w", err)
	}
	g.closers = append(g.closers, f.Close)
	g.loops = append(g.loops, loop{"fleet", f.Run}, loop{"fleet's door", f.Answer})
	g.say("fleet in %s, asked at %s", dir, f.URL)
	return nil
}
