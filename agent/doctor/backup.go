package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"roomgate/agent/backup"
)

// oldBackup is when a backup is too old to be glad of.
const oldBackup = 31 * 24 * time.Hour

// lastBackup says how old the last backup is that was made here. Where it went
// and whether it still exists nobody knows.
func lastBackup(_ context.Context, x *examination) []Finding {
	const name, fix = "backup", "sudo roomgate backup FILE, and keep the file and its passphrase elsewhere"
	if folderOf(x) == "" || x.simulated() {
		return nil
	}
	if _, err := os.Stat(filepath.Join(folderOf(x), backup.DatabaseName)); err != nil {
		return nil // there is nothing to back up, or nothing of it can be known
	}
	note, ok, err := backup.ReadNote(folderOf(x))
	age := time.Since(note.At)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		return one(warn(name, "the note of the last one cannot be read: "+err.Error(), fix))
	case !ok:
		return one(warn(name, "none was made here yet", fix))
	case age < 0: // by a clock that was wrong, then or now
		return one(good(name, "the last one is of %s, %s", note.At.Format(time.DateOnly), size(uint64(note.Size))))
	}
	seen := fmt.Sprintf("the last one is %s old, %s", days(age), size(uint64(note.Size)))
	if age > oldBackup {
		return one(warn(name, seen, fix))
	}
	return one(good(name, "%s", seen))
}

// days writes a time span for people.
func days(d time.Duration) string {
	switch {
	case d < time.Hour:
		return "less than an hour"
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
