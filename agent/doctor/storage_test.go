package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/health"
	disks "roomgate/store/disk"
)

func TestStorage(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for want, state := range map[string]disks.State{
		"the disk is full since 2026-11-23 09:00: why":       disks.Full,
		"the disk takes nothing since 2026-11-23 09:00: why": disks.Failing,
		"the disk is read only since 2026-11-23 09:00: why":  disks.ReadOnly,
	} {
		x := &examination{Options: Options{Building: &Building{Report: health.Report{Degraded: &health.Degraded{Storage: state, Since: at, Reason: "why"}}}}}
		storage(t.Context(), x)[0].is(t, want, Fail, want)
	}
	x := &examination{Options: Options{Building: &Building{}}}
	if found := storage(t.Context(), x); found != nil {
		t.Errorf("nothing is wrong: %v", found)
	}
}

// The disk of a demo is that of its own folder, whatever a configuration names.
func TestDiskOfADemo(t *testing.T) {
	of := config.Default()
	for name, c := range map[string]*config.Config{"no configuration": nil, "another gateway's": &of} {
		folder := t.TempDir()
		x := &examination{Options: Options{Root: "/", Config: c, Building: &Building{Identity: health.Identity{Simulated: true}, Folder: folder}}}
		if got := x.existing(); got != folder {
			t.Errorf("%s: %s, want %s", name, got, folder)
		}
	}
}

// TestReserveOnly: a disk that has no room for the reserve alone refuses no booking, and nobody is told so.
func TestReserveOnly(t *testing.T) {
	x := &examination{Options: Options{Building: &Building{Report: health.Report{Degraded: &health.Degraded{Storage: disks.Full, Reason: disks.NoReserve + ": why"}}}}}
	found := storage(t.Context(), x)[0]
	found.is(t, "only the reserve", Fail, "the disk is almost full")
	if strings.Contains(found.Fix, "refused") || !strings.Contains(found.Fix, "make room") {
		t.Errorf("the fix is %q", found.Fix)
	}
}

// TestFolderOfTheCommand: the folder that the command names is examined, whether there is a configuration or not.
func TestFolderOfTheCommand(t *testing.T) {
	of := config.Default()
	of.Data = t.TempDir()
	for name, c := range map[string]*config.Config{"no configuration": nil, "another folder": &of} {
		folder := filepath.Join(t.TempDir(), "data")
		root := tree(t, map[string]string{"proc/self/mountinfo": "22 1 179:2 / / rw - ext4 /dev/root rw\n30 22 7:1 / " + folder + " rw,relatime - ext4 /dev/loop1 rw,abort,emergency_ro\n"})
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		x := &examination{Options: Options{Root: root, Config: c, Data: folder}}
		disk(t.Context(), x)[0].is(t, name, Fail, "on "+folder+" (ext4), read only")
		found := dataFolder(t.Context(), x)
		if len(found) != 1 {
			t.Fatalf("%s: the data folder is not looked at: %v", name, found)
		}
		found[0].is(t, name, OK, folder)
	}
}

// TestStoppedFileSystem: the kernel calls a file system rw that it has stopped after an error, or that was shut down.
func TestStoppedFileSystem(t *testing.T) {
	for options, want := range map[string]bool{
		"rw,relatime - ext4 /dev/loop1 rw,abort,emergency_ro": true, "rw,relatime - ext4 /dev/loop1 rw,shutdown": true,
		"ro,relatime - ext4 /dev/loop1 rw": true, "rw,relatime - ext4 /dev/loop1 ro": true,
		"rw,relatime - ext4 /dev/loop1 rw,errors=remount-ro": false, "rw - tmpfs tmpfs rw,size=4k,inode64": false,
	} {
		x := &examination{Options: Options{Root: tree(t, map[string]string{"proc/self/mountinfo": "30 22 7:1 / /srv " + options + "\n"})}}
		if got := x.mountOf("/srv/data").refuses(); got != want {
			t.Errorf("%s: refuses %v, want %v", options, got, want)
		}
	}
}

// TestStartByItself: who has mended the disk knows how long the gateway waits.
func TestStartByItself(t *testing.T) {
	for state, want := range map[disks.State]string{disks.ReadOnly: "about 3 minutes after the disk takes writes", disks.Failing: "no sooner than 10 minutes after it failed"} {
		x := &examination{Options: Options{Building: &Building{Report: health.Report{Degraded: &health.Degraded{Storage: state}}}}}
		if f := storage(t.Context(), x)[0]; !strings.HasSuffix(f.Fix, want) {
			t.Errorf("%s: the fix is %q, want %q", state, f.Fix, want)
		}
	}
}
