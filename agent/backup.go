package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/backup"
	"roomgate/agent/config"
	"roomgate/store"
)

// BackupConfig is the configuration of a backup.
type BackupConfig struct {
	Text   []byte
	Folder string // of the file; what it names there comes along; empty: nothing does
}

// copyPasses is how often a running building reads or writes each byte of its
// database before a backup begins: to copy it, to read the copy back, and for the
// checksum. Each counts as a part of the size, so that what is told goes up to
// the size once.
const copyPasses = 3

// Backup writes a backup of the running building to w, as backup.Write does:
// one consistent state of the database with everything observed so far, the
// device secret, and the configuration with what it names. It is not sealed yet.
// told is told how far the work before the first byte is, see copyPasses.
func (a *Agent) Backup(ctx context.Context, w io.Writer, c BackupConfig, told backup.Progress) error {
	if err := a.Events.Flush(ctx); err != nil {
		return fmt.Errorf("write down what is pending: %w", err)
	}
	database, err := a.db.Copy(ctx, func(done, total int64) { told(done/copyPasses, total/2) })
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	defer database.Close()
	g := a.config.Gateway
	return writeBackup(ctx, w, backup.Manifest{Version: a.options.Version, Schema: Schema, GatewayID: g.ID, GatewayName: g.Name}, a.options.DataDir, database, c,
		func(done, total int64) { told(((copyPasses-1)*total+done)/copyPasses, total) })
}

// BackupStopped is Backup of a gateway that does not run, with its data folder
// and its configuration. checked is told how far the check of the
// database is, told how far the checksums are. The
// error is store.ErrLocked if it runs after all, and store.ErrDamaged if the next
// start would put the database aside: start it first.
func BackupStopped(ctx context.Context, w io.Writer, g config.Gateway, dir string, c BackupConfig, version string,
	checked store.Progress, told backup.Progress) (err error) {
	path := filepath.Join(dir, Database)
	lock, err := store.Lock(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := backup.GiveTo(path+".lock", dir); err != nil { // else the service could not take it
		return err
	}
	if err := store.Check(ctx, path, checked); err != nil {
		return err
	}
	stored, err := store.Schema(path)
	if err != nil {
		return err
	}
	database, err := os.Open(path)
	if err != nil {
		return err
	}
	defer database.Close()
	return writeBackup(ctx, w, backup.Manifest{Version: version, Schema: stored, GatewayID: g.ID, GatewayName: g.Name}, dir, database, c, told)
}

func writeBackup(ctx context.Context, w io.Writer, m backup.Manifest, dir string, database io.ReadSeeker, c BackupConfig, told backup.Progress) error {
	secret, err := os.ReadFile(filepath.Join(dir, SecretFile))
	if err != nil {
		return fmt.Errorf("read the device secret: %w", err)
	}
	named := backup.CollectNamed(config.NamedFiles(c.Text), c.Folder, dir)
	m.Created, m.Named = time.Now().UTC().Truncate(time.Second), named.Left
	return backup.Write(ctx, w, m, append([]backup.Source{
		{Name: backup.ConfigName, ReadSeeker: bytes.NewReader(c.Text)},
		{Name: backup.SecretName, ReadSeeker: bytes.NewReader(secret)},
		{Name: backup.DatabaseName, ReadSeeker: database},
	}, named.Files...), told)
}

// sequencesPerSecond is how far apart the numbers of two restores of one
// backup are: more than a gateway can give out in that time.
const sequencesPerSecond = 1 << 16

// NewLife is what a gateway becomes that is restored.
type NewLife struct {
	NewKey bool // the system key is made again
	// Another says that it is another gateway. The old one may still run, and
	// tells itself what waits to be told.
	Another bool
}

// Rekey prepares the database in dir, which comes from a backup, for its new
// life. Tokens that were issued end. The numbers of messages go on above all
// that another copy may have given out, because the cloud takes what it has
// seen before for old. A system key that is made again is returned.
// What is sealed with the device secret, which must come along, and the keys
// of integrations stay what they are.
func Rekey(ctx context.Context, dir string, life NewLife) (key string, err error) {
	path := filepath.Join(dir, Database)
	if err := store.Check(ctx, path, nil); err != nil { // Open would repair it
		return "", err
	}
	db, _, err := store.Open(ctx, path, store.Options{Schema: Schema})
	if err != nil {
		return "", err
	}
	err = db.SkipSequences(ctx, uint64(max(time.Now().Unix(), 0))*sequencesPerSecond)
	if err == nil {
		err = db.Update(ctx, access.EndTokens)
	}
	if life.Another && err == nil {
		err = db.Update(ctx, forgetWaiting)
	}
	if life.NewKey && err == nil {
		err = db.Update(ctx, func(tx *store.Tx) (err error) { key, err = access.RenewSystemKey(tx); return err })
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return "", fmt.Errorf("prepare the database of the backup: %w", err)
	}
	return key, removeBeside(path)
}

// removeBeside removes the lock and what a migration may have kept beside the
// database: the backup is the copy.
func removeBeside(path string) error {
	files, err := store.Files(path)
	for _, f := range append(files, path+".lock") {
		if f == path {
			continue
		}
		if e := os.Remove(f); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
