package console

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/atomicfile"
	"roomgate/agent/backup"
	"roomgate/agent/problem"
	"roomgate/agent/update"
)

// TestKeptPages keeps what the pages of backups, support bundles and updates are made of.
func TestKeptPages(t *testing.T) {
	form := &Form{ID: "backup-new", Title: "Make a backup", Send: "POST /console/made/backup", Button: "Make it", Fields: []Input{{ID: "word", Name: "passphrase", Label: "Passphrase", Type: "password", Required: true}}}
	running := Made{Making: Making{File: FileBackup, By: "Ada", Running: true, Part: "copying the database", Percent: 25, Total: 4_000_000, For: 4 * time.Second}}
	ready := Made{Making: Making{File: FileBackup, By: hostile, Ready: true, Size: 1_234_567}, Waits: "15:03", Last: "The last backup was taken away at 14:03, 1.2 MB.", New: form}
	waits := newUpdates(update.Status{Running: "1.4.0", Release: true, Next: "1.5.0", Waits: "a meeting is under way in Aurora", Keys: 1})
	fetched := newUpdates(update.Status{Running: "1.4.0", Keys: 1, Fetch: &update.Fetching{URL: "https://updates.example/1.5.0", Have: 3_000_000, Size: 12_000_000}})
	trial := newUpdates(update.Status{Running: "1.5.0", Release: true, Other: "1.4.0", Keys: 1, Trial: &update.Trial{Release: update.Release{Version: "1.5.0"}, From: "1.4.0", Tries: 1}})
	failed := newUpdates(update.Status{Running: "1.4.0", Keys: 1, Failed: &update.Failure{Release: update.Release{Version: "1.5.0"}, Reason: hostile}})
	for name, page := range map[string]struct {
		template string
		data     any
	}{
		"backup-running": {"backup-now", running}, "backup-ready": {"backup-now", ready}, "backup-new": {"backup-new", ready}, "backup-new-none": {"backup-new", running},
		"support-running": {"support-now", Made{Making: Making{File: FileSupport, Running: true, For: 12 * time.Second}}}, "support-wrong": {"support-now", Made{Making: Making{File: FileSupport, Wrong: hostile}, New: form}},
		"update-waits": {"update-now", waits}, "update-fetched": {"update-now", fetched}, "update-trial": {"update-now", trial}, "update-failed": {"update-now", failed},
		"update-none": {"update-now", Updates{}}, "update-new": {"update-new", waits}, "update-new-trial": {"update-new", trial}, "update-no-keys": {"update-now", newUpdates(update.Status{Running: "1.4.0"})},
	} {
		golden(t, name, page.template, page.data)
	}
}

// TestRoomForABackup: a disk that has no room for a backup is left as it is.
func TestRoomForABackup(t *testing.T) {
	for free, want := range map[uint64]problem.Code{1 << 30: "", 66 << 20: "", 65<<20 - 1: problem.Full, 0: problem.Full} {
		err := roomFor(free, 512<<10)
		if e := problem.As(err); (e == nil) != (want == "") || e != nil && e.Code != want {
			t.Errorf("%d bytes free: %v", free, err)
		}
	}
}

// TestMakerKeepsForAWhile: what was made waits for half an hour, is one at a time, and lies
// under no name.
func TestMakerKeepsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		c := &Console{o: Options{Errands: Errands{Folder: folder}}}
		m := newMakers()[FileSupport]
		write := func(text string, err error) order {
			return order{do: func(_ context.Context, f *os.File, told func(string) backup.Progress) error {
				told("half")(1, 2)
				time.Sleep(time.Minute)
				_, _ = f.WriteString(text)
				return err
			}}
		}
		made := func(o order) {
			t.Helper()
			f, err := atomicfile.Unnamed(folder)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.start(order{}); err != nil { // which nobody does here
				t.Fatal(err)
			}
			<-m.wanted
			if err := m.start(o); problem.As(err) == nil || problem.As(err).Code != problem.NotNow {
				t.Errorf("two at a time: %v", err)
			}
			m.done(f, o.do(t.Context(), f, m.told))
		}
		made(write("one", nil))
		if v := m.look(); !v.Ready || v.Size != 3 {
			t.Errorf("it is %+v", v)
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("in the folder is %v", left)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { m.run(ctx, c); close(ended) }()
		time.Sleep(keepFor - time.Second)
		if v := m.look(); !v.Ready {
			t.Error("it waits no half an hour")
		}
		time.Sleep(2 * time.Second)
		if v := m.look(); v.Ready || m.made != nil {
			t.Errorf("after its time it is %+v", v)
		}
		cancel()
		<-ended
		made(write("two", errors.New("the disk fell out")))
		if v := m.look(); v.Ready || v.Running || v.Wrong != "The disk fell out." {
			t.Errorf("it is %+v", v)
		}
	})
}
