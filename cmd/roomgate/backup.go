package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent"
	"roomgate/agent/atomicfile"
	"roomgate/agent/backup"
	"roomgate/agent/config"
	"roomgate/store"

	"roomgate/cmd/roomgate/show"
)

const backupHelp = `Writes a backup to FILE: one consistent state of the database, the device
secret, without which letters, webhooks and codes in it could not be read, the
building's own authority that roomgate tls init has made, the configuration file,
and the files that it names in its own folder or among the credentials, such as
those of passwords and certificates. The gateway may run meanwhile; one that does
not run is backed up from its data directory.

The file is sealed with a passphrase, at least 12 characters, which is asked
for, or read from --passphrase-file or the variable ROOMGATE_PASSPHRASE. Without
it nobody reads the backup, not even its maker: keep it elsewhere. Any computer
opens the file with "age -d FILE | tar xz" (https://age-encryption.org).

FILE appears once it is whole and has been read back; an older backup of that
name stays until then. Files that the configuration names elsewhere are not in
it: the command lists them.`

func newBackup() *cobra.Command {
	cmd := &cobra.Command{Use: "backup FILE", Short: "write a sealed backup of the gateway, running or stopped",
		Long: backupHelp, Args: cobra.ExactArgs(1), RunE: action(runBackup)}
	gatewayFlags(cmd)
	passphraseFlag(cmd)
	outputFlag(cmd)
	return cmd
}

// madeBackup is what is said of a backup.
type madeBackup struct {
	File string `json:"file"`
	Size int64  `json:"size"` // bytes
	backup.Manifest
}

func runBackup(cmd *cobra.Command, args []string) (err error) {
	file, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	if err := mayReplace(file); err != nil {
		return err
	}
	from, err := backupSource(cmd)
	if err != nil {
		return err
	}
	word, err := passphrase(cmd, true)
	if err != nil {
		return err
	}
	p := newProgress(cmd)
	defer p.End()
	made, err := writeSealed(cmd.Context(), file, word, from, p)
	if err != nil {
		return err
	}
	p.End()
	if err := from.note(backup.Note{At: time.Now().UTC().Truncate(time.Second), Size: made.Size}); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "roomgate: the backup is made, but doctor will not know: %v\n", err)
	}
	return showBackup(cmd, made)
}

func showBackup(cmd *cobra.Command, made madeBackup) error {
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), made)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, gateway %s, %s\n", made.File, show.Bytes(made.Size), show.Plain(made.GatewayID), listFiles(made.Manifest))
	if len(made.Named) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "not in it, keep them too: %s\n", show.Plain(strings.Join(made.Named, ", ")))
	}
	return err
}

func listFiles(m backup.Manifest) string {
	var all []string
	for _, f := range m.Files {
		all = append(all, fmt.Sprintf("%s %s", f.Name, show.Bytes(f.Size)))
	}
	return strings.Join(all, ", ")
}

