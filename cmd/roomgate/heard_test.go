package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// deadMount is a folder in which nothing that is asked for is ever answered: a file system
// in user space, see fuse(4), whose server takes the questions.
type deadMount struct {
	dir    string
	server int
}

func newDeadMount(t *testing.T) deadMount {
	t.Helper()
	dir := t.TempDir()
	server, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = syscall.Mount("roomgate-test", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", server))
	}
	if err != nil {
		t.Skipf("a mount that does not answer cannot be made here: %v", err)
	}
	t.Cleanup(func() { // the folder is removed after that
		_ = unix.Close(server) // who waits is told that nobody answers
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	d := deadMount{dir, server}
	first := make([]byte, 64<<10)
	if n, err := unix.Read(server, first); err != nil || n < 16 { // FUSE_INIT, without an answer to which no question is asked
		t.Fatalf("%d bytes, %v", n, err)
	}
	answer := make([]byte, 16+64)
	binary.NativeEndian.PutUint32(answer, uint32(len(answer)))
	copy(answer[8:16], first[8:16])
	binary.NativeEndian.PutUint32(answer[16:], 7) // the version: 7.31
	binary.NativeEndian.PutUint32(answer[20:], 31)
	binary.NativeEndian.PutUint32(answer[36:], 4096) // max_write
	if _, err := unix.Write(server, answer); err != nil {
		t.Fatal(err)
	}
	return d
}

// asked waits until somebody asks, and leaves the question where it is: a server that takes
// it and dies lets nobody be killed who waits for the answer.
func (d deadMount) asked(t *testing.T) {
	t.Helper()
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(d.server), Events: unix.POLLIN}}, 60_000); n != 1 || err != nil {
		t.Fatalf("nobody asks: %d, %v", n, err)
	}
}

// What reads from a mount whose server has gone ends when it is told to.
func TestDeadMountLetsAGatewayEnd(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte("gateway: {id: berlin-3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"run --config DEAD/gateway.yaml", "run --config FILE --data DEAD/data", "demo --config DEAD/gateway.yaml",
		"check-config DEAD/gateway.yaml", "seed --boot DEAD --config FILE", "doctor --config DEAD/gateway.yaml"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dead := newDeadMount(t)
			args := strings.Fields(strings.NewReplacer("DEAD", dead.dir, "FILE", file).Replace(line))
			var said strings.Builder
			cmd := exec.Command("roomgate", args...)
			cmd.Stdout, cmd.Stderr, cmd.Env = &said, &said, append(os.Environ(), "TMPDIR="+t.TempDir())
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			dead.asked(t)
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				_ = cmd.Process.Kill()
				t.Fatal("it did not end")
			}
			if !strings.Contains(said.String(), "it was stopped while a file or its input did not answer") {
				t.Errorf("it said %q", &said)
			}
		})
	}
}
