package console

import (
	"testing"
	"time"

	"roomgate/agent/errand"
	"roomgate/agent/update"
)

// TestKeptPages keeps what the pages of backups, support bundles and updates are made of.
func TestKeptPages(t *testing.T) {
	form := &Form{ID: "backup-new", Title: "Make a backup", Send: "POST /console/made/backup", Button: "Make it", Fields: []Input{{ID: "word", Name: "passphrase", Label: "Passphrase", Type: "password", Required: true}}}
	running := Made{Making: errand.Making{File: errand.FileBackup, By: "Ada", Running: true, Part: "copying the database", Percent: 25, Total: 4_000_000, For: 4 * time.Second}}
	ready := Made{Making: errand.Making{File: errand.FileBackup, By: hostile, Ready: true, Size: 1_234_567}, Waits: "15:03", Last: "The last backup was taken away at 14:03, 1.2 MB.", New: form}
	waits := newUpdates(update.Status{Running: "1.4.0", Release: true, Next: "1.5.0", Waits: "a meeting is under way in Aurora", Keys: 1})
	fetched := newUpdates(update.Status{Running: "1.4.0", Keys: 1, Fetch: &update.Fetching{URL: "https://updates.example/1.5.0", Have: 3_000_000, Size: 12_000_000}})
	trial := newUpdates(update.Status{Running: "1.5.0", Release: true, Other: "1.4.0", Keys: 1, Trial: &update.Trial{Release: update.Release{Version: "1.5.0"}, From: "1.4.0", Tries: 1}})
	failed := newUpdates(update.Status{Running: "1.4.0", Keys: 1, Failed: &update.Failure{Release: update.Release{Version: "1.5.0"}, Reason: hostile}})
	for name, page := range map[string]struct {
		template string
		data     any
	}{
		"backup-running": {"backup-now", running}, "backup-ready": {"backup-now", ready}, "backup-new": {"backup-new", ready}, "backup-new-none": {"backup-new", running},
		"support-running": {"support-now", Made{Making: errand.Making{File: errand.FileSupport, Running: true, For: 12 * time.Second}}}, "support-wrong": {"support-now", Made{Making: errand.Making{File: errand.FileSupport, Wrong: hostile}, New: form}},
		"update-waits": {"update-now", waits}, "update-fetched": {"update-now", fetched}, "update-trial": {"update-now", trial}, "update-failed": {"update-now", failed},
		"update-none": {"update-now", Updates{}}, "update-new": {"update-new", waits}, "update-new-trial": {"update-new", trial}, "update-no-keys": {"update-now", newUpdates(update.Status{Running: "1.4.0"})},
	} {
		golden(t, name, page.template, page.data)
	}
}
