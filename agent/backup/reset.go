package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"roomgate/agent/atomicfile"
	"roomgate/agent/tlsauthority"
)

// Traces lists everything in a data folder that a gateway has made, in the
// order in which it is to be removed: the device secret first, without which
// nothing that is sealed can be read, and the database last, so that no start
// in between brings it back from a snapshot. The locks are not in it. Folders
// names those in it that are no part of a backup, and ours too; others are what
// somebody else has put there.
func Traces(data string, folders ...string) (ours, others []string, err error) {
	entries, err := os.ReadDir(data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		path := filepath.Join(data, e.Name())
		switch {
		case isLock(e.Name()):
		case isTrace(e.Name()) || slices.Contains(folders, e.Name()):
			ours = append(ours, path)
		default:
			others = append(others, path)
		}
	}
	slices.SortStableFunc(ours, func(a, b string) int { return turn(a) - turn(b) })
	return ours, others, err
}

// isLock says whether a file is a lock, which says nothing of anybody.
func isLock(name string) bool { return name == DatabaseName+".lock" || name == "control.lock" }

func isTrace(name string) bool {
	visible := strings.TrimPrefix(name, ".") // what an interrupted run left half made begins with a dot
	for _, known := range []string{DatabaseName, SecretName, NoteName} {
		if visible == known || strings.HasPrefix(visible, known+".") || strings.HasPrefix(visible, known+"-") {
			return true
		}
	}
	return name == restoreDir || name == BeforeName || name == "control.sock" ||
		visible == tlsauthority.Dir || visible == tlsauthority.Dir+".new" || visible == tlsauthority.Dir+".before"
}

func turn(path string) int {
	switch filepath.Base(path) {
	case SecretName:
		return 0
	case DatabaseName:
		return 2
	}
	return 1
}

// Erase removes what Traces has found, one after the other. It overwrites
// nothing: flash writes elsewhere than it reads, so that would wear the card and
// leave the old where it is.
func Erase(data string, ours []string) error {
	for _, path := range ours {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return atomicfile.Sync(data)
}
