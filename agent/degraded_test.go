package agent

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/health"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/cloud"
	"roomgate/store/disk"
	"roomgate/store/storetest"
)

// wantDegraded wants a building that obeys, refuses to book, and says why.
func (r *rig) wantDegraded(state disk.State) {
	r.t.Helper()
	receipt, err := r.Commands.Do(r.t.Context(), device.Command{ID: "here", Space: room, DeviceType: "light", Action: "on", Via: device.ViaHTTP})
	if err != nil || receipt.State != device.Done || receipt.Durable == nil {
		r.t.Errorf("a light: %+v, %v", receipt, err)
	}
	if got := r.status(room, "light", ""); got.Value != "on" {
		r.t.Errorf("the light is %+v", got)
	}
	_, _, err = r.Bookings.Create(r.t.Context(), meeting("new", time.Now().Add(time.Hour).Truncate(time.Hour), time.Now().Add(2*time.Hour).Truncate(time.Hour)), schedule.Caller{})
	if e := device.AsError(err); e == nil || e.Code != problem.Unwritable {
		r.t.Errorf("a booking: %v", err)
	}
	if d := r.Health.Report().Degraded; d == nil || d.Storage != state || r.Health.Ready() != nil || r.Health.Progress() != nil {
		r.t.Errorf("degraded %+v, ready %v, progress %v", d, r.Health.Ready(), r.Health.Progress())
	}
}

// undurable are the receipts of a command that came up, each of which has to say that a restart forgets it.
func (h *heaven) undurable(id string) (states []device.State) {
	h.t.Helper()
	for _, m := range h.taken("receipt") {
		var r device.Receipt
		if err := json.Unmarshal(m.Data, &r); err != nil {
			h.t.Error(err)
		}
		if r.CommandID != id {
			continue
		}
		if states = append(states, r.State); r.Durable == nil || *r.Durable {
			h.t.Errorf("%s: %s", id, m.Data)
		}
	}
	return states
}

func TestBuildingWhoseDiskFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, h, publish := startCloudy(t, cloud.AcksBackend)
		storetest.Break(t, filepath.Join(r.options.DataDir, Database))
		r.wait(time.Minute)
		r.wantDegraded(disk.Failing)
		births := len(h.taken("presence"))
		publish("command", false, command("c1", map[string]any{"action": "off"}))
		publish("schedule", false, cloud.Envelope{ID: "s1", Source: "backend", Type: "roomgate.schedule", Time: time.Now(),
			Data: json.RawMessage(`{"meeting_space_id":"` + room + `","revision":1,"kind":"snapshot","bookings":[],"removed":[]}`)})
		r.wait(5 * time.Minute)
		if got := h.undurable("c1"); !slices.Equal(got, []device.State{device.Accepted, device.Done}) {
			t.Errorf("receipts %q", got)
		}
		if again := len(h.taken("presence")); again != births {
			t.Errorf("connected %d times more, which does not help", again-births)
		}
		h.cut(false) // what was not acknowledged comes again
		r.wait(time.Minute)
		if got := h.undurable("c1"); len(got) < 3 || got[2] != device.Done {
			t.Errorf("receipts %q, as if the command had been acknowledged", got)
		}
		if all := r.bench["light-1"].effects(); !slices.Equal(all, []string{"on", "off"}) {
			t.Errorf("took effect %q", all)
		}
		beats := h.taken("heartbeat")
		var last health.Report
		if err := json.Unmarshal(beats[len(beats)-1].Data, &last); err != nil || last.Degraded == nil || last.Degraded.Storage != disk.Failing {
			t.Errorf("the heartbeat says %s, %v", beats[len(beats)-1].Data, err)
		}
	})
}

func TestBuildingOnAReadOnlyDisk(t *testing.T) {
	dir, remount := mountedDisk(t)
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{dir: dir})
		r.wait(5 * time.Second)
		r.book("known", on(12, 0), on(13, 0))
		r.stop()
		remount(syscall.MS_RDONLY)
		before := command("before", map[string]any{"expires_at": time.Now().Add(time.Hour), "action": "off"})
		time.Sleep(time.Second)
		h, publish := openHeaven(t)
		r = startRig(t, rigOptions{dir: dir, yaml: withCloud(cloud.AcksBackend), dial: h.dial})
		r.wait(5 * time.Second)
		r.wantDegraded(disk.ReadOnly)
		if r.booking("known").ID == "" {
			t.Error("what is stored is not known")
		}
		publish("command", false, before)
		r.wait(5 * time.Minute)
		if got := h.undurable("before"); !slices.Equal(got, []device.State{device.Rejected}) {
			t.Errorf("a command from before the start: %q", got)
		}
	})
}

// A first start that finds no room for a database goes on without one, and begins again once
// there is room. The next process knows which doors this one has opened.
func TestFirstStartOnAFullDisk(t *testing.T) {
	dir, _ := mountedDisk(t)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 9<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{dir: dir, yaml: withDoor, dial: noCloud})
		ended := make(chan error, 1)
		go func() { ended <- r.Run(t.Context()) }()
		r.wait(5 * time.Second)
		r.wantDegraded(disk.Full)
		door := device.Command{ID: "door", Space: otherRoom, DeviceType: "lock", Action: "open", Via: device.ViaHTTP}
		if receipt, err := r.Commands.Do(t.Context(), door); err != nil || receipt.State != device.Done || r.Health.Database.Repair() != nil {
			t.Errorf("a door: %+v, %v; a repair of nothing: %v", receipt, err, r.Health.Database.Repair())
		}
		if r.Access.NewKey() != "" {
			t.Error("a key was made that the next start does not know")
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "the disk takes writes again") {
				t.Error(err)
			}
		case <-time.After(time.Hour):
			t.Error("there is room, and the database is not opened again")
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		next := openRig(t, rigOptions{dir: dir, yaml: withDoor, dial: noCloud})
		if receipt, err := next.Commands.Do(t.Context(), door); err != nil || receipt.State != device.Done || next.opened() > 0 {
			t.Errorf("the same order to the next process: %+v, %v, opened %d times", receipt, err, next.opened())
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The file of a database cannot be read at the start: the snapshot tells what was known.
func TestBuildingWhoseDatabaseCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir, key: "the system key"})
	r.book("known", time.Now().Add(24*time.Hour).Truncate(time.Hour), time.Now().Add(25*time.Hour).Truncate(time.Hour))
	if err := errors.Join(r.db.Snapshot(t.Context()), r.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, Database)
	if err := errors.Join(os.Remove(path), os.Symlink("/proc/self/mem", path)); err != nil {
		t.Fatal(err)
	}
	r = openRig(t, rigOptions{dir: dir})
	if r.booking("known").ID == "" || r.Access.NewKey() != "" {
		t.Error("what is in the snapshot is not known")
	}
	if d := r.Health.Report().Degraded; d == nil || d.Storage != disk.Failing || !strings.Contains(d.Reason, "input/output") {
		t.Errorf("%+v", d)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// mountedDisk is a disk that can be mounted again in another way.
func mountedDisk(t *testing.T) (dir string, remount func(flags uintptr)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("a disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
}
