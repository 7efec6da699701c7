package doctor

import (
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
