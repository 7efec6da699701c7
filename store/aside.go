package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"go.etcd.io/bbolt"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/salvage"
)

// StoredRow is a row of a file that is only looked at.
type StoredRow struct {
	Bucket string // as "table:bookings"
	Key    string // of a queue: the number
	Value  []byte // JSON; valid until the function that takes it returns
}

// ReadAside reads what can be read of a database that nobody has open, damaged or not: one that was set aside, or a
// snapshot. Each row that a repair would take from it alone, with o.Names and o.Age, goes to take, table by table, in the
// order of keys. It changes nothing. Of a sound file it holds a few pages in memory at a time; what can be read of a damaged
// one is put into a temporary file first. The tables say how much there is, and how much cannot be read. ErrLocked says
// that the file is in use.
func ReadAside(ctx context.Context, path string, o Options, take func(StoredRow) error) (found Repair, err error) {
	file, err := disk.OpenShared(path)
	if err != nil {
		return Repair{}, err
	}
	defer disk.Unlock(file)
	size, err := sizeOf(file)
	if err != nil {
		return Repair{}, err
	}
	reader := disk.Counted{Ctx: ctx, ReaderAt: file, Tally: &disk.Tally{Total: size}}
	dir := ""
	defer func() {
		if dir != "" {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	temp := func() (b *bbolt.DB, err error) {
		if dir, err = os.MkdirTemp("", "roomgate-read-"); err != nil {
			return nil, err
		}
		return openTemp(filepath.Join(dir, "merged"), o)
	}
	from := salvage.Options{File: pages.File{Reader: reader, Size: size}, Names: o.Names, Age: o.Age, Schema: o.Schema}
	return salvage.Read(from, temp, func(bucket string, key, value []byte) error {
		shown := string(key)
		if n, ok := layout.Number(key); ok && layout.IsQueue(bucket) {
			shown = strconv.FormatUint(n, 10)
		}
		return take(StoredRow{bucket, shown, value[pages.ValueHeader:]})
	})
}
