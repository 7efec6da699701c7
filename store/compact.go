package store

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"roomgate/store/disk"
	"roomgate/store/pages"
)

// minCompact is the file size below which free pages are left for the next rows.
const minCompact = 4 << 20

// compact rewrites a file that is mostly free pages, since bbolt files never shrink. It returns the database open
// again. A failure, such as a full disk, leaves the larger file in use.
func (op *opening) compact(db *DB) (*DB, error) {
	info, err := os.Stat(op.path)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	used := info.Size() - int64(db.bolt.Stats().FreePageN)*pages.PageSize
	if info.Size() < minCompact || used*2 >= info.Size() {
		return db, nil
	}
	temp := temporary(op.path)
	err = errors.Join(op.writeCompact(db, temp, used), db.Close())
	if err == nil {
		err = disk.Install(temp, op.path)
	}
	if err != nil {
		op.o.Log.Warn("store could not be compacted, it goes on as it is", "error", errors.Join(err, disk.Remove(temp)))
	} else if now, err := os.Stat(op.path); err == nil {
		op.report.Compacted = info.Size() - now.Size()
	}
	return op.reopen(db.base)
}

func (op *opening) reopen(base uint64) (*DB, error) {
	db, err := openSound(op.path, op.o)
	if err != nil {
		return nil, err
	}
	db.base = base
	return db, nil
}

// writeCompact syncs once at the end: until the rename nobody needs the new file.
func (op *opening) writeCompact(db *DB, temp string, used int64) error {
	if err := checkFree(temp, used); err != nil {
		return err
	}
	o := boltOptions(op.o)
	o.NoSync = true
	dst, err := bbolt.Open(temp, 0o600, o)
	if err != nil {
		return err
	}
	dst.AllocSize = 1 << 20
	err = bbolt.Compact(dst, db.bolt, 1<<20)
	if err == nil {
		err = writeHeaders(dst)
	}
	if err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	return Verify(temp)
}