// mayReplace keeps a backup from overwriting anything but a backup.
func mayReplace(file string) error {
	f, err := atomicfile.Open(file, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail(exitFailed, "%s cannot be looked at: %w", file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 && !backup.IsSealed(bufio.NewReader(f)) {
		return fail(exitFailed, "%s is there and is no backup: choose another name", file)
	}
	return nil
}

// source is where a backup comes from.
type source struct {
	write func(ctx context.Context, w io.Writer, p *show.Progress) error // a tar
	note  func(backup.Note) error
}

// backupSource is the gateway that runs on this machine, or the directory of
// one that does not.
func backupSource(cmd *cobra.Command) (source, error) {
	dir := text(cmd, "data")
	path, err := findSocket(dir)
	if err == nil {
		return runningSource(cmd.Context(), path), nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return source{}, err
	}
	c, err := loadConfig(cmd)
	if err != nil {
		if dir == "" && text(cmd, "config") == "" {
			return source{}, fail(exitUnreachable, "no gateway runs on this machine, and there is no %s: name its directory with --data and its configuration with --config", defaultConfig)
		}
		return source{}, err
	}
	if path, err := findSocket(c.Data); err == nil {
		return runningSource(cmd.Context(), path), nil
	}
	return stoppedSource(configFile(cmd), c), nil
}

func runningSource(ctx context.Context, path string) source {
	c := overSocket(path, 0) // a large database takes its time
	return source{
		write: func(ctx context.Context, w io.Writer, p *show.Progress) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/backup", nil)
			if err != nil {
				return err
			}
			told, arrived := p.Wait("the gateway copies its database")
			answer, err := c.http.Do(r.WithContext(hearProgress(ctx, told)))
			arrived()
			if err != nil {
				return c.unreachable(ctx, err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				raw, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
				return c.refusal(answer, raw)
			}
			if _, err = io.Copy(w, answer.Body); err != nil && ctx.Err() == nil {
				return fmt.Errorf("the gateway broke off, see its log: %w", err)
			}
			return errors.Join(ctx.Err(), err)
		},
		note: func(n backup.Note) error { return c.call(ctx, http.MethodPost, "/backup/note", n, nil) },
	}
}

func stoppedSource(file string, c *config.Config) source {
	return source{
		write: func(ctx context.Context, w io.Writer, p *show.Progress) error {
			if _, err := os.Stat(filepath.Join(c.Data, agent.Database)); errors.Is(err, fs.ErrNotExist) {
				return fail(exitFailed, "%s has no database: name the directory with --data", c.Data)
			}
			lock, err := lockGateway(c.Data)
			if err != nil {
				return err
			}
			defer lock.Close()
			if _, err := backup.Recover(c.Data); err != nil {
				return err
			}
			text, err := backupConfig(file)
			if err != nil {
				return err
			}
			err = backup.WriteStopped(ctx, w, c.Gateway, c.Data, text, version, store.Progress(p.Of("the database is checked")), p.Of("the database is read"))
			if errors.Is(err, store.ErrDamaged) {
				return fmt.Errorf("%w: start the gateway once, which repairs it", err)
			}
			return err
		},
		note: func(n backup.Note) error { return backup.WriteNote(c.Data, n) },
	}
}

// backupConfig is a configuration file as backups take it.
func backupConfig(path string) (c backup.Config, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return c, err
	}
	c.Folder = filepath.Dir(path)
	c.Text, err = atomicfile.Read(path, os.O_RDONLY, maxGiven)
	return c, err
}

// writeSealed writes a backup beside its file, reads it back, and then gives
// it its name.
func writeSealed(ctx context.Context, file, word string, from source, p *show.Progress) (made madeBackup, err error) {
	temp, err := openPart(file + ".part")
	if err != nil {
		return made, err
	}
	defer func() {
		if e := temp.Close(); err != nil {
			err = errors.Join(err, ignore(e, os.ErrClosed), ignore(os.Remove(temp.Name()), fs.ErrNotExist))
		}
	}()
	m, err := backup.WriteSealed(ctx, temp, backup.Sealing{Passphrase: word, Factor: workFactor, Schema: agent.Schema,
		Write: func(ctx context.Context, w io.Writer) error { return from.write(ctx, w, p) },
		Told:  func(part string) backup.Progress { return p.Of(part) }})
	if err != nil {
		return made, err
	}
	info, err := temp.Stat()
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err == nil {
		err = atomicfile.Sync(filepath.Dir(file))
	}
	if err != nil {
		return made, err
	}
	return madeBackup{file, info.Size(), m}, nil
}

// openPart makes the file in the making ours. One that a killed backup left is
// taken over.
func openPart(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fail(exitFailed, "the backup cannot be written: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fail(exitFailed, "%s is being written by another backup: wait for it", path), f.Close())
	}
	return f, f.Truncate(0)
}

// workFactor is how hard it is to guess a passphrase; tests of commands want less.
var workFactor = backup.WorkFactor
