package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
)

// Progress hears how many bytes of how many are done.
type Progress func(done, total int64)

// Verify is Check that nobody stops and nobody watches.
func Verify(path string) error { return Check(context.Background(), path, nil) }

// Check reads the whole file at path: its structure, the order of all keys and the checksum of every value. It opens
// the file for reading only and changes nothing. It takes as long as the disk takes, and progress, unless nil, hears how
// far it is.
//
// The error wraps ErrDamaged if the file is damaged, and only then: ErrUnreadable if the disk did not deliver it,
// ErrNewerSchema if a newer version wrote it, ErrLocked if another process has it open, ctx's error if that ended
// first.
//
// Pages are read one by one and never mapped, so that damage is an error here. bbolt may panic, fault or loop on it:
// no damaged file must come so far.
func Check(ctx context.Context, path string, progress Progress) error {
	file, err := disk.OpenShared(path)
	if err == nil {
		defer disk.Unlock(file)
		err = checkFile(ctx, file, progress)
	}
	if err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	return nil
}

// checkFile is Check of a file that is already open.
func checkFile(ctx context.Context, file *os.File, progress Progress) error {
	size, err := sizeOf(file)
	if err != nil {
		return err
	}
	return verifyImage(disk.Counted{Ctx: ctx, ReaderAt: file, Tally: &disk.Tally{Total: size, Progress: progress}}, size)
}

func sizeOf(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("not a regular file")
	}
	return info.Size(), nil
}

// verifyImage checks all pages in use and all values.
func verifyImage(file io.ReaderAt, size int64) error {
	return pages.File{Reader: file, Size: size}.Check(layout.Rows)
}
