//go:build integration

package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What an emulated disk can be.
const (
	wellDisk = "well"
	slowDisk = "slow" // delivers 0.8 MB a second, as a worn card
	deafDisk = "deaf" // answers each write with EIO
	holeDisk = "hole" // answers a read of one sector with EIO, see lose
)

// emulatedDisk is an ext4 file system on a disk that is qemu's, so that the kernel meets what a bad card does.
type emulatedDisk struct {
	t       *testing.T
	dir     string // where it is mounted
	export  string // the disk, as a file
	monitor net.Conn
	answers *json.Decoder
}

func newEmulatedDisk(t *testing.T, megabytes int64) *emulatedDisk {
	t.Helper()
	const daemon = "qemu-storage-daemon"
	if _, err := exec.LookPath(daemon); err != nil {
		t.Skipf("%v: make test-all installs it", err)
	}
	at := t.TempDir()
	image, socket := filepath.Join(at, "image"), filepath.Join(at, "monitor")
	d := &emulatedDisk{t: t, dir: t.TempDir(), export: filepath.Join(at, "disk")}
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, megabytes<<20), os.WriteFile(d.export, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-b", "4096", image).CombinedOutput(); err != nil {
		t.Skipf("no file system can be made here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.export, syscall.MNT_DETACH) }) // what is left of it when the daemon is killed
	process := startProcess(t, exec.Command(daemon, "--object", "throttle-group,id=worn,x-bps-read=800000",
		"--blockdev", "driver=file,node-name=well,filename="+image,
		"--blockdev", "driver=throttle,node-name=slow,throttle-group=worn,file=well",
		"--blockdev", "driver=blkdebug,node-name=deaf,image=well,inject-error.0.event=none,inject-error.0.iotype=write,inject-error.0.errno=5",
		"--blockdev", "driver=raw,node-name=disk,file=well",
		"--chardev", "socket,id=monitor,path="+socket+",server=on,wait=off", "--monitor", "chardev=monitor",
		"--export", "type=fuse,id=export,node-name=disk,writable=on,mountpoint="+d.export))
	awaitThat(t, "the disk is there", func() bool {
		if process.Process.Signal(syscall.Signal(0)) != nil {
			t.Skip("a disk cannot be emulated here")
		}
		info, err := os.Stat(d.export)
		return err == nil && info.Size() == megabytes<<20
	})
	var err error
	if d.monitor, err = net.Dial("unix", socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.monitor.Close() })
	d.answers = json.NewDecoder(d.monitor)
	d.tell("qmp_capabilities", nil)
	d.mount()
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	return d
}

// tell gives the daemon an order.
func (d *emulatedDisk) tell(order string, arguments any) {
	d.t.Helper()
	text := map[string]any{"execute": order}
	if arguments != nil {
		text["arguments"] = arguments
	}
	if err := json.NewEncoder(d.monitor).Encode(text); err != nil {
		d.t.Fatal(err)
	}
	for {
		var got struct{ Return, Error json.RawMessage }
		if err := d.answers.Decode(&got); err != nil || got.Error != nil {
			d.t.Fatalf("%s: %v %s", order, err, got.Error)
		}
		if got.Return != nil { // anything else is a greeting or an event
			return
		}
	}
}

// become makes it another disk with the same bytes, while it is used.
func (d *emulatedDisk) become(kind string) {
	d.t.Helper()
	d.tell("blockdev-reopen", map[string]any{"options": []any{map[string]any{"driver": "raw", "node-name": "disk", "file": kind}}})
}

func (d *emulatedDisk) mount() {
	d.t.Helper()
	if out, err := exec.Command("mount", "-o", "loop", d.export, d.dir).CombinedOutput(); err != nil {
		d.t.Skipf("a disk cannot be mounted here: %v %s", err, out)
	}
}

// unplug takes it away, so that the kernel remembers nothing of it.
func (d *emulatedDisk) unplug() {
	d.t.Helper()
	if err := syscall.Unmount(d.dir, 0); err != nil {
		d.t.Fatal(err)
	}
	awaitThat(d.t, "the kernel has let the disk go, with what it remembers", func() bool {
		loops, err := exec.Command("losetup", "--associated", d.export).Output()
		return err == nil && len(loops) == 0
	})
}

// lose makes the disk fail where a page of a file is, from the next mount on.
func (d *emulatedDisk) lose(path string, page int64) {
	d.t.Helper()
	block := blockOf(d.t, path, page)
	d.tell("blockdev-add", map[string]any{"driver": "blkdebug", "node-name": holeDisk, "image": wellDisk,
		"inject-error": []any{map[string]any{"event": "none", "iotype": "read", "errno": int(unix.EIO), "sector": block * 4096 / 512}}})
}

// blockOf says at which block of its disk a page of a file is.
func blockOf(t *testing.T, path string, page int64) int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const fibmap = 1 // linux/fs.h
	block := int32(page)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, file.Fd(), fibmap, uintptr(unsafe.Pointer(&block))); errno != 0 || block == 0 {
		t.Fatalf("page %d of %s: %v", page, path, errno)
	}
	return int64(block)
}
