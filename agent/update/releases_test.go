package update

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"roomgate/agent/goldentest"
)

func TestUpdateIsConfirmed(t *testing.T) {
	r := newReleases(t)
	r.wantStart(t, "1.0.0", "1.0.0")
	must(t, r.take(t, "1.1.0"))
	r.wantStart(t, "1.0.0") // it waits for its moment
	must(t, r.Begin(true))
	r.wantStart(t, "1.1.0", "1.1.0")
	on := r.as("v1.1.0").OnTrial()
	if on == nil {
		t.Fatalf("on trial: %+v", on)
	}
	goldentest.Values(t, "on trial", goldentest.Pairs{"Tries": {on.Tries, 2}, "Online": {on.Online, true},
		"From": {on.From, "1.0.0"}, "OnTrial": {r.OnTrial(), nil}})
	must(t, r.as("1.1.0").Confirm())
	r.wantStart(t, "1.1.0", "1.1.0", "1.1.0", "1.1.0", "1.1.0")

	must(t, r.as("1.1.0").take(t, "1.2.0"))
	must(t, r.as("1.1.0").Begin(false))
	r.wantStart(t, "1.2.0")
	must(t, r.as("1.2.0").Confirm())
	must(t, r.as("1.2.0").take(t, "1.3.0"))
	if got := r.folders(t); got != "1.2.0 1.3.0" {
		t.Errorf("on the disk: %s", got)
	}
	s := r.State()
	if s.Newest != "1.2.0" || len(s.News) != 7 || s.News[5] != (News{Event: Done, Version: "1.2.0", From: "1.1.0"}) {
		t.Errorf("%+v", s)
	}
	must(t, r.Told(7))
	if len(r.State().News) != 0 {
		t.Error("told twice")
	}
}

func TestUpdateReturnsByItself(t *testing.T) {
	for _, c := range []struct {
		name   string
		happen func(t *testing.T, r *Releases)
		reason string
	}{
		{"it never proves itself", func(t *testing.T, r *Releases) { r.wantStart(t, "1.2.0", "1.2.0", "1.2.0") }, "started 3 times"},
		{"it gives up", func(t *testing.T, r *Releases) {
			r.wantStart(t, "1.2.0")
			must(t, r.as("1.2.0").Fail("the cloud was not reached"))
		}, "the cloud was not reached"},
		{"its file is damaged", func(t *testing.T, r *Releases) { damage(t, r, "1.2.0") }, "checksum differs"},
		{"its file is cut", func(t *testing.T, r *Releases) { must(t, os.Truncate(filepath.Join(r.Dir, "1.2.0", binaryName), 9)) }, "has 9 bytes"},
		{"its file is gone", func(t *testing.T, r *Releases) { must(t, os.Remove(filepath.Join(r.Dir, "1.2.0", binaryName))) }, "no such file"},
		{"its folder is gone", func(t *testing.T, r *Releases) { must(t, os.RemoveAll(filepath.Join(r.Dir, "1.2.0"))) }, "no signature is kept"},
		{"the system does not start it", func(t *testing.T, r *Releases) {
			must(t, r.Unstartable(r.State().Trial.Version, unix.ENOEXEC))
		}, "exec format error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := confirmed(t, "1.1.0")
			must(t, r.take(t, "1.2.0"))
			must(t, r.Begin(true))
			c.happen(t, r)
			r.wantStart(t, "1.1.0", "1.1.0", "1.1.0", "1.1.0")
			s := r.State()
			if s.Failed == nil || s.Failed.Version != "1.2.0" || !strings.Contains(s.Failed.Reason, c.reason) || s.Newest != "1.1.0" {
				t.Errorf("%+v, %+v", s, s.Failed)
			}
			if n := s.News[len(s.News)-1]; n.Event != Failed || n.From != "1.1.0" {
				t.Errorf("news %+v", n)
			}
			if err := r.take(t, "1.2.0"); err == nil || !strings.Contains(err.Error(), "given up") {
				t.Errorf("taken again by itself: %v", err)
			}
			_, err := r.Install(t.Context(), bytes.NewReader(bundle(t, "1.2.0")), Install{Again: true})
			must(t, err)
			must(t, r.Begin(true))
			r.wantStart(t, "1.2.0")
		})
	}
}

// confirmed are releases of which one runs.
func confirmed(t *testing.T, version string) *Releases {
	t.Helper()
	r := newReleases(t)
	must(t, r.take(t, version))
	must(t, r.Begin(false))
	r.wantStart(t, version)
	r = r.as(version)
	must(t, r.Confirm())
	return r
}

// damage flips one bit in the middle of a release.
func damage(t *testing.T, r *Releases, version string) {
	t.Helper()
	path := filepath.Join(r.Dir, version, binaryName)
	data, err := os.ReadFile(path)
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(path, data, 0o700))
}

