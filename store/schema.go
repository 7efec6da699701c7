package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
)

var metaTable = ownTable[uint64]()

func ownTable[T any]() Table[T] {
	return Table[T]{name: layout.Meta, bucket: []byte(layout.Meta), seed: pages.Seed([]byte(layout.Meta))}
}

// writeMeta fills a new file.
func writeMetaRows(tx *Tx, schema int, base uint64) error {
	format, err := strconv.ParseUint(layout.Format, 10, 64)
	if err != nil {
		return err
	}
	return errors.Join(
		metaTable.Put(tx, layout.FormatKey, format),
		metaTable.Put(tx, layout.SchemaKey, uint64(schema)),
		metaTable.Put(tx, layout.BaseKey, base),
	)
}

// readMetaRows refuses a newer schema.
func (db *DB) readMetaRows() (schema int, err error) {
	var stored uint64
	err = db.View(func(tx *Tx) error {
		var err, err2 error
		stored, err = metaTable.Get(tx, layout.SchemaKey)
		db.base, err2 = metaTable.Get(tx, layout.BaseKey)
		return errors.Join(err, err2)
	})
	if err == nil && stored > uint64(db.o.Schema) {
		err = fmt.Errorf("%w: schema %d, this program knows %d", ErrNewerSchema, stored, db.o.Schema)
	}
	return int(stored), err
}

// migrate brings the rows from an older schema to ours, each step in its own transaction, after a copy was kept.
func (db *DB) migrate(ctx context.Context, from int) error {
	if _, err := db.o.steps(from); err != nil {
		return err
	}
	if err := db.keepBefore(ctx, from); err != nil {
		return fmt.Errorf("copy before migrating: %w", err)
	}
	return db.climb(ctx, from)
}

// climb takes the steps.
func (db *DB) climb(ctx context.Context, from int) error {
	steps, err := db.o.steps(from)
	if err != nil {
		return err
	}
	for _, step := range steps {
		err := db.Update(ctx, func(tx *Tx) error {
			if step.Up != nil {
				if err := step.Up(tx); err != nil {
					return err
				}
			}
			return metaTable.Put(tx, layout.SchemaKey, uint64(step.To))
		})
		if err != nil {
			return fmt.Errorf("migrate to schema %d: %w", step.To, err)
		}
	}
	return nil
}

// steps are the migrations above from in ascending order, the last one reaching Schema.
func (o Options) steps(from int) ([]Migration, error) {
	steps := slices.DeleteFunc(slices.Clone(o.Migrations), func(m Migration) bool { return m.To <= from })
	slices.SortFunc(steps, func(a, b Migration) int { return a.To - b.To })
	for i, m := range steps {
		if m.To > o.Schema || i > 0 && m.To == steps[i-1].To {
			return nil, fmt.Errorf("migration to schema %d is listed twice or above schema %d", m.To, o.Schema)
		}
	}
	if len(steps) == 0 || steps[len(steps)-1].To < o.Schema {
		steps = append(steps, Migration{To: o.Schema})
	}
	return steps, nil
}

// keepBefore copies the file to one that later snapshots do not push out, and drops that of the migration before.
func (db *DB) keepBefore(ctx context.Context, from int) error {
	older, err := disk.Siblings(db.path, kindBefore)
	if err != nil {
		return err
	}
	name := disk.Sibling(db.path, kindBefore, from)
	if err := db.copyTo(ctx, name, nil); err != nil {
		return err
	}
	for _, s := range older {
		if s.Name != name {
			if err := os.Remove(s.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
