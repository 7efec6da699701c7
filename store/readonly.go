package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/store/disk"
)

// A disk that takes nothing, or does not deliver the whole file, still says most of what is on it. A building goes on
// with that, for reading only: each Update is refused with ErrFailed.
//
// A sound file is read where it is, which costs no memory. Where that is not possible, as a page cannot be read, or the
// file would have to be repaired or migrated, the rows that can be read and those of a snapshot are collected in memory.

// diskFault says that the disk is to blame for an error of Open.
func diskFault(err error) bool {
	return (errors.Is(err, ErrUnreadable) || errors.Is(err, errDisk) || disk.Blamed(err)) && !errors.Is(err, os.ErrPermission)
}

// openReadOnly opens what can be read of the database. cause is why it cannot be opened as usual.
func (op *opening) openReadOnly(cause error) (*DB, error) {
	db, err := op.inPlace()
	if err != nil {
		db, err = op.inMemory(cause)
	}
	if err != nil {
		return nil, fmt.Errorf("%w, and nothing of it can be read: %w", cause, err)
	}
	db.readOnly, op.report.ReadOnly, op.cause = true, true, cause
	db.fail(fmt.Errorf("%w: %w", ErrFailed, cause))
	db.doubt.decide(false)
	return db, nil
}

// inPlace opens a sound file for reading only.
func (op *opening) inPlace() (*DB, error) {
	if err := Check(op.ctx, op.path, op.o.Progress); err != nil {
		return nil, err
	}
	b, err := openReading(op.path)
	if err != nil {
		return nil, err
	}
	db := newDB(op.path, op.o, b)
	schema, err := db.readMetaRows()
	if err == nil && schema < op.o.Schema {
		err = fmt.Errorf("its rows are of schema %d, and have to be migrated", schema)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return db, nil
}

// roomless says why a damaged database cannot be repaired yet, with syscall.ENOSPC; nil: there is room for what it may become.
func (db *DB) roomless() error {
	info, err := os.Stat(db.path)
	free, unknown := disk.Free(filepath.Dir(db.path))
	if err != nil || unknown != nil || free >= info.Size() {
		return nil
	}
	return fmt.Errorf("a repair needs %d KiB more on the disk: %w", (info.Size()-free+1023)/1024, syscall.ENOSPC)
}

// first says that there never was a database.
func (op *opening) first() bool {
	_, err := os.Lstat(op.path)
	snapshots, unknown := disk.Siblings(op.path, kindSnapshot)
	return errors.Is(err, os.ErrNotExist) && unknown == nil && len(snapshots) == 0
}

// inMemory collects the rows that can be read.
func (op *opening) inMemory(cause error) (*DB, error) {
	fd, err := unix.MemfdCreate(filepath.Base(op.path), unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), op.path)
	defer file.Close() // what is opened below keeps the memory
	path := fmt.Sprintf("/proc/self/fd/%d", fd)
	first := op.first()
	if !first {
		op.report.Repair = &Repair{At: time.Now().UTC(), Cause: cause.Error(), Told: true, Pending: true}
		err = op.build(path, op.report.Repair)
	}
	if err != nil {
		return nil, err
	}
	db, err := openSound(path, op.o)
	if err == nil && first {
		err = db.Update(op.ctx, func(tx *Tx) error { return writeMetaRows(tx, op.o.Schema, op.base) })
	}
	if err != nil {
		return nil, err
	}
	db.path = op.path
	schema, err := db.readMetaRows()
	if err == nil && schema < op.o.Schema {
		op.report.Migrated = schema
		err = db.climb(op.ctx, schema)
	}
	if err != nil {
		return nil, errors.Join(err, db.bolt.Close())
	}
	return db, nil
}
