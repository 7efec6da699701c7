package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Kinds of files beside the database, each named <database>.<kind>-<number>. Numbers only rise, because a gateway's
// clock cannot be trusted to.
const (
	kindSnapshot = "snapshot"
	kindDamaged  = "damaged"
	kindBefore   = "before-schema"
	kindAhead    = "ahead"

	keepDamaged = 2
)

type numbered struct {
	name   string
	number int
}

func sibling(path, kind string, number int) string {
	return fmt.Sprintf("%s.%s-%06d", path, kind, number)
}

// siblings lists the files of one kind, oldest first.
func siblings(path, kind string) ([]numbered, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var found []numbered
	prefix := filepath.Base(path) + "." + kind + "-"
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		n, err := strconv.Atoi(digits)
		if ok && err == nil {
			found = append(found, numbered{filepath.Join(filepath.Dir(path), e.Name()), n})
		}
	}
	slices.SortFunc(found, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	return found, nil
}

func nextNumber(found []numbered) int {
	if len(found) == 0 {
		return 1
	}
	return found[len(found)-1].number + 1
}

// prune removes all but the newest keep.
func prune(found []numbered, keep int) error {
	var errs []error
	for _, f := range found[:max(0, len(found)-keep)] {
		errs = append(errs, os.Remove(f.name))
	}
	return errors.Join(errs...)
}

// temporary is the name of a file in the making; one left over is worthless.
func temporary(path string) string { return path + ".new" }

// checkFree tells early that a copy of size bytes would fill the disk, with a reserve for the database itself.
func checkFree(path string, size int64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &fs); err != nil {
		return fmt.Errorf("free disk space: %w", err)
	}
	const reserve = 8 << 20
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < size+reserve {
		return fmt.Errorf("a copy needs %d MB of disk, %d MB are free: %w", (size+reserve)>>20, free>>20, ErrFull)
	}
	return nil
}
