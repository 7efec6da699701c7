package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/store/disk"
)

// socketName is the control socket in a data or runtime directory. Anybody who may
// open it needs no key.
const socketName = "control.sock"

// lockName is the file beside it that its process holds a lock on.
const lockName = "control.lock"

// controlSocket is the socket of this process and the lock that says so.
type controlSocket struct {
	net.Listener
	lock *os.File
	made string // the directory that was made for it; empty: it is in one that was there
}

// lockDirectory makes dir this process's own until the file is closed. The lock
// ends with its process however that ends, so that what a dead one left behind
// is known to be stale.
func lockDirectory(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, noDirectory("make", dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if disk.Blamed(err) || disk.Lacking(err) {
		f, err = os.Open(dir) // one process alone holds the directory itself then
	}
	if err != nil {
		return nil, noDirectory("lock", dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fail(exitFailed, "another gateway runs with %s: stop it, or choose another directory with --data", dir)
		}
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	return f, nil
}

// noDirectory says why a data directory cannot be used, and what to do about it.
func noDirectory(verb, dir string, err error) error {
	return withMend(fmt.Errorf("%s the data directory: %w", verb, err), dir)
}

// openSocket listens in dir, which lock makes ours. mode is who may connect:
// 0600 the owner, 0660 also the group.
// A directory on a disk that takes nothing has another one in its place.
func openSocket(dir string, lock *os.File, mode os.FileMode) (*controlSocket, error) {
	s, err := listenIn(dir, lock, mode)
	if !disk.Blamed(err) && !disk.Lacking(err) {
		removeFallback(fallbackDirectory(dir)) // of a start that was killed
		return s, err
	}
	other, err := makeFallback(dir)
	if err != nil {
		return nil, err
	}
	if s, err = listenIn(other, lock, mode); err == nil {
		s.made = other
	}
	return s, err
}

func listenIn(dir string, lock *os.File, mode os.FileMode) (*controlSocket, error) {
	path := filepath.Join(dir, socketName)
	if most := len(unix.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fail(exitConfig, "the path of the control socket %s is longer than %d characters: choose another directory with --data", path, most)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove a stale control socket: %w", err)
	}
	// Nobody may connect before the mode is right.
	old := unix.Umask(0o177)
	l, err := net.Listen("unix", path)
	unix.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("open the control socket: %w", err), l.Close())
	}
	return &controlSocket{Listener: l, lock: lock}, nil
}

// Close removes the socket and gives the lock back. It is idempotent.
func (s *controlSocket) Close() error {
	err := s.Listener.Close() // removes the file too
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if e := s.lock.Close(); e != nil && !errors.Is(e, os.ErrClosed) {
		err = errors.Join(err, e)
	}
	if s.made != "" {
		removeFallback(s.made)
	}
	return err
}

// findSocket finds the gateway of this machine: in dir if one is named, else
// where a gateway or the demo would be.
func findSocket(dir string) (string, error) {
	places := []string{dir}
	switch dir {
	case config.Default().Data: // as a service it has its socket in the other
		places = []string{serviceRuntime, dir}
	case "":
		places = append([]string{serviceRuntime, config.Default().Data}, demoDirectories()...)
	}
	if full, err := filepath.Abs(dir); dir != "" && err == nil { // as the gateway calls it
		places = append(places, fallbackDirectory(full))
	}
	closed := ""
	for _, place := range places {
		path := filepath.Join(place, socketName)
		conn, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			return path, conn.Close()
		}
		if errors.Is(err, syscall.EACCES) {
			closed = path
		}
	}
	switch {
	case closed != "":
		return "", mayNot(exitUnreachable, closed, "opened")
	case dir != "":
		return "", fail(exitUnreachable, "no gateway answers in %s: start one with --data %s", dir, dir)
	}
	return "", fail(exitUnreachable, "no gateway runs on this machine: start one with roomgate demo or roomgate run, "+
		"name its directory with --data, or name another machine's with --url and --key")
}

// serviceRuntime is what the unit file names as the runtime directory.
const serviceRuntime = "/run/roomgate"

// demoDirectories are where this user's demo keeps its data unless told
// otherwise; the first is where a new one goes. A terminal may lack the
// variable that the other has, so both are looked in.
func demoDirectories() []string {
	user := strconv.Itoa(os.Getuid())
	temporary := filepath.Join(os.TempDir(), "roomgate-demo-"+user)
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(runtime); err == nil && info.IsDir() {
		return []string{filepath.Join(runtime, "roomgate-demo"), temporary}
	}
	return []string{temporary, filepath.Join("/run/user", user, "roomgate-demo")}
}

// answerDoor answers at the control socket.
func answerDoor(w http.ResponseWriter, answer any, err error) {
	if err != nil {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		refusal := map[string]any{"detail": err.Error()}
		if p := (*problem.Error)(nil); errors.As(err, &p) && p.Busy != nil {
			refusal["conflict"] = booking.Interval(*p.Busy)
		}
		answer = refusal
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	_ = json.NewEncoder(w).Encode(answer)
}
