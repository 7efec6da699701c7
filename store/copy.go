package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/queue"
)

// Copy returns a verified copy of one consistent state for reading, whatever is written meanwhile. It is the newest
// snapshot, taken now if the database has changed since the last one, so that a copy costs nothing that an hour would
// not have cost anyway. progress, unless nil, hears while a snapshot is taken how many bytes are done, of how many: each
// is written and read back, so that they are twice those of the database. The caller closes the copy.
func (db *DB) Copy(ctx context.Context, progress Progress) (*os.File, error) {
	if err := db.takeSnapshot(ctx, progress); err != nil {
		return nil, err
	}
	db.snapshots.Lock() // nobody prunes the newest meanwhile
	defer db.snapshots.Unlock()
	found, err := disk.Siblings(db.path, kindSnapshot)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("the snapshot that was just taken is not there")
	}
	return os.Open(found[len(found)-1].Name)
}

// SkipSequences moves every queue past the numbers that it may have given out in another copy of this database: at
// least as far as the restore of a snapshot does, and at least to floor. Receivers that remember the highest number
// then take no new row for one that they have seen.
func (db *DB) SkipSequences(ctx context.Context, floor uint64) error {
	return db.Update(ctx, func(tx *Tx) error {
		if err := db.raiseBase(tx, floor); err != nil {
			return err
		}
		return tx.bolt.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if !layout.IsQueue(string(name)) || layout.IsTail(string(name)) {
				return nil
			}
			h, err := queue.Open(tx.bolt, b, queue.Options{Bucket: name, Tailed: true, Encoder: tx.enc})
			if err != nil {
				return err
			}
			return tx.noted(h.Skip(&tx.writes, max(h.Last()+layout.Skipped, floor)))
		})
	})
}

// raiseBase does the same to queues that have no row yet. It holds from the next Open on.
func (db *DB) raiseBase(tx *Tx, floor uint64) error {
	base, err := metaTable.Get(tx, layout.BaseKey)
	if err != nil || base >= floor {
		return err
	}
	return metaTable.Put(tx, layout.BaseKey, floor)
}

// Read calls fn with the database at path, opened for reading only and changed in nothing. It wants the file sound:
// Verify comes first. ErrLocked says that another process has it open for writing.
func Read(path string, fn func(*DB) error) error {
	b, err := openReading(path)
	if err != nil {
		return err
	}
	db := newDB(path, Options{}.withDefaults(), b)
	return errors.Join(fn(db), b.Close())
}

// openReading opens a sound file for reading only.
func openReading(path string) (*bbolt.DB, error) {
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: disk.LockTimeout, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, ErrLocked
	}
	return b, err
}

// Schema is the version of the rows of the database file at path, which it reads as Read does.
func Schema(path string) (schema int, err error) {
	err = Read(path, func(db *DB) error {
		return db.View(func(tx *Tx) error {
			stored, err := metaTable.Get(tx, layout.SchemaKey)
			schema = int(stored)
			return err
		})
	})
	return schema, err
}

// Lock holds the database at path against every other process, as Open does, until it is closed: for whoever replaces
// its files. ErrLocked says that somebody has it open.
func Lock(ctx context.Context, path string) (io.Closer, error) {
	f, err := disk.Lock(ctx, path+".lock")
	if err != nil {
		return nil, err
	}
	return lockHeld{f}, nil
}

type lockHeld struct{ f *os.File }

// Close gives the lock back.
func (h lockHeld) Close() error { return disk.Unlock(h.f) }

// Files lists what belongs to the database at path, without its lock: the file itself, its snapshots, what was set
// aside, and what an interrupted run left half made.
func Files(path string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	for _, e := range entries {
		if name := e.Name(); name == base || strings.HasPrefix(name, base+".") && name != base+".lock" {
			names = append(names, filepath.Join(filepath.Dir(path), name))
		}
	}
	slices.Sort(names)
	return names, nil
}
