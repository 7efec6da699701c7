//go:build integration

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faultySync tells the test binary to become a gateway whose syncs fail.
const faultySync = "ROOMGATE_TEST_FAULTY_SYNC"

// TestFullDiskOpensDoors: the door opens while bookings are refused, also after the power was cut.
func TestFullDiskOpensDoors(t *testing.T) {
	dir := loopDisk(t, 24)
	d := openBadDisk(t, dir, special{})
	d.door("with room", true)
	d.book(20)
	fillDisk(t, filepath.Join(dir, "filler"))
	if code := d.refused(); code != "storage_full" {
		t.Errorf("bookings are refused with %s", code)
	}
	d.door("on a full disk", true)
	if got := d.degraded(); got != "full" {
		t.Errorf("readyz says %q", got)
	}
	d.says("full", "the disk is full since")
	d.kill()
	d.start()
	d.refused()
	d.door("after a start on a full disk", true)
	awaitThat(t, "the log says so", func() bool {
		text, err := os.ReadFile(d.process.Stdout.(*os.File).Name())
		return err == nil && strings.Contains(string(text), "the building runs degraded")
	})
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	d.door("with room again", true) // and all that waited is written with it
	awaitThat(t, "an event tells", func() bool {
		var page struct {
			Events []struct {
				Type string `json:"eventType"`
			} `json:"events"`
		}
		status, err := d.call(http.MethodGet, "/devices/events?event_type=storageDegraded", nil, &page)
		return err == nil && status == http.StatusOK && len(page.Events) > 0
	})
	awaitThat(t, "the disk takes everything", func() bool { return d.degraded() == "" })
	d.longest = max(d.longest, time.Since(began))
	d.book(1)
	d.intact(2)
}

// TestReadOnlyDiskFaultOpensDoors: ext4 turns read-only below a running gateway, as it does when a card fails; then the
// gateway is killed and starts on it.
func TestReadOnlyDiskFaultOpensDoors(t *testing.T) {
	dir := loopDisk(t, 24)
	d := openBadDisk(t, dir, special{})
	d.door("with a good disk", true)
	d.book(20)
	if out, err := exec.Command("mount", "-o", "remount,abort", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if code := d.refused(); code != "storage_failed" {
		t.Errorf("bookings are refused with %s", code)
	}
	d.door("on a read-only disk", false)
	d.says(d.degraded(), "the disk ")
	d.kill()
	d.start()
	if got := d.degraded(); got != "read_only" {
		t.Errorf("readyz says %q", got)
	}
	d.door("after a start on a read-only disk", false)
	d.says("read_only", "the disk is read only since")
	if code := d.refused(); code != "storage_failed" {
		t.Errorf("bookings are refused with %s", code)
	}
	d.staysUp(15 * time.Second)
	d.intact(2)
}

// TestFaultOfSyncOpensDoors: each sync of the gateway fails with EIO from its start on.
func TestFaultOfSyncOpensDoors(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{})
	d.door("with a good disk", true)
	d.book(20)
	for range 2 { // and the next start is no better
		d.kill()
		d.run(d.faulty())
		if code := d.refused(); code != "storage_failed" {
			t.Errorf("bookings are refused with %s", code)
		}
		d.door("on a failing disk", false)
		if got := d.degraded(); got != "failing" {
			t.Errorf("readyz says %q", got)
		}
		d.says("failing", "the disk takes nothing since")
	}
	d.staysUp(15 * time.Second)
	d.intact(2)
}

// faulty is command of a gateway whose syncs fail.
func (d *badDisk) faulty() *exec.Cmd {
	own, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	c := exec.Command(own, "-test.run=^TestBecomeFaulty$")
	c.Env = append(d.env, faultySync+"="+strings.Join(d.command().Args, "\x1f"))
	return c
}

// TestKillAfterAFailedSync: what a gateway carries out while its syncs fail is known to the next one, though the first was killed, as
// the disk has taken a file of its own for it.
func TestKillAfterAFailedSync(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{})
	d.book(1)
	d.kill()
	d.run(d.faulty())
	before := map[string]string{}
	orders := map[string]string{"lock": "open", "light": "on"}
	for device, action := range orders {
		before[device] = d.named(device, action)
	}
	awaitThat(t, "both outcomes are kept", func() bool {
		text, err := os.ReadFile(d.database() + ".reserve")
		lock, light := strings.TrimSuffix(before["lock"], "Z"), strings.TrimSuffix(before["light"], "Z")
		return err == nil && strings.Contains(string(text), lock) && strings.Contains(string(text), light)
	})
	d.kill()
	d.start()
	for device, action := range orders {
		if again := d.named(device, action); again != before[device] {
			t.Errorf("%s %s was carried out at %s, and again at %s", device, action, before[device], again)
		}
	}
	d.intact(1)
}

// named gives an order under a name of its own, and says when it was carried out.
func (d *badDisk) named(device, action string) (finished string) {
	d.t.Helper()
	text := fmt.Sprintf(`{"device_type":%q,"action":%q,"wait":"8s"}`, device, action)
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.base+"/devices/"+demoRoom+"/action", strings.NewReader(text))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("X-API-Key", crashKey)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", device+"-"+action)
	var receipt struct {
		State    string `json:"state"`
		Finished string `json:"finished_at"`
	}
	if answer := bodyOf(d.t, r); json.Unmarshal([]byte(answer), &receipt) != nil || receipt.State != "done" || receipt.Finished == "" {
		d.t.Errorf("%s %s: %s", device, action, answer)
	}
	return receipt.Finished
}

// TestBecomeFaulty is no test: it becomes a gateway to which the kernel answers EIO whenever it syncs data
// (seccomp(2), SECCOMP_RET_ERRNO).
func TestBecomeFaulty(t *testing.T) {
	args := os.Getenv(faultySync)
	if args == "" {
		t.Skip("it is started by another test")
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: unix.SYS_FDATASYNC},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
		t.Fatal(errno)
	}
	all := strings.Split(args, "\x1f")
	t.Fatal(syscall.Exec(all[0], all, os.Environ()))
}
