package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/agent/update"
	"roomgate/store"
)

// releaseVariable tells a program that it is the release of that version, and is
// not to look for another one.
const releaseVariable = "ROOMGATE_RELEASE"

// runRelease becomes the release that is to run, or runs the gateway.
func runRelease(cmd *cobra.Command, _ []string) error {
	log := newLog(cmd)
	if os.Getenv(releaseVariable) == "" {
		if err := launch(cmd, log); err != nil {
			return err
		}
		return runGateway(cmd, log)
	}
	if err := os.Unsetenv(releaseVariable); err != nil {
		return err
	}
	onTrial := update.New(dataFolder(cmd), version, agent.Schema).OnTrial() != nil
	err := runGateway(cmd, log)
	var coded *fault
	if onTrial && errors.As(err, &coded) && coded.code == exitConfig {
		// systemd starts nothing again that ends so, and the release before is to run.
		return &fault{exitFailed, err}
	}
	return err
}

// launch becomes the release that is to run, if that is not this program. It goes
// on with this one if there is none, or if the system starts none: the package
// is the last resort. It must not stumble over a configuration that is newer than
// the package, so it reads of it only where the data is.
func launch(cmd *cobra.Command, log *slog.Logger) error {
	data := dataFolder(cmd)
	if _, err := os.Stat(filepath.Join(data, update.Dir)); err != nil {
		return nil // no update was ever installed
	}
	dir, _ := socketPlace(data)
	lock, err := lockDirectory(dir) // until another program takes the place of this one
	if err != nil {
		return err
	}
	defer lock.Close()
	r := update.New(data, version, agent.Schema)
	for range 2 { // the one on trial, then the one before
		one, err := r.Choose()
		if err != nil {
			log.Error("not everything is well with the releases", "error", err)
		}
		stepBack(cmd.Context(), r, data, one, log)
		if one == nil {
			return nil
		}
		log.Info("starting a release", "release", one.Version, "package", version)
		err = syscall.Exec(r.Path(*one), os.Args, append(os.Environ(), releaseVariable+"="+one.Version))
		log.Error("the system does not start the release", "release", one.Version, "error", err)
		if err := r.Unstartable(*one, err); err != nil {
			log.Error("that cannot be noted", "error", err)
		}
	}
	return nil
}

// stepBack brings the database back for a program that cannot read what a release
// on trial has made of it. If that fails, that program says so and ends, and the
// next start tries again.
func stepBack(ctx context.Context, r *update.Releases, data string, one *update.Release, log *slog.Logger) {
	knows := agent.Schema
	if one != nil {
		knows = one.Schema
	}
	err := r.StepBack(knows, func(schema int) (string, error) {
		return store.StepBack(ctx, filepath.Join(data, agent.Database), schema, store.Options{Check: checkDatabase})
	})
	if err != nil {
		log.Error("the database cannot be brought back to what it was before the trial", "error", err)
	}
}

// dataFolder is where the data is, by flag, environment, file or default.
func dataFolder(cmd *cobra.Command) string {
	data := text(cmd, "data")
	if data == "" {
		data = config.DataIn(configFile(cmd))
	}
	if full, err := filepath.Abs(data); err == nil {
		return full
	}
	return data
}
