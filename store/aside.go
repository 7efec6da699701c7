package store

import (
	"context"
	"strconv"

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
// snapshot. Each sound row goes to take, table by table, in the order of keys; it holds a few pages in memory at a time
// and changes nothing. The tables say how much there is, and how much cannot be read: their Kept, Lost and Holes.
// ErrLocked says that the file is in use.
func ReadAside(ctx context.Context, path string, take func(StoredRow) error) (Repair, error) {
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
	return salvage.Read(pages.File{Reader: reader, Size: size}, func(bucket string, key, value []byte) error {
		shown := string(key)
		if n, ok := layout.Number(key); ok && layout.IsQueue(bucket) {
			shown = strconv.FormatUint(n, 10)
		}
		return take(StoredRow{bucket, shown, value[pages.ValueHeader:]})
	})
}
