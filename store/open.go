package store

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"roomgate/store/pages"
)

// Open checks, repairs, compacts and migrates the database at path as far as needed, and opens it. A missing file is
// created, unless snapshots of it are there. A damaged file is set aside as <path>.damaged-<number>, of which the newest
// two are kept. In its place comes a database of all its rows that can be read, and, where none can, of those of the
// newest good snapshot: Report.Repair says which. Queues go on with numbers that were not given before; they skip some.
// Nothing is set aside because a disk is slow or does not deliver the file.
//
// The errors that a caller may tell apart are ErrLocked, ErrNewerSchema, ErrUnreadable and ErrFull.
func Open(ctx context.Context, path string, o Options) (*DB, Report, error) {
	op := opening{ctx: ctx, path: path, o: o.withDefaults()}
	db, err := op.run()
	if err != nil {
		return nil, op.report, fmt.Errorf("open store %s: %w", path, err)
	}
	op.log()
	return db, op.report, nil
}

type opening struct {
	ctx    context.Context
	path   string
	o      Options
	report Report
	cause  error  // why the file is repaired
	base   uint64 // for the queues of an empty database that follows a lost one
}

func (op *opening) run() (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(op.path), 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFile(op.ctx, op.path+".lock")
	if err != nil {
		return nil, err
	}
	db, err := op.locked()
	if err != nil {
		return nil, errors.Join(err, unlock(lock))
	}
	db.lock = lock
	return db, nil
}

func (op *opening) locked() (*DB, error) {
	if err := op.makeSound(); err != nil {
		return nil, err
	}
	db, err := openSound(op.path, op.o)
	if err != nil {
		return nil, err
	}
	schema, err := db.readMetaRows()
	if err == nil && schema < op.o.Schema {
		op.report.Migrated = schema
		err = db.migrate(op.ctx, schema)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return op.compact(db)
}

// makeSound leaves a file at path that bbolt can open safely.
func (op *opening) makeSound() error {
	if err := op.removeLeftovers(); err != nil {
		return err
	}
	_, err := os.Lstat(op.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		snapshots, err := siblings(op.path, kindSnapshot)
		if err != nil {
			return err
		}
		if len(snapshots) == 0 {
			return op.create()
		}
		op.cause = errors.New("the database is not there, and snapshots of it are")
	case err != nil:
		return err
	default:
		err = Check(op.ctx, op.path, op.o.Progress)
		if !errors.Is(err, ErrDamaged) {
			return err
		}
		op.cause = err
	}
	if err := op.repair(); err != nil {
		return fmt.Errorf("repair after %q: %w", op.cause, err)
	}
	return nil
}

func (op *opening) removeLeftovers() error {
	errs := []error{removeIfThere(temporary(op.path))}
	for _, kind := range []string{kindSnapshot, kindBefore} {
		found, err := siblings(op.path, kind)
		errs = append(errs, err, removeIfThere(temporary(sibling(op.path, kind, nextNumber(found)))))
	}
	return errors.Join(errs...)
}

func (op *opening) log() {
	r := op.report
	switch {
	case r.Repair != nil:
		op.o.Log.Warn("store repaired", "cause", op.cause, "quarantined", r.Quarantined, "restored", r.Restored, "created", r.Created, "found", r.Repair.String())
	case r.Created:
		op.o.Log.Info("store created", "path", op.path)
	case r.Migrated != 0 || r.Compacted != 0:
		op.o.Log.Info("store opened", "migrated_from", r.Migrated, "compacted_bytes", r.Compacted)
	}
}

// openSound opens a file that has been checked.
func openSound(path string, o Options) (*DB, error) {
	b, err := bbolt.Open(path, 0o600, boltOptions(o))
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	b.AllocSize = 1 << 20
	return &DB{path: path, o: o, log: o.Log, bolt: b, enc: newEncoder(), doubt: newSuspicion()}, nil
}

func boltOptions(o Options) *bbolt.Options {
	return &bbolt.Options{
		Timeout: lockTimeout, PageSize: pages.PageSize, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
		MaxSize: int(o.MaxSize), InitialMmapSize: mapSize(o.MaxSize),
	}
}

// mapSize is address space only; no memory is used before a page is touched. Where it covers the largest file, a
// writer never has to wait for readers in order to map again.
func mapSize(maxSize int64) int {
	if bits.UintSize == 32 {
		return 64 << 20
	}
	return int(max(maxSize, DefaultMaxSize))
}
