// Package disk is what a database knows of the disk below it: how files appear on it whole, what its errors mean, whether
// it takes writes again, how much it was given in a day, and room that is taken beforehand. It knows no row.
package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// State is what the disk does with what is written.
type State string

// The states of a disk.
const (
	Taking   State = "ok"        // it takes what is written
	Full     State = "full"      // it has no room, or the database has reached its maximum: the next write may succeed
	Failing  State = "failing"   // it reports errors: nothing is written before the next Open, or some pages cannot be read
	ReadOnly State = "read_only" // it takes nothing: nothing is written before the next Open
)

// StateOf is what an error that ends the writing says of the disk. bbolt loses the cause of a failed file growth, so that
// one is known by its text only.
func StateOf(err error) State {
	if Lacking(err) {
		return Full
	}
	if errors.Is(err, syscall.EROFS) || strings.Contains(err.Error(), syscall.EROFS.Error()) {
		return ReadOnly
	}
	return Failing
}

// Lacking says that an error is a lack of room, or of places for files.
func Lacking(err error) bool {
	return slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EDQUOT}, func(e error) bool {
		return errors.Is(err, e) || err != nil && strings.Contains(err.Error(), e.Error())
	})
}

// Blamed says that the disk is to blame for an error: it is read-only, or reports errors.
func Blamed(err error) bool {
	return slices.ContainsFunc([]error{syscall.EROFS, syscall.EIO}, func(e error) bool { return errors.Is(err, e) })
}

const (
	// ProbeEvery is how often a disk that took nothing is tried.
	ProbeEvery = time.Minute
	// probes is how many tries in a row have to succeed.
	probes = 3
	// BadFor is how long a disk that reported errors is not used again, whatever it says. It bounds how often a
	// gateway with a bad disk starts again.
	BadFor = 10 * time.Minute
)

// Probe tries a disk that took nothing. The zero value is ready.
type Probe struct{ good int }

// Healed writes a small file beside path, and says whether the disk takes writes again, so that a new Open helps. state
// is what the disk was since then.
func (p *Probe) Healed(path string, state State, since time.Time) bool {
	if try(path+".probe") != nil {
		p.good = 0
		return false
	}
	p.good++
	return p.good >= probes && (state != Failing || time.Since(since) >= BadFor)
}

func try(path string) error {
	return errors.Join(writeSynced(path, make([]byte, 4096)), os.Remove(path), SyncDir(path))
}

// writeSynced writes a whole file and waits for the disk.
func writeSynced(path string, raw []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Sync(), f.Close())
}

// Install makes a finished file appear under its name, all of it or nothing, also after a power cut. The caller has
// synced its contents.
func Install(temp, path string) error {
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return SyncDir(path)
}

// SyncDir makes the names in the folder of path durable.
func SyncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Remove removes a file if it is there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// KeepAs gives a file a second name, which stays when another file takes the first one. Where the file system has no
// links, the first name goes at once; a cut then leaves the snapshots.
func KeepAs(path, name string) error {
	if err := os.Link(path, name); err == nil {
		return SyncDir(path)
	}
	return Install(path, name)
}
