package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/cloud/backend/backendtest"
)

// terminate ends the session that has the fleet's lock, as a failover does.
func terminate(t *testing.T, s *server, name string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var n int
		err := s.open(name).QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint = $1 % 4294967296
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, fleetLock).Scan(&n)
		if err == nil && n == 1 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d sessions have the lock, %v", n, err)
		}
	}
}

// A backend that has lost its lock hears of it, and another one has the fleet.
func TestLockIsLost(t *testing.T) {
	s := newServer(t)
	s.database()
	first, err := OpenStore(t.Context(), s.open("backend1"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	if err := first.held(t.Context()); err != nil {
		t.Fatal("it is not held:", err)
	}
	terminate(t, s, "backend1")
	if err := first.Hold(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("it ends with %v", err)
	}
	second, err := OpenStore(t.Context(), s.open("backend1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

// The program ends when its lock is lost, and says why.
func TestProgramEndsWithoutItsLock(t *testing.T) {
	s := newServer(t)
	s.database()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "../roomgate-fleet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	g, err := backendtest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), dir+"/roomgate-fleet", "-fleet", dir, "-at", g.URL(), "-fleet-listen", "127.0.0.1:0",
		"-database", fmt.Sprintf("postgres://test@127.0.0.1:%s/backend1?sslmode=disable", s.port))
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	defer late.Stop()
	terminate(t, s, "backend1")
	if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), ErrLost.Error()) {
		t.Errorf("it ends with %v: %s", err, said.String())
	}
}
