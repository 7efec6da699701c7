package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
	"roomgate/cloud/backend/fleet"
)

// A table is one of a file: the same keys in the same order, and what is taken back was never there.
func TestTables(t *testing.T) {
	s := newServer(t)
	db := s.database()
	store, err := OpenStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	file, err := backend.OpenFile(filepath.Join(t.TempDir(), "file.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := OpenStore(t.Context(), db); !errors.Is(err, ErrTaken) {
		t.Errorf("the fleet is opened twice: %v", err)
	}
	play := func(s backend.Store) (seen string) {
		no := errors.New("no")
		err := errors.Join(
			s.Write(t.Context(), func(tx backend.Tables) error {
				a := tx.Table("a")
				for i := range 50 {
					if err := a.Put([]byte{byte(i * 37), 0, 255}, []byte(fmt.Sprint(i))); err != nil {
						return err
					}
				}
				n, err := a.NextSequence()
				seen += fmt.Sprint(n, a.Get([]byte("none")) == nil)
				return errors.Join(err, a.Put([]byte("empty"), nil), a.Delete([]byte{37, 0, 255}), tx.Table("b").Put([]byte("x"), []byte("y")))
			}),
			s.Update(t.Context(), func(tx backend.Tx) error {
				b := tx.(backend.Tables).Table("b")
				n, err := tx.(backend.Tables).Table("a").NextSequence()
				seen += fmt.Sprint(n, b.Get([]byte("x")))
				return errors.Join(err, b.Put([]byte("x"), []byte("z")))
			}),
			s.Read(t.Context(), func(tx backend.Tables) error {
				a := tx.Table("a")
				for k, v := range a.From([]byte{100}) {
					seen += fmt.Sprint(k, string(v))
				}
				for k := range a.Down() {
					seen += fmt.Sprint(k)
				}
				for range tx.Table("none").From(nil) {
					seen += "?"
				}
				seen += fmt.Sprint(a.Get([]byte("empty")) != nil, string(tx.Table("b").Get([]byte("x"))))
				return nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(t.Context(), func(tx backend.Tables) error { return errors.Join(tx.Table("a").Delete([]byte("empty")), no) }); !errors.Is(err, no) {
			t.Error(err)
		}
		if err := s.Read(t.Context(), func(tx backend.Tables) error { return tx.Table("a").Put([]byte("x"), nil) }); err == nil {
			t.Error("what only reads has written")
		}
		_ = s.Read(t.Context(), func(tx backend.Tables) error {
			seen += fmt.Sprint(tx.Table("a").Get([]byte("empty")) != nil)
			return nil
		})
		return seen
	}
	if got, want := play(store), play(file); got != want {
		t.Errorf("in the database\n%s\nin a file\n%s", got, want)
	}
}

// program is roomgate-fleet at a database.
type program struct {
	t    *testing.T
	dir  string
	args []string
	cmd  *exec.Cmd
}

func (p *program) start() {
	p.t.Helper()
	p.cmd = exec.Command(filepath.Join(p.dir, "roomgate-fleet"), p.args...)
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
}

// lost waits until it has ended by itself.
func (p *program) lost() {
	p.t.Helper()
	late := time.AfterFunc(time.Minute, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	var by *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &by) || by.ExitCode() != 1 {
		p.t.Errorf("it ends with %v: want 1", err)
	}
}

func (p *program) end(by syscall.Signal) {
	_ = p.cmd.Process.Signal(by)
	_ = p.cmd.Wait()
}

// ask waits until a path answers with words.
func (p *program) ask(method, path, body, want string) (got string) {
	p.t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		door, err := fleet.ReadDoor(p.dir)
		if err != nil {
			continue
		}
		r, _ := http.NewRequest(method, door.URL+path, strings.NewReader(body))
		r.Header.Set("X-API-Key", door.Key)
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			continue
		}
		raw, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if got = string(raw); strings.Contains(got, want) {
			return got
		}
	}
	p.t.Fatalf("%s answers %s: want %s", path, got, want)
	return ""
}

// The reference backend in PostgreSQL: it and the database are killed while a gateway tells, each
// row is there once afterwards, and the rollout and the schedule that it was given go on.
func TestServeOnPostgreSQL(t *testing.T) {
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
	g.Beats(backendtest.Beat{Version: "1.2.3", Revision: 7})
	g.Answers(func(string, json.RawMessage) string { return backend.Done })
	p := &program{t: t, dir: dir, args: []string{"-fleet", dir, "-at", g.URL(), "-fleet-listen", "127.0.0.1:0",
		"-database", fmt.Sprintf("postgres://test@127.0.0.1:%s/backend1?sslmode=disable", s.port)}}
	p.start()
	defer func() { p.end(syscall.SIGTERM) }()
	p.ask("GET", "/gateways", "", `"version":"1.2.3"`)
	p.ask("POST", "/rollouts", `{"name":"users","gateways":["played"],"plan":{"per_minute":60,"timeout_s":600},"config":{"users":[]}}`, `"state":"running"`)
	const rows = 200
	for i := range rows {
		g.Add(1)
		switch i {
		case rows / 3:
			p.end(syscall.SIGKILL)
			p.start()
		case rows / 2:
			s.end(syscall.SIGQUIT)
			s.start()
			p.lost() // its lock has gone with the database
			p.start()
		}
		time.Sleep(5 * time.Millisecond)
	}
	for end := time.Now().Add(90 * time.Second); !g.Forgotten(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not all rows are acknowledged")
		}
	}
	p.ask("GET", "/rollouts", "", `"state":"done"`)
	p.end(syscall.SIGTERM)
	p.start()
	p.ask("GET", "/rollouts", "", `"state":"done"`)
	p.ask("GET", "/gateways", "", `"config_revision":7`)
	var got struct{ Rows []fleet.Row }
	if err := json.Unmarshal([]byte(p.ask("GET", "/rows", "", `"rows"`)), &got); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range got.Rows {
		seen[r.ID]++
	}
	for _, id := range g.IDs() {
		if seen[id] != 1 {
			t.Errorf("row %s is there %d times", id, seen[id])
		}
	}
	if _, err := OpenStore(context.Background(), s.open("backend1")); !errors.Is(err, ErrTaken) {
		t.Errorf("another backend has the fleet too: %v", err)
	}
}
