package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/agent/update"
	"roomgate/store"
)

// releaseVariable tells a program that it is the release of that version, and is
// not to look for another one.
const releaseVariable = "ROOMGATE_RELEASE"

// runService is the gateway, or the release that is to run. Why one ends by itself is left
// on the attached screen.
func runService(cmd *cobra.Command, _ []string) error {
	run := runPackage
	if os.Getenv(releaseVariable) != "" {
		run = runRelease
	}
	err := run(cmd, newLog(cmd))
	if cmd.Context().Err() != nil {
		return err // it was stopped
	}
	if tell := tellEnd(cmd, err); tell != nil {
		slog.Warn("cannot write the attached screen", "error", tell)
	}
	return err
}

// runPackage becomes the release that is to run, or runs the gateway of the package.
func runPackage(cmd *cobra.Command, log *slog.Logger) error {
	if _, err := heard(cmd.Context(), func() (struct{}, error) { return struct{}{}, launch(cmd, log) }); err != nil {
		return err
	}
	return runGateway(cmd, log, false)
}

// runRelease runs the gateway as the release that a package became.
func runRelease(cmd *cobra.Command, log *slog.Logger) error {
	if err := os.Unsetenv(releaseVariable); err != nil {
		return err
	}
	nameProcess()
	r := update.New(dataFolder(cmd), version, agent.Schema, nil)
	r.Release = true
	if err := r.Runs(); err != nil {
		log.Warn("cannot note that this release runs", "error", err)
	}
	onTrial := r.OnTrial() != nil
	err := runGateway(cmd, log, true)
	var coded *fault
	if onTrial && errors.As(err, &coded) && coded.code == exitConfig {
		// systemd starts nothing again that ends so, and the release before is to run.
		return &fault{exitFailed, err}
	}
	return err
}

// nameProcess shows this process by its name in ps and in the journal. The kernel
// names one after the file that was executed, and that of a release is a number
// (proc_pid_comm(5)).
func nameProcess() { _ = os.WriteFile("/proc/self/comm", []byte("roomgate"), 0) } // else it keeps its number

// launch becomes the release that is to run, if that is not this program. It goes
// on with this one if there is none, or if the system starts none: the package
// is the last resort. It must not stumble over a configuration that is newer than
// the package, so it reads of it only where the data is and whose releases run.
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
	r := update.New(data, version, agent.Schema, trustedKeys(config.BasicsIn(configFile(cmd)).Keys, log))
	for range 2 { // the one on trial, then the one before
		one, err := r.Choose()
		if err != nil {
			log.Error("not everything is well with the releases, see roomgate doctor", "error", err)
		}
		stepBack(cmd.Context(), r, data, one, log)
		if one == nil {
			return nil
		}
		log.Info("starting a release", "release", one.Version, "package", version)
		err = one.Exec(os.Args, append(os.Environ(), releaseVariable+"="+one.Version))
		log.Error("the system does not start the release", "release", one.Version, "error", err)
		if err := r.Unstartable(one.Version, err); err != nil {
			log.Error("cannot note that the release did not start", "error", err)
		}
	}
	return nil
}

// trustedKeys are the keys of the package and those of its configuration that it
// can read. Nothing in the data folder is asked.
func trustedKeys(configured []string, log *slog.Logger) (keys []ed25519.PublicKey) {
	for _, text := range append([]string{updateKeys}, configured...) {
		some, err := update.ParseKeys(text)
		if err != nil {
			log.Error("one of update.keys is not trusted", "error", err)
		}
		keys = append(keys, some...)
	}
	return keys
}

// stepBack brings the database back for a program that cannot read what a release
// on trial has made of it. If that fails, that program says so and ends, and the
// next start tries again.
func stepBack(ctx context.Context, r *update.Releases, data string, one *update.Start, log *slog.Logger) {
	knows := agent.Schema
	if one != nil {
		knows = one.Schema
	}
	err := r.StepBack(knows, func(schema int) (string, error) {
		return store.StepBack(ctx, filepath.Join(data, agent.Database), schema, store.Options{})
	})
	if err != nil {
		log.Error("the database cannot be brought back to what it was before the trial", "error", err)
	}
}

// dataFolder is where the data is, by flag, environment, file or default.
func dataFolder(cmd *cobra.Command) string {
	data := text(cmd, "data")
	if data == "" {
		data = config.BasicsIn(configFile(cmd)).Data
	}
	if full, err := filepath.Abs(data); err == nil {
		return full
	}
	return data
}