func TestUpdateIsRefused(t *testing.T) {
	other := func(change func(*Manifest)) []byte {
		m := manifestOf("1.3.0")
		change(&m)
		return bundleOf(t, m)
	}
	for _, c := range []struct {
		name, want string
		schema     int // in use
		bundle     []byte
	}{
		{"wrong architecture", "the bundle is for linux/sparc", 1, other(func(m *Manifest) { m.Arch = "sparc" })},
		{"wrong system", "the bundle is for plan9/", 1, other(func(m *Manifest) { m.OS = "plan9" })},
		{"the same", "not newer than 1.2.0", 1, bundle(t, "1.2.0")},
		{"an old one", "not newer than 1.2.0", 1, bundle(t, "1.1.0")},
		{"what leads to the same", "not newer than 1.2.0", 1, bundle(t, "1.2.0-rc.1")},
		{"a schema below", "schema 2 is in use", 2, other(func(m *Manifest) { m.Schema = 1 })},
		{"damaged", "damaged|not the one that was signed", 1, func() []byte { b := other(func(*Manifest) {}); b[len(b)/2] ^= 1; return b }()},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := confirmed(t, "1.2.0")
			r.Schema = c.schema
			before, err := os.ReadFile(filepath.Join(r.Dir, stateFile))
			must(t, err)
			_, err = r.Install(t.Context(), bytes.NewReader(c.bundle), Install{})
			if !errors.As(err, new(*Refused)) || !containsAny(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			after, err := os.ReadFile(filepath.Join(r.Dir, stateFile))
			must(t, err)
			if !bytes.Equal(before, after) || r.folders(t) != "1.2.0" {
				t.Errorf("%s was changed, on the disk %s", after, r.folders(t))
			}
			r.wantStart(t, "1.2.0")
		})
	}
}

// An old bundle is no way back, not even when the package that runs is older still.
func TestOldBundleIsNotReplayed(t *testing.T) {
	r := confirmed(t, "1.4.0")
	damage(t, r, "1.4.0")
	r.wantStart(t, "1.0.0")
	if err := r.as("1.0.0").take(t, "1.3.0"); err == nil || !strings.Contains(err.Error(), "older than 1.4.0, which has run here") {
		t.Errorf("got %v", err)
	}
	must(t, r.as("1.0.0").take(t, "1.4.0")) // the same one mends it
	must(t, r.as("1.0.0").Begin(false))
	r.wantStart(t, "1.4.0")
}

func TestOneTrialAtATime(t *testing.T) {
	r := newReleases(t)
	must(t, r.take(t, "1.1.0"))
	must(t, r.take(t, "1.1.0")) // again: it waits already
	must(t, r.take(t, "1.2.0")) // a newer one takes its place
	if got := r.folders(t); got != "1.2.0" {
		t.Errorf("on the disk: %s", got)
	}
	must(t, r.Begin(false))
	r.wantStart(t, "1.2.0")
	if err := r.as("1.2.0").take(t, "1.3.0"); err == nil || !strings.Contains(err.Error(), "1.2.0 is on trial") {
		t.Errorf("got %v", err)
	}
}

func TestPackageThatIsNewerWins(t *testing.T) {
	r := confirmed(t, "1.1.0")
	must(t, r.take(t, "1.2.0"))
	must(t, r.Begin(false))
	if one, err := r.as("1.2.0").Choose(); one != nil || err == nil {
		t.Errorf("got %v, %v", one, err)
	}
	if s := r.State(); s.Failed == nil || !strings.Contains(s.Failed.Reason, "package") {
		t.Errorf("%+v", s)
	}
	r.wantStart(t, "1.1.0") // the old package is back
}

func TestDamagedReleaseIsReplacedByTheOneBefore(t *testing.T) {
	r := confirmed(t, "1.1.0")
	must(t, r.take(t, "1.2.0"))
	must(t, r.Begin(false))
	r.wantStart(t, "1.2.0")
	must(t, r.as("1.2.0").Confirm())
	damage(t, r, "1.2.0")
	r.wantStart(t, "1.1.0", "1.1.0")
	if n := r.State().News; len(n) != 7 || n[6].Event != Damaged {
		t.Errorf("news %+v", n)
	}
	must(t, r.as("1.1.0").take(t, "1.3.0")) // must not remove what runs
	r.wantStart(t, "1.1.0")
}

// What decides is lost: the last confirmation counts.
func TestDamagedState(t *testing.T) {
	r := confirmed(t, "1.1.0")
	for _, text := range []string{"", "{", `{"current":{"version":"../../bin"}}`, strings.Repeat("\x00", 99)} {
		must(t, os.WriteFile(filepath.Join(r.Dir, stateFile), []byte(text), 0o600))
		r.wantStart(t, "1.1.0", "1.1.0")
	}
	must(t, r.take(t, "1.2.0"))
	must(t, r.Begin(false))
	r.wantStart(t, "1.2.0")
	must(t, os.WriteFile(filepath.Join(r.Dir, goodFile), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(r.Dir, stateFile), nil, 0o600))
	r.wantStart(t, "1.0.0")
}

