package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"roomgate/store/disk"
	"roomgate/store/pages"
	"roomgate/store/sealed"
)

// Open checks, repairs, compacts and migrates the database at path as far as needed, and opens it. A missing file is
// created, unless snapshots of it are there. A damaged file is set aside as <path>.damaged-<number>, of which the newest
// two are kept. In its place comes a database of all its rows that can be read, and, where none can, of those of the
// newest good snapshot: Report.Repair says which. Queues go on with numbers that were not given before; they skip some.
// Nothing is set aside because a disk is slow or does not deliver the file.
//
// A disk that takes nothing, has no room for a repair, or does not deliver the whole file, is no reason not to open: what
// can be read of it is read, each Update is refused with ErrFailed, and Condition says so.
//
// The errors that a caller may tell apart are ErrLocked, ErrNewerSchema and ErrFull.
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
	lock, err := disk.Lock(op.ctx, op.path+".lock")
	if err != nil && !diskFault(err) && !disk.Lacking(err) {
		return nil, err
	}
	var db *DB
	if err == nil {
		db, err = op.locked()
	}
	if diskFault(err) || disk.Lacking(err) {
		db, err = op.openReadOnly(err)
	}
	if err != nil {
		return nil, errors.Join(err, disk.Unlock(lock))
	}
	db.lock = lock
	if db.reserve, err = disk.OpenReserve(op.path+".reserve", op.o.Reserve); err != nil {
		op.o.Log.Error("there is no reserve for a full disk: free space on it", "error", err)
	}
	db.emptyTails(true)
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
		snapshots, err := disk.Siblings(op.path, kindSnapshot)
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
	names := []string{temporary(op.path)}
	for _, kind := range []string{kindSnapshot, kindBefore} {
		found, err := disk.Siblings(op.path, kind)
		if err != nil {
			return err
		}
		names = append(names, temporary(disk.Sibling(op.path, kind, disk.Following(found))))
	}
	for _, name := range names {
		err := disk.Remove(name)
		if at := (*fs.PathError)(nil); errors.As(err, &at) { // a read-only disk says it of files that are not there too
			return fmt.Errorf("write to %s: %w", filepath.Dir(name), at.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (op *opening) log() {
	r := op.report
	switch {
	case r.ReadOnly:
		op.o.Log.Error("the disk cannot be used: what can be read of the database is read, and nothing is written", "cause", op.cause)
	case r.Repair != nil && r.Created:
		op.o.Log.Error("nothing of the damaged database can be read, and an empty one takes its place: bookings, keys, codes and events are lost; "+
			"restore a backup, or make them again, then roomgate store confirm", "cause", op.cause, "quarantined", r.Quarantined)
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
	return newDB(path, o, b), nil
}

func newDB(path string, o Options, b *bbolt.DB) *DB {
	return &DB{path: path, o: o, log: o.Log, bolt: b, enc: sealed.New(), pushed: map[string]int{}, doubt: newSuspicion(), reserve: &disk.Reserve{},
		count: counters{day: disk.NewDay()}}
}

func boltOptions(o Options) *bbolt.Options {
	return &bbolt.Options{
		Timeout: disk.LockTimeout, PageSize: pages.PageSize, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
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
