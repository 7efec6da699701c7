// Command roomgate-fleet is "roomgate cloud serve --fleet" with its data in PostgreSQL:
//
//	roomgate-fleet -fleet DIR -at mqtts://broker.example.org -username backend -database postgres://fleet@db.example.org/fleet
//
// In the folder it keeps nothing but fleet.json, the address and the key by which "roomgate
// cloud fleet" and "roomgate cloud rollout" find it. It is a program of its own, so that no
// gateway carries a driver of databases.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/fleet"
	"roomgate/cloud/engine/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "roomgate-fleet:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "roomgate-fleet:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("the command line is wrong: see roomgate-fleet -help")

// options are what the command line says.
type options struct {
	dir, at, username, database, listen, key, ca, cells, caFile string
}

func parse(args []string, errs io.Writer) (o options, err error) {
	f := flag.NewFlagSet("roomgate-fleet", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.dir, "fleet", "", "`DIR` for fleet.json, where roomgate cloud fleet and rollout find the fleet")
	f.StringVar(&o.at, "at", "", "`URL` of the broker of the fleet's gateways")
	f.StringVar(&o.username, "username", "", "`NAME` at that broker; its password is taken from ROOMGATE_CLOUD_PASSWORD")
	f.StringVar(&o.database, "database", os.Getenv("ROOMGATE_FLEET_DATABASE"), "`URL` of a database of PostgreSQL, also in ROOMGATE_FLEET_DATABASE; its password may be in PGPASSWORD")
	f.StringVar(&o.listen, "fleet-listen", "127.0.0.1:1885", "`HOST:PORT` on this machine at which the fleet is asked")
	f.StringVar(&o.key, "key", "", "`FILE` of the key that signs, of roomgate cloud key create")
	f.StringVar(&o.ca, "ca", "", "`DIR` of the authority that certifies gateways, as roomgate cloud ca init made it")
	f.StringVar(&o.caFile, "ca-file", "", "`FILE` of the authority that signed the broker's certificate; else those of the system are believed")
	f.StringVar(&o.cells, "cells", "", "`DIR` of roomgate cloud cell: a gateway that is claimed gets a place there and a login")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return o, err
	} else if err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.dir == "" || o.at == "" || o.database == "" || f.NArg() > 0 {
		return o, fmt.Errorf("%w: -fleet, -at and -database have to be named", errUsage)
	}
	return o, nil
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, out, errs io.Writer) (err error) {
	o, err := parse(args, errs)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(errs, nil))
	var by *backend.Signer
	if o.key != "" {
		raw, err := os.ReadFile(o.key)
		if err == nil {
			by, err = backend.ReadSigner(raw)
		}
		if err != nil {
			return fmt.Errorf("-key %s: %w: make one with roomgate cloud key create", o.key, err)
		}
	}
	secure, err := backend.Trust(o.caFile)
	if err != nil {
		return fmt.Errorf("-ca-file: %w", err)
	}
	db, err := sql.Open("pgx", o.database)
	if err != nil {
		return fmt.Errorf("-database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	store, err := postgres.OpenStore(ctx, db)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // the database may have ended before: then nobody holds it
	f, err := fleet.Opening{Dir: o.dir, Listen: o.listen, CA: o.ca, Cells: o.cells, Options: fleet.Options{Store: store, Log: log, Broker: backend.Options{URL: o.at, Signer: by, TLS: secure,
		Username: o.username, Password: func() (string, error) { return os.Getenv("ROOMGATE_CLOUD_PASSWORD"), nil }}}}.Open()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "fleet in the database, asked at %s\nready\n", f.URL)
	return both(ctx, store.Hold, f.Run, f.Answer)
}

// both runs two loops until one fails or ctx ends.
func both(ctx context.Context, loops ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(loops))
	var all sync.WaitGroup
	for i, loop := range loops {
		all.Go(func() {
			defer stop()
			errs[i] = loop(ctx)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
