package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/atomicfile"
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
	f.String("username", "", "`NAME` at that broker; its password is taken from ROOMGATE_CLOUD_PASSWORD")
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
	if dir == "" && (url != "" || cmd.Flags().Changed("key") || cmd.Flags().Changed("ca")) {
		return fail(exitUsage, "--at, --key and --ca go with --fleet: name a folder for the fleet's data")
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

// fleetFile is where a fleet is asked, and the key that it wants. It lies in the folder of
// its data, for its owner alone.
const fleetFile = "fleet.json"

type fleetDoor struct {
	URL    string `json:"url"`
	Key    string `json:"key"`
	Client string `json:"client"` // the session at the broker, which no other backend and no gateway has
}

// readFleetDoor is what the last start has written; a first start makes a key.
func readFleetDoor(dir string) (d fleetDoor, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, fleetFile))
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	return d, err
}

// openFleetDoor is that, with a key and a session at the broker of its own.
func openFleetDoor(dir string) (d fleetDoor, err error) {
	d, err = readFleetDoor(dir)
	if errors.Is(err, fs.ErrNotExist) {
		d.Key, err = rand.Text(), nil
	}
	if d.Client == "" {
		d.Client = "backend-" + strings.ToLower(rand.Text()[:12])
	}
	return d, err
}

func (d fleetDoor) write(dir string) error {
	raw, _ := json.Marshal(d) // texts always can be encoded
	return atomicfile.Write(filepath.Join(dir, fleetFile), raw, func(f *os.File) error { return f.Chmod(0o600) })
}

// openFleet opens the reference backend at a broker.
func openFleet(g *gateway, cmd *cobra.Command, dir, url string) error {
	by, err := signer(cmd)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ca, err := theAuthority(cmd)
	if err != nil {
		return err
	}
	door, err := openFleetDoor(dir)
	if err != nil {
		return fail(exitFailed, "%s cannot be read: %w", filepath.Join(dir, fleetFile), err)
	}
	f, err := fleet.Open(fleet.Options{Path: filepath.Join(dir, "fleet.db"), Key: door.Key, Log: g.log, Authority: ca, Broker: backend.Options{URL: url, ClientID: door.Client,
		Signer: by, Username: text(cmd, "username"), Password: func() (string, error) { return os.Getenv("ROOMGATE_CLOUD_PASSWORD"), nil }}})
	if err != nil {
		return fail(exitFailed, "the fleet cannot be opened: %w", err)
	}
	g.closers = append(g.closers, f.Close)
	at, err := listenHere(text(cmd, "fleet-listen"))
	if err != nil {
		return err
	}
	door.URL = "http://" + at.Addr().String()
	if err := door.write(dir); err != nil {
		return errors.Join(err, at.Close())
	}
	g.loops = append(g.loops, loop{"fleet", f.Run}, loop{"fleet's door", func(ctx context.Context) error { return serveFleet(ctx, at, f.Handler()) }})
	g.say("fleet in %s, asked at %s", dir, door.URL)
	return nil
}

// listenHere listens on this machine and nowhere else: the key goes in the clear.
func listenHere(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, fail(exitUsage, "--fleet-listen %q is no address of this machine alone: want one as 127.0.0.1:1885", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fail(exitFailed, "the fleet cannot listen: %w", err)
	}
	return l, nil
}

// serveFleet answers until ctx ends.
func serveFleet(ctx context.Context, at net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(at); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
