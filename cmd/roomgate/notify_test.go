package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestNotify plays systemd: ready once, the watchdog fed again and again,
// stopping at the end.
func TestNotify(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	path := filepath.Join(dir, "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	cmd := exec.CommandContext(t.Context(), "roomgate", "demo", "--data", filepath.Join(dir, "data"),
		"--listen", "127.0.0.1:0", "--broker", "127.0.0.1:0", "--cloud-listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=200000", "GORACE=atexit_sleep_ms=0")
	started := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hear := func() string {
		t.Helper()
		if err := systemd.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		var buf [256]byte
		n, err := systemd.Read(buf[:])
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	if got := hear(); got != "READY=1" {
		t.Errorf("first %q, want READY=1", got)
	}
	for range 10 {
		if got := hear(); got != "WATCHDOG=1" {
			t.Errorf("then %q, want WATCHDOG=1", got)
		}
	}
	// Counted from before it was started: however late this reads, ten are never sooner.
	if took := time.Since(started); took < 900*time.Millisecond {
		t.Errorf("the watchdog was fed ten times in %s, want every 100 ms", took)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	got := hear()
	for got == "WATCHDOG=1" {
		got = hear()
	}
	if got != "STOPPING=1" {
		t.Errorf("at the end %q, want STOPPING=1", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
