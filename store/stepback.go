package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"roomgate/store/disk"
)

// StepBack puts the copy in place of the database that was kept before the migration from schema, for a program that
// returns to an older version because the newer one proved bad. What was written since is not lost but set aside, and
// nobody reads it: aside names the file, of which the newest one is kept. It needs no room on the disk. Without such a
// copy there was no migration, and nothing happens; so it can be called again after a power cut. Queues go on with
// numbers that were not given before.
func StepBack(ctx context.Context, path string, schema int, o Options) (aside string, err error) {
	op := opening{ctx: ctx, path: path, o: o.withDefaults()}
	before := disk.Sibling(path, kindBefore, schema)
	if _, err := os.Lstat(before); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	lock, err := disk.Lock(ctx, path+".lock")
	if err != nil {
		return "", err
	}
	aside, err = op.stepBack(before, schema)
	if err = errors.Join(err, disk.Unlock(lock)); err != nil {
		return "", fmt.Errorf("step back to schema %d: %w", schema, err)
	}
	return aside, nil
}

func (op *opening) stepBack(before string, schema int) (aside string, err error) {
	if err := Check(op.ctx, before, op.o.Progress); err != nil {
		return "", err
	}
	if err := op.skipSequences(before); err != nil {
		return "", err
	}
	older, err := disk.Siblings(op.path, kindAhead)
	if err != nil {
		return "", err
	}
	made := disk.Numbered{Number: disk.Following(older)}
	made.Name = disk.Sibling(op.path, kindAhead, made.Number)
	if err := os.Link(op.path, made.Name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := op.dropAhead(schema); err != nil {
		return "", err
	}
	if err := disk.Install(before, op.path); err != nil {
		return "", err
	}
	return made.Name, disk.Prune(append(older, made), 1)
}

// dropAhead removes the snapshots that the newer program has taken: a repair must not choose one.
func (op *opening) dropAhead(schema int) error {
	snapshots, err := disk.Siblings(op.path, kindSnapshot)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		if Check(op.ctx, s.Name, nil) != nil {
			continue // a repair does not choose it
		}
		db, err := openSound(s.Name, op.o)
		if err != nil {
			return err
		}
		db.o.Schema = schema
		_, newer := db.readMetaRows()
		if err := db.Close(); err != nil {
			return err
		}
		if errors.Is(newer, ErrNewerSchema) {
			if err := os.Remove(s.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
