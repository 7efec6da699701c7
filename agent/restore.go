package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/rule/doubt"
	"roomgate/store"
)

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
		err = db.Update(ctx, doubt.All)
	}
	if err == nil {
		err = db.Update(ctx, access.EndTokens)
	}
	if life.Another && err == nil {
		err = db.Update(ctx, forgetFormer)
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
