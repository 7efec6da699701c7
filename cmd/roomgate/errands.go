package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"roomgate/agent"
	"roomgate/agent/backup"
	"roomgate/agent/errand"
)

// errands is what the console has a gateway do that takes long.
type errands struct{ *gateway }

// all are those of every gateway, without updates.
func (g errands) all() errand.Means {
	return errand.Means{Folder: g.config.Data, Backup: g.seal, Support: g.bundle}
}

// seal seals a backup of the running building into f.
func (g errands) seal(ctx context.Context, f *os.File, passphrase string, told func(part string) backup.Progress) error {
	c, err := g.configuration()
	if err != nil {
		return fmt.Errorf("the configuration cannot be read: %w", err)
	}
	_, err = backup.WriteSealed(ctx, f, backup.Sealing{Passphrase: passphrase, Factor: workFactor, Schema: agent.Schema, Told: told,
		Write: func(ctx context.Context, w io.Writer) error {
			return g.agent.Backup(ctx, w, c, told("copying the database"))
		}})
	return err
}

// supportTime bounds the making of a support bundle.
const supportTime = 3 * time.Minute

// bundle writes a support bundle into f. The command does, in a process of its own:
// what it asks may hang or fail, and costs the gateway nothing.
func (g errands) bundle(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, supportTime)
	defer cancel()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"support-bundle", "-", "--data", g.config.Data}
	if g.file != "" {
		args = append(args, "--config", g.file)
	}
	cmd, said := exec.CommandContext(ctx, program, args...), &head{most: 512}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = f, said, time.Second
	if err := cmd.Run(); err != nil {
		return cmp.Or(ctx.Err(), errors.New("the support bundle was not made: "+cmp.Or(said.String(), err.Error())))
	}
	return nil
}