func TestProbeRefuses(t *testing.T) {
	r := newReleases(t)
	probe := func(_ context.Context, p *Program, m Manifest) error {
		if data, err := io.ReadAll(io.NewSectionReader(p.file, 0, MaxBinary)); err != nil || !bytes.Equal(data, binaryOf(m.Version)) {
			t.Errorf("probed something else: %v", err)
		}
		return refuse(Unfit, "it does not start")
	}
	_, err := r.Install(t.Context(), bytes.NewReader(bundle(t, "1.1.0")), Install{Probe: probe})
	if err == nil || err.Error() != "it does not start" || r.folders(t) != "" {
		t.Errorf("got %v, on the disk %q", err, r.folders(t))
	}
}

// fullDisk takes so many more bytes and steps.
type fullDisk struct {
	realDisk
	left int
}

type fullFile struct {
	file
	disk *fullDisk
}

func (d *fullDisk) Create(path string, mode os.FileMode) (file, error) {
	f, err := d.realDisk.Create(path, mode)
	return fullFile{f, d}, err
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.disk.left -= len(p); f.disk.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "file", Err: unix.ENOSPC}
	}
	return f.file.Write(p)
}

func TestFullDisk(t *testing.T) {
	for _, left := range []int{0, 40_000, 70_000, 70_500} { // in the state, in the binary, in the state after it
		r := confirmed(t, "1.1.0")
		must(t, r.take(t, "1.2.0")) // waits, so that room is made first
		before := r.State()
		r.disk = &fullDisk{left: left}
		err := r.take(t, "1.3.0")
		if !errors.As(err, new(*Refused)) || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%d bytes: got %v", left, err)
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "1.3.0.part")); err == nil {
			t.Errorf("%d bytes: a part is left", left)
		}
		if left == 0 && r.State().Next == nil || *r.State().Current != *before.Current {
			t.Errorf("%d bytes: %+v", left, r.State())
		}
		r.wantStart(t, "1.1.0", "1.1.0", "1.1.0", "1.1.0")
	}
}

// A start that cannot be counted would have no end: the release that is confirmed
// runs until the disk takes something.
func TestTrialWaitsForTheDisk(t *testing.T) {
	r := confirmed(t, "1.1.0")
	must(t, r.take(t, "1.2.0"))
	must(t, r.Begin(false))
	r.disk = &fullDisk{}
	r.wantStart(t, "1.1.0", "1.1.0", "1.1.0", "1.1.0", "1.1.0")
	r.disk = realDisk{}
	r.wantStart(t, "1.2.0", "1.2.0", "1.2.0", "1.1.0")
	r.disk = &fullDisk{}
	r.wantStart(t, "1.1.0")
}

func TestPrune(t *testing.T) {
	r := confirmed(t, "1.1.0")
	for _, left := range []string{"1.0.9", "1.2.0.part"} {
		must(t, os.MkdirAll(filepath.Join(r.Dir, left), 0o700))
		must(t, os.WriteFile(filepath.Join(r.Dir, left, binaryName), nil, 0o600))
	}
	must(t, r.Prune())
	if got := r.folders(t); got != "1.1.0" {
		t.Errorf("on the disk: %s", got)
	}
	must(t, newReleases(t).Prune())
}

// A release that has migrated the database and failed leaves it to one that could
// not read it.
func TestDatabaseStepsBack(t *testing.T) {
	newer := manifestOf("1.2.0")
	newer.Schema = 3
	fail := func(schema int) *Releases {
		r := confirmed(t, "1.1.0")
		r.Schema = schema
		_, err := r.Install(t.Context(), bytes.NewReader(bundleOf(t, newer)), Install{})
		must(t, err)
		must(t, r.Begin(false))
		r.wantStart(t, "1.2.0", "1.2.0", "1.2.0", "1.1.0")
		return r
	}
	for _, c := range []struct {
		name                string
		before, knows, want int
	}{{"the release before", 2, 2, 2}, {"a package as old", 2, 1, 2}, {"a package as new", 2, 3, 0}, {"nothing was migrated", 3, 3, 0}} {
		r, asked := fail(c.before), 0
		full := errors.New("full")
		step := func(schema int) (string, error) { asked = schema; return "", full }
		if err := r.StepBack(c.knows, step); (err != nil) != (c.want > 0) || asked != c.want {
			t.Errorf("%s: asked for %d, %v", c.name, asked, err)
		}
		if c.want == 0 {
			continue
		}
		full = nil
		asked = 0
		must(t, r.StepBack(c.knows, func(schema int) (string, error) { asked = schema; return "db.ahead-000001", nil })) // tried again
		must(t, r.StepBack(c.knows, func(int) (string, error) { t.Error(c.name, "twice"); return "", nil }))
		if n := r.State().News; asked != c.want || n[len(n)-1].Event != Back || !strings.Contains(n[len(n)-1].Reason, "ahead-000001") {
			t.Errorf("%s: asked for %d, news %+v", c.name, asked, n)
		}
	}
}
