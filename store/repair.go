package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// create makes an empty database. bbolt's own creation can be cut in half, so it happens under another name.
func (op *opening) create() error {
	temp := temporary(op.path)
	db, err := openSound(temp, op.o)
	if err != nil {
		return err
	}
	err = db.Update(op.ctx, func(tx *Tx) error { return writeMetaRows(tx, op.o.Schema, op.base) })
	if err == nil {
		err = settle(db.bolt)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	op.report.Created = true
	return install(temp, op.path)
}

// settle commits once more, so that both headers of a new file describe our kind of file and not the empty one that
// bbolt begins with.
func settle(b *bbolt.DB) error {
	return b.Update(func(*bbolt.Tx) error { return nil })
}

// quarantine renames the damaged file. Should everything be lost, its number keeps the new queues' numbers above all
// earlier ones.
func (op *opening) quarantine() error {
	older, err := siblings(op.path, kindDamaged)
	if err != nil {
		return err
	}
	aside := numbered{number: nextNumber(older)}
	aside.name = sibling(op.path, kindDamaged, aside.number)
	if err := install(op.path, aside.name); err != nil {
		return err
	}
	op.report.Quarantined = aside.name
	op.base = uint64(aside.number) << 40
	return prune(append(older, aside), keepDamaged)
}

// restoreOrCreate tries the snapshots from the newest to the oldest.
func (op *opening) restoreOrCreate() error {
	snapshots, err := siblings(op.path, kindSnapshot)
	if err != nil {
		return err
	}
	for i := len(snapshots) - 1; i >= 0; i-- {
		name := snapshots[i].name
		err := op.check(name)
		if errors.Is(err, ErrDamaged) {
			op.o.Log.Warn("snapshot is damaged, trying an older one", "error", err)
			continue
		}
		if err == nil {
			err = op.restore(name)
		}
		if err != nil {
			return fmt.Errorf("restore %s: %w", name, err)
		}
		op.report.Restored = name
		return nil
	}
	return op.create()
}

func (op *opening) restore(name string) error {
	temp := temporary(op.path)
	err := copyFile(name, temp)
	if err == nil {
		err = op.skipSequences(temp)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	return install(temp, op.path)
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Sync(), dst.Close())
}

// skipSequences moves every queue past the numbers it may have given out since the snapshot.
func (op *opening) skipSequences(path string) error {
	db, err := openSound(path, op.o)
	if err != nil {
		return err
	}
	return errors.Join(db.SkipSequences(op.ctx, 0), db.Close())
}
