package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/backup"
	"roomgate/agent/config"
)

func TestLastBackup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		x := &examination{Options: Options{Config: &config.Config{Data: dir}}}
		if found := lastBackup(t.Context(), x); found != nil {
			t.Errorf("without a database: %v", found)
		}
		want := func(state State, seen string) {
			t.Helper()
			found := lastBackup(t.Context(), x)
			if len(found) != 1 || found[0].State != state || !strings.Contains(found[0].Seen, seen) || state != OK && found[0].Fix == "" {
				t.Errorf("%+v, want %s %q", found, state, seen)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, backup.DatabaseName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want(Warn, "none was made here yet")
		note := func(at time.Time) {
			if err := backup.WriteNote(dir, backup.Note{At: at, Size: 3 << 20}); err != nil {
				t.Fatal(err)
			}
		}
		note(time.Now())
		want(OK, "less than an hour old")
		time.Sleep(30 * time.Hour)
		want(OK, "30 h old")
		time.Sleep(40 * 24 * time.Hour)
		want(Warn, "41 days old")
		note(time.Now().AddDate(3, 0, 0))
		want(OK, "the last one is of 2003-")
		if err := os.WriteFile(filepath.Join(dir, backup.NoteName), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		want(Warn, "cannot be read")
	})
}
