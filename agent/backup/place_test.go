package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errCut = errors.New("the power is cut")

// house is a data folder and a configuration beside it.
type house struct {
	t            *testing.T
	data, config string
}

func newHouse(t *testing.T) house {
	dir := t.TempDir()
	h := house{t, filepath.Join(dir, "data"), filepath.Join(dir, "etc", "gateway.yaml")}
	h.write(h.config, "old")
	for _, name := range []string{DatabaseName, DatabaseName + ".snapshot-000001", SecretName, NoteName, "tls/authority.pem"} {
		h.write(filepath.Join(h.data, name), "old")
	}
	return h
}

func (h house) write(path, text string) {
	h.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

// state is what a gateway would find.
func (h house) state() string {
	text, _ := os.ReadFile(h.config)
	said := []string{string(text)}
	files, _ := Belongings(h.data)
	for _, path := range files {
		text, _ := os.ReadFile(path)
		said = append(said, filepath.Base(path)+"="+string(text))
	}
	text, _ = os.ReadFile(filepath.Join(h.data, "tls/authority.pem"))
	said = append(said, "tls="+string(text))
	return strings.Join(said, " ")
}

const (
	oldState = "old roomgate.db=old roomgate.db.snapshot-000001=old device.secret=old last-backup.json=old tls=old"
	newState = "new roomgate.db=new device.secret=new tls=new"
)

// prepare makes a plan whose step number cut fails; 0: none.
func (h house) prepare(config string, cut int) *Plan {
	h.t.Helper()
	p, dir, err := Prepare(h.data)
	if err != nil {
		h.t.Fatal(err)
	}
	h.write(filepath.Join(dir, DatabaseName), "new")
	h.write(filepath.Join(dir, SecretName), "new")
	h.write(filepath.Join(dir, "tls/authority.pem"), "new")
	p.Configuration(h.config, []byte(config))
	p.step = cutAt(cut)
	return p
}

func cutAt(cut int) func(string) error {
	return func(string) error {
		if cut--; cut == 0 {
			return errCut
		}
		return nil
	}
}

// before is what can be brought back.
func (h house) before(name string) string {
	text, _ := os.ReadFile(filepath.Join(h.data, BeforeName, name))
	return string(text)
}

// Cut at any step, and again at any step of what mends it, the folder and the
// configuration are all of the old or all of the new.
func TestRestoreCutAnywhere(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{"new", newState},
		{"old", strings.Replace(newState, "new ", "old ", 1)}, // the configuration stays
	} {
		sawOld, sawNew := 0, 0
		for cut := 1; ; cut++ {
			h := newHouse(t)
			err := h.prepare(c.config, cut).Commit()
			if err == nil {
				if cut < 10 {
					t.Fatalf("only %d steps", cut)
				}
				break
			}
			if !errors.Is(err, errCut) {
				t.Fatal(err)
			}
			for again := 1; ; again++ {
				_, err := recoverPlan(&Plan{Data: h.data, step: cutAt(again)})
				if err == nil {
					break
				}
				if !errors.Is(err, errCut) || again > 20 {
					t.Fatalf("cut at step %d, mended %d times: %v", cut, again, err)
				}
			}
			switch got := h.state(); got {
			case oldState:
				sawOld++
			case c.want:
				sawNew++
				if h.before(DatabaseName) != "old" || h.before(ConfigName) != "old" || h.before(SecretName) != "old" || h.before(DatabaseName+".snapshot-000001") != "old" {
					t.Errorf("cut at step %d: not everything of the old was kept", cut)
				}
			default:
				t.Errorf("cut at step %d: %s", cut, got)
			}
			if _, err := os.Stat(filepath.Join(h.data, restoreDir)); err == nil {
				t.Errorf("cut at step %d: something is left behind", cut)
			}
		}
		if sawOld == 0 || sawNew == 0 {
			t.Errorf("the old %d times, the new %d times", sawOld, sawNew)
		}
	}
}

// A second restore replaces what the first one kept, and what is abandoned
// changes nothing.
func TestRestoreTwice(t *testing.T) {
	h := newHouse(t)
	if err := h.prepare("new", 0).Abandon(); err != nil || h.state() != oldState {
		t.Fatalf("abandoned: %s, %v", h.state(), err)
	}
	for i := range 2 {
		if err := h.prepare("new", 0).Commit(); err != nil || h.state() != newState {
			t.Fatalf("restore %d: %s, %v", i, h.state(), err)
		}
	}
	if h.before(DatabaseName) != "new" || h.before(ConfigName) != "new" {
		t.Error("what was before the second restore is not what is kept")
	}
	if done, err := Recover(h.data); done || err != nil {
		t.Errorf("recovered %v, %v", done, err)
	}
}

// On a machine that has nothing yet.
func TestRestoreOntoNothing(t *testing.T) {
	dir := t.TempDir()
	h := house{t, filepath.Join(dir, "data"), filepath.Join(dir, "etc", "gateway.yaml")}
	if err := h.prepare("new", 0).Commit(); err != nil || h.state() != newState {
		t.Fatalf("%s, %v", h.state(), err)
	}
	if info, err := os.Stat(h.config); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// A configuration that cannot be written leaves the old.
func TestRestoreRefusedByTheFolder(t *testing.T) {
	h := newHouse(t)
	p := h.prepare("new", 0)
	p.Config = filepath.Join(h.config, "below", "a.file")
	if err := p.Commit(); err == nil {
		t.Fatal("no error")
	}
	if done, err := Recover(h.data); done || err != nil || h.state() != oldState {
		t.Errorf("%v, %v, %s", done, err, h.state())
	}
}

func ExampleManifest_Has() {
	m := Manifest{Files: []File{{Name: DatabaseName}}}
	fmt.Println(m.Has(DatabaseName), m.Has("letters"))
	// Output: true false
}
