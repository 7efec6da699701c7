package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/backup"
	"roomgate/agent/claim"
	"roomgate/agent/config"
	"roomgate/agent/journal"
	"roomgate/agent/setup"
	"roomgate/drivers/all"
	"roomgate/drivers/host"

	"roomgate/cmd/roomgate/show"
)

// defaultConfig is where a packaged gateway is configured.
const defaultConfig = "/etc/roomgate/gateway.yaml"

// minSystemKey is the shortest system key that opens real doors. The demo
// takes any.
const minSystemKey = 8

func newRun() *cobra.Command {
	cmd := &cobra.Command{Use: "run", Short: "run the gateway of this building", Args: cobra.NoArgs, RunE: action(runService)}
	gatewayFlags(cmd)
	return cmd
}

// runGateway runs the gateway. released says that this program was started as a
// release, and not as the package.
func runGateway(cmd *cobra.Command, log *slog.Logger, released bool) (err error) {
	defer journal.Flush(log)
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	g, err := heard(ctx, func() (*gateway, error) { return openGateway(ctx, end, cmd, log, released) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	g.showKey(ctx)
	g.showClaim("")
	return g.run(ctx)
}

// openGateway reads the configuration and opens the gateway. end ends it in order.
func openGateway(ctx context.Context, end func(), cmd *cobra.Command, log *slog.Logger, released bool) (*gateway, error) {
	if n := len(os.Getenv("ROOMGATE_SYSTEM_KEY")); n > 0 && n < minSystemKey {
		return nil, fail(exitConfig, "ROOMGATE_SYSTEM_KEY has %d characters: choose at least %d, or leave it out and one is made", n, minSystemKey)
	}
	c, err := loadConfig(cmd)
	if err != nil {
		return nil, err
	}
	socketDir, mode := socketPlace(c.Data)
	lock, err := lockDirectory(socketDir)
	if err != nil {
		return nil, err
	}
	board := host.New()
	g := &gateway{config: c, buses: board, hardware: hardwareID("/"), out: cmd.OutOrStdout(), log: log, file: configFile(cmd), released: released, closers: []func() error{board.Close},
		configuration: func() (backup.Config, error) { return backupConfig(configFile(cmd)) },
		again:         func() (*config.Config, error) { return loadConfig(cmd) }}
	slog.SetDefault(g.log) // what libraries say goes there too
	g.log.Info("starting", "version", version, "gateway", c.Gateway.ID, "data", c.Data)
	logFiles(c, g.log)
	g.end = end
	return g, g.open(ctx, lock, socketDir, mode)
}

// socketPlace is where the control socket goes and who may open it. A service
// has a runtime directory that its group may enter.
func socketPlace(data string) (dir string, mode os.FileMode) {
	runtime, _, _ := strings.Cut(os.Getenv("RUNTIME_DIRECTORY"), ":")
	if runtime == "" || data != config.Default().Data {
		return data, 0o600
	}
	return runtime, 0o660
}

// configFile is the file that flag, environment or package name.
func configFile(cmd *cobra.Command) string {
	if path := text(cmd, "config"); path != "" {
		return path
	}
	return defaultConfig
}

func loadConfig(cmd *cobra.Command) (*config.Config, error) {
	path := configFile(cmd)
	c, err := config.Load(path, all.All(), overlay(cmd.Flags())...)
	if err != nil {
		return nil, unreadable(cmd, path, err)
	}
	return absoluteData(c)
}

// unreadable says why the configuration of a path cannot be used, and what to do about it.
func unreadable(cmd *cobra.Command, path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(exitConfig, "there is no configuration %s: %s writes it, or name another with --config", path, setupOf(path))
	case errors.Is(err, fs.ErrPermission) && cmd.Name() == "run":
		return unreadableToRun(path)
	case errors.Is(err, fs.ErrPermission) && shutAbove(path) != "":
		return mayNot(exitConfig, path, "read, because "+shutAbove(path)+" may not be entered")
	case errors.Is(err, fs.ErrPermission):
		return mayNot(exitConfig, path, "read")
	}
	return &fault{exitConfig, err}
}

// unreadableToRun says how the group of the gateway gets to read its configuration.
func unreadableToRun(path string) error {
	me, group := nameOfUser(os.Geteuid()), nameOfGroup(os.Getegid())
	if shut := shutAbove(path); shut != "" {
		return fail(exitConfig, "%s cannot be read: %s, as which the gateway runs, may not enter %s: %s", path, me, shut, enter(group, shut))
	}
	file := setup.ShellWord(path)
	return fail(exitConfig, "%s may not be read by %s, as which the gateway runs: %s", path, me, sudo("chgrp "+group+" "+file, "chmod 640 "+file))
}

// setupOf is the command that writes a configuration.
func setupOf(path string) string {
	if path == defaultConfig {
		return sudo("roomgate setup")
	}
	return "roomgate setup --config " + setup.ShellWord(path)
}

// absoluteData keeps the data directory where it is, whatever comes.
func absoluteData(c *config.Config) (_ *config.Config, err error) {
	c.Data, err = filepath.Abs(c.Data)
	return c, err
}

// showClaim shows who starts a gateway that nobody has claimed how to. A journal
// is no place for the code. found is the flag by which other commands find this gateway.
func (g *gateway) showClaim(found string) {
	switch c := g.agent.Claim.Status(); {
	case c.State != claim.Waiting:
	case show.IsTerminal(os.Stdout) && !g.demo.simulated:
		g.say("%s%s", drawClaim(c), strings.TrimSuffix(claimWords(c), "\n"))
	case g.demo.simulated:
		g.say("gateway %s belongs to nobody yet: %s claim%s shows its claim code", c.ID, program(), found)
	default:
		g.say("gateway %s belongs to nobody yet: %s shows its claim code", c.ID, asCalled("roomgate claim"))
	}
}

// showKey shows the system key that a first start made, once. A journal is no
// place for it, and there the control socket makes a better one.
func (g *gateway) showKey(ctx context.Context) {
	switch key := g.agent.Access.NewKey(); {
	case key == "":
		return
	case os.Getenv("JOURNAL_STREAM") != "" && !show.IsTerminal(os.Stdout):
		g.say("%s", asCalled("a system key was made that nobody knows: make one with roomgate key create NAME"))
	default:
		g.say("system key %s (shown only now, send it as X-API-Key)", key)
	}
	if err := g.agent.Access.KeyShown(ctx); err != nil {
		g.log.Warn("cannot store that the system key was shown: the next start makes another one", "error", err)
	}
}
