package main

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"
)

func newServe() *cobra.Command {
	serve := &cobra.Command{Use: "serve", Short: "run a stand-in cloud for gateways elsewhere",
		Long: "Runs the demo's stand-in cloud by itself: a broker, and a backend that takes what\n" +
			"gateways send, acknowledges it and merges their bookings. It keeps nothing over a\n" +
			"restart and lets anybody on this machine in: it is for trying and testing.",
		Example: "  roomgate cloud serve\n  roomgate run --cloud mqtt://127.0.0.1:1884",
		Args:    cobra.NoArgs, RunE: action(serveCloud)}
	serve.Flags().String("cloud-listen", demoCloudListen, withVariable("`HOST:PORT` of the broker, on this machine", "cloud-listen"))
	return serve
}

func serveCloud(cmd *cobra.Command, _ []string) (err error) {
	g := &gateway{out: cmd.OutOrStdout(), log: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)), extra: nil}
	slog.SetDefault(g.log) // what libraries say goes there too
	defer func() { err = errors.Join(err, g.close()) }()
	url, err := g.openCloudBroker(text(cmd, "cloud-listen"))
	if err != nil {
		return err
	}
	if err := g.openStandIn(url, ""); err != nil {
		return err
	}
	g.say("ready")
	return g.run(cmd.Context())
}
