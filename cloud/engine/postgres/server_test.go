package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
)

// server is Debian's PostgreSQL with a folder of its own.
type server struct {
	t         *testing.T
	bin, data string
	port      string
	as        *syscall.Credential // nil: who runs the test
	cmd       *exec.Cmd
	databases int
}

// newServer starts one.
func newServer(t *testing.T) *server {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed (Debian: apt-get install postgresql), so the ledger was not tried in it")
	}
	dir, err := os.MkdirTemp("", "ledger") // that of t.TempDir is in one that only root may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	s := &server{t: t, bin: filepath.Dir(found[len(found)-1]), data: filepath.Join(dir, "data"), port: port}
	if os.Getuid() == 0 { // it does not run as root
		s.as = credential(t, "postgres")
		if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(s.data, 0o700), os.Chown(s.data, int(s.as.Uid), int(s.as.Gid))); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.command("initdb", "-D", s.data, "-U", "test", "--auth=trust", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.start()
	t.Cleanup(func() { s.end(syscall.SIGQUIT) })
	return s
}

func credential(t *testing.T, name string) *syscall.Credential {
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// start starts it, and returns when it answers.
func (s *server) start() {
	s.t.Helper()
	s.cmd = s.command("postgres", "-D", s.data, "-p", s.port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=60")
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	db := s.open("postgres")
	for end := time.Now().Add(30 * time.Second); db.Ping() != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("PostgreSQL does not answer")
		}
	}
}

// end ends it: SIGQUIT without a checkpoint, as a crash would.
func (s *server) end(by syscall.Signal) {
	_ = s.cmd.Process.Signal(by)
	_ = s.cmd.Wait()
}

// open is a database of the server.
func (s *server) open(name string) *sql.DB {
	s.t.Helper()
	db, err := sql.Open("pgx", fmt.Sprintf("postgres://test@127.0.0.1:%s/%s?sslmode=disable", s.port, name))
	if err != nil {
		s.t.Fatal(err)
	}
	db.SetMaxOpenConns(6)
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

// database makes one with a table for rows, which stores all that it is given.
func (s *server) database() *sql.DB {
	s.t.Helper()
	s.databases++
	name := fmt.Sprint("backend", s.databases)
	if _, err := s.open("postgres").Exec("CREATE DATABASE " + name); err != nil {
		s.t.Fatal(err)
	}
	db := s.open(name)
	if _, err := db.ExecContext(context.Background(), "CREATE TABLE rows (id text)"); err != nil {
		s.t.Fatal(err)
	}
	return db
}
