package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/salvage"
)

// What a repair has found.
type (
	// Repair says what a repair has found. It stays in the database until the next one.
	Repair = salvage.Repair
	// TableRepair is what a repair has found of one table or queue, in rows.
	TableRepair = salvage.TableRepair
)

var repairTable = ownTable[Repair]()

// LastRepair returns what the last repair has found, ErrNotFound if there never was one.
func LastRepair(tx *Tx) (Repair, error) { return repairTable.Get(tx, layout.RepairKey) }

// PutRepair stores what has become of the last repair.
func PutRepair(tx *Tx, r Repair) error { return repairTable.Put(tx, layout.RepairKey, r) }

// create makes an empty database. bbolt's own creation can be cut in half, so it happens under another name.
func (op *opening) create() error {
	temp := temporary(op.path)
	db, err := openSound(temp, op.o)
	if err != nil {
		return errors.Join(err, disk.Remove(temp))
	}
	err = db.Update(op.ctx, func(tx *Tx) error { return writeMetaRows(tx, op.o.Schema, op.base) })
	if err == nil {
		err = writeHeaders(db.bolt)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return errors.Join(err, disk.Remove(temp))
	}
	op.report.Created = true
	return disk.Install(temp, op.path)
}

// writeHeaders commits once more, so that both headers of a new file describe our kind of file and not the empty one that
// bbolt begins with.
func writeHeaders(b *bbolt.DB) error {
	return b.Update(func(*bbolt.Tx) error { return nil })
}

// repair builds a database of what is left of the file at path, if there is one, and of the newest good snapshot, and
// puts it in its place. The old file is set aside then and not before: cut off at any moment, the next start finds the
// one or the other.
func (op *opening) repair() error {
	aside, older, err := op.nextAside()
	if err != nil {
		return err
	}
	op.base = uint64(aside.Number) << 40 // above all numbers of queues that are lost altogether
	note := &Repair{At: time.Now().UTC(), Cause: op.cause.Error(), SetAside: filepath.Base(aside.Name)}
	if _, err := os.Lstat(op.path); errors.Is(err, os.ErrNotExist) {
		note.SetAside = ""
	}
	temp := temporary(op.path)
	if err := disk.Remove(temp); err != nil {
		return err
	}
	if err := op.build(temp, note); err != nil {
		return errors.Join(err, disk.Remove(temp))
	}
	op.report.Repair = note
	if note.SetAside != "" {
		if err := disk.KeepAs(op.path, aside.Name); err != nil {
			return err
		}
		op.report.Quarantined = aside.Name
		older = append(older, aside)
	}
	return errors.Join(disk.Install(temp, op.path), disk.Prune(older, keepDamaged))
}

func (op *opening) nextAside() (disk.Numbered, []disk.Numbered, error) {
	older, err := disk.Siblings(op.path, kindDamaged)
	aside := disk.Numbered{Number: disk.Following(older)}
	aside.Name = disk.Sibling(op.path, kindDamaged, aside.Number)
	return aside, older, err
}

// build writes the repaired database and checks it.
func (op *opening) build(temp string, note *Repair) (err error) {
	file, size, closeFile, err := damagedFile(op.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFile()) }()
	snapshot, closeSnapshot, err := op.goodSnapshot(note)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSnapshot()) }()
	out, err := openTemp(temp, op.o)
	if err != nil {
		return err
	}
	damaged := pages.File{Reader: disk.Counted{Ctx: op.ctx, ReaderAt: file, Tally: &disk.Tally{Total: size}}, Size: size}
	err = salvage.Merge(out, salvage.Options{
		File: damaged, Snapshot: snapshot, Names: op.o.Names, Age: op.o.Age, Schema: op.o.Schema, Base: op.base}, note)
	if err == nil {
		err = errors.Join(writeHeaders(out), out.Sync())
	}
	if err = errors.Join(commitError(err), out.Close()); err != nil {
		return err
	}
	if sum := note.Sum(); snapshot == nil && sum.Kept+sum.Found+sum.Earlier == 0 {
		op.report.Created = true
	}
	return Check(op.ctx, temp, op.o.Progress)
}

// goodSnapshot opens the newest snapshot that is sound, and was written by the same schema as the file if that can be
// told; nil if there is none.
func (op *opening) goodSnapshot(note *Repair) (*bbolt.Tx, func() error, error) {
	none := func() error { return nil }
	snapshots, err := disk.Siblings(op.path, kindSnapshot)
	if err != nil {
		return nil, none, err
	}
	for _, s := range slices.Backward(snapshots) {
		err := Check(op.ctx, s.Name, op.o.Progress)
		if errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnreadable) {
			op.o.Log.Warn("a snapshot cannot be used, trying an older one", "error", err)
			continue
		}
		if err != nil {
			return nil, none, err
		}
		b, err := openReading(s.Name)
		if err != nil {
			return nil, none, err
		}
		tx, err := b.Begin(false)
		if err != nil {
			return nil, none, errors.Join(err, b.Close())
		}
		op.report.Restored, note.Snapshot = s.Name, filepath.Base(s.Name)
		if info, err := os.Stat(s.Name); err == nil {
			note.SnapshotAt = info.ModTime().UTC()
		}
		return tx, func() error { return errors.Join(tx.Rollback(), b.Close()) }, nil
	}
	return nil, none, nil
}

// skipSequences moves every queue past the numbers it may have given out since the snapshot.
func (op *opening) skipSequences(path string) error {
	db, err := openSound(path, op.o)
	if err != nil {
		return err
	}
	return errors.Join(db.SkipSequences(op.ctx, 0), db.Close())
}

// openTemp opens the file that a merge fills. It is synced once at the end.
func openTemp(path string, o Options) (*bbolt.DB, error) {
	options := boltOptions(o)
	options.NoSync = true
	b, err := bbolt.Open(path, 0o600, options)
	if err == nil {
		b.AllocSize = 1 << 20
	}
	return b, err
}

// damagedFile opens the file to repair; one that is not there has no pages.
func damagedFile(path string) (io.ReaderAt, int64, func() error, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return bytes.NewReader(nil), 0, func() error { return nil }, nil
	}
	if err != nil {
		return nil, 0, nil, err
	}
	size, err := sizeOf(file)
	return file, size, file.Close, err
}
