package store

import (
	"fmt"
	"path/filepath"

	"roomgate/store/disk"
)

// Kinds of files beside the database.
const (
	kindSnapshot = "snapshot"
	kindDamaged  = "damaged"
	kindBefore   = "before-schema"
	kindAhead    = "ahead"

	keepDamaged = 2
)

// temporary is the name of a file in the making; one left over is worthless.
func temporary(path string) string { return path + ".new" }

// checkFree tells early that a copy of size bytes would fill the disk, with a reserve for the database itself.
func checkFree(path string, size int64) error {
	free, err := disk.Free(filepath.Dir(path))
	if err != nil {
		return err
	}
	const reserve = 8 << 20
	if free < size+reserve {
		return fmt.Errorf("a copy needs %d MB of disk, %d MB are free: %w", (size+reserve)>>20, free>>20, ErrFull)
	}
	return nil
}
