package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/devicesecret"
	"roomgate/store"
)

// Config is the configuration in a backup.
type Config struct {
	Text   []byte
	Folder string // of the file; what it names there comes along; empty: nothing does
}

// WriteStopped writes a backup of a gateway that does not run, with its data
// folder and its configuration. checked is told how far the check of the database is,
// told how far the checksums are. The error is store.ErrLocked if it runs after all, and store.ErrDamaged if the next
// start would put the database aside: start it first.
func WriteStopped(ctx context.Context, w io.Writer, g config.Gateway, dir string, c Config, version string,
	checked store.Progress, told Progress) (err error) {
	path := filepath.Join(dir, DatabaseName)
	lock, err := store.Lock(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := GiveTo(path+".lock", dir); err != nil { // else the service could not take it
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
	return WriteBuilding(ctx, w, Manifest{Version: version, Schema: stored, GatewayID: g.ID, GatewayName: g.Name}, dir, database, c, told)
}

// WriteBuilding writes a backup of a building: its configuration with the files that it names, its secret and its
// authority from the data folder dir, and a database that nobody changes meanwhile. m needs no Created and no Named. told is told how far the
// checksums are. It is not sealed yet.
func WriteBuilding(ctx context.Context, w io.Writer, m Manifest, dir string, database io.ReadSeeker, c Config, told Progress) error {
	secret, err := os.ReadFile(filepath.Join(dir, devicesecret.File))
	if err != nil {
		return fmt.Errorf("read the device secret: %w", err)
	}
	authority, err := collectAuthority(dir)
	if err != nil {
		return err
	}
	named := CollectNamed(config.NamedFiles(c.Text), c.Folder, dir)
	m.Created, m.Named = time.Now().UTC().Truncate(time.Second), named.Left
	return Write(ctx, w, m, slices.Concat([]Source{
		{Name: ConfigName, ReadSeeker: bytes.NewReader(c.Text)},
		{Name: SecretName, ReadSeeker: bytes.NewReader(secret)},
		{Name: DatabaseName, ReadSeeker: database},
	}, authority, named.Files), told)
}
