package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"
	"strings"

	"roomgate/store/pages"
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
	file, err := openShared(path)
	if err != nil {
		return Repair{}, err
	}
	defer unlock(file)
	size, err := sizeOf(file)
	if err != nil {
		return Repair{}, err
	}
	reader := counted{ctx, file, &tally{total: size}}
	m := &merge{file: pages.File{Reader: reader, Size: size}, repair: &Repair{}}
	err = m.read(func(bucket string, key, value []byte) error {
		if strings.HasPrefix(bucket, "meta:") || strings.HasPrefix(bucket, "queue:") && bytes.Equal(key, stateKey) {
			return nil
		}
		if misplaced(bucket, key) {
			m.of(bucket).Lost++
			return nil
		}
		m.of(bucket).Kept++
		shown := string(key)
		if strings.HasPrefix(bucket, "queue:") {
			shown = strconv.FormatUint(binary.BigEndian.Uint64(key), 10)
		}
		return take(StoredRow{bucket, shown, value[pages.ValueHeader:]})
	})
	if m.now != nil { // else it was stopped before it found where to begin
		m.count()
	}
	return *m.repair, err
}
