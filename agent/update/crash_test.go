package update

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// node is a file or a folder on a disk whose power can be cut. What it holds and
// what of that would be there after a cut are two things.
type node struct {
	children, kept map[string]*node // of a folder: now, and since it was synced
	data           []byte           // of a file
	synced         int              // bytes of data
}

func folder() *node { return &node{children: map[string]*node{}, kept: map[string]*node{}} }

// at finds the folder of a path below the root, and the name in it.
func (n *node) at(path string) (*node, string) {
	dir, name := filepath.Split(path)
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if part != "" {
			n = n.children[part]
		}
	}
	return n, name
}

// recorder does each step on the real disk, and writes down what it means to one
// whose power can be cut.
type recorder struct {
	realDisk
	root  string
	steps []step
}

type step struct {
	name string
	do   func(root *node)
}

func (d *recorder) note(name, path string, do func(dir *node, name string)) {
	below, err := filepath.Rel(d.root, path)
	if err != nil {
		panic(err)
	}
	d.steps = append(d.steps, step{name + " " + below, func(root *node) { do(root.at(below)) }})
}

func (d *recorder) Mkdir(path string) error {
	d.note("mkdir", path, func(dir *node, name string) {
		if dir.children[name] == nil {
			dir.children[name] = folder()
		}
	})
	return d.realDisk.Mkdir(path)
}

func (d *recorder) Create(path string, mode os.FileMode) (file, error) {
	d.note("create", path, func(dir *node, name string) { dir.children[name] = &node{} })
	f, err := d.realDisk.Create(path, mode)
	return recordedFile{f, d, path}, err
}

func (d *recorder) Rename(from, to string) error {
	target := filepath.Base(to)
	d.note("rename", from, func(dir *node, name string) {
		dir.children[target] = dir.children[name]
		delete(dir.children, name)
	})
	return d.realDisk.Rename(from, to)
}

func (d *recorder) RemoveAll(path string) error {
	d.note("remove", path, func(dir *node, name string) { delete(dir.children, name) })
	return d.realDisk.RemoveAll(path)
}

func (d *recorder) SyncDir(path string) error {
	d.note("sync folder", filepath.Join(path, "x"), func(dir *node, _ string) { dir.kept = maps.Clone(dir.children) })
	return d.realDisk.SyncDir(path)
}

type recordedFile struct {
	file
	disk *recorder
	path string
}

func (f recordedFile) Write(p []byte) (int, error) {
	data := bytes.Clone(p)
	f.disk.note(fmt.Sprintf("write %d bytes", len(p)), f.path, func(dir *node, name string) {
		n := dir.children[name]
		n.data = append(n.data, data...)
	})
	return f.file.Write(p)
}

func (f recordedFile) Sync() error {
	f.disk.note("sync", f.path, func(dir *node, name string) { dir.children[name].synced = len(dir.children[name].data) })
	return f.file.Sync()
}

// The ways in which a cut leaves what was not synced.
var cuts = []struct {
	name   string
	folder func(*node) map[string]*node
	file   func(*node) []byte
}{
	{"all of it arrived", func(n *node) map[string]*node { return n.children }, func(n *node) []byte { return n.data }},
	{"none of it arrived", func(n *node) map[string]*node { return n.kept }, func(n *node) []byte { return n.data[:n.synced] }},
	{"names arrived, contents in part", func(n *node) map[string]*node { return n.children }, func(n *node) []byte {
		torn := bytes.Clone(n.data)
		clear(torn[(n.synced+len(torn)+1)/2:])
		return torn
	}},
	{"contents arrived, names did not", func(n *node) map[string]*node { return n.kept }, func(n *node) []byte { return n.data }},
}

// lay writes what a cut leaves to a real folder.
func lay(t *testing.T, n *node, path string, way int) {
	t.Helper()
	if n.children == nil {
		must(t, os.WriteFile(path, cuts[way].file(n), 0o700))
		return
	}
	must(t, os.MkdirAll(path, 0o700))
	for name, child := range cuts[way].folder(n) {
		lay(t, child, filepath.Join(path, name), way)
	}
}

// after is the disk after some steps.
func after(steps []step) *node {
	root := folder()
	for _, s := range steps {
		s.do(root)
	}
	return root
}

// left is what a cut leaves, in one value: disks with the same are the same.
func left(n *node, way int) [sha256.Size]byte {
	if n.children == nil {
		return sha256.Sum256(append([]byte("file "), cuts[way].file(n)...))
	}
	all, children := []byte("folder "), cuts[way].folder(n)
	for _, name := range slices.Sorted(maps.Keys(children)) {
		all = fmt.Appendf(all, "%q %x ", name, left(children[name], way))
	}
	return sha256.Sum256(all)
}

// cut is a gateway on what a cut leaves.
func cut(t *testing.T, root *node, way int) *Releases {
	t.Helper()
	data := t.TempDir()
	lay(t, root, data, way)
	r := New(data, "1.0.0", 1, bothKeys())
	r.disk = hastyDisk{}
	return r
}

// life is what happens to a gateway, and what it is expected to run after each.
var life = []struct {
	name      string
	do        func(t *testing.T, r *Releases) error
	confirmed string // what runs in the end, if nothing proves itself any more
}{
	{"install 1.1.0", func(t *testing.T, r *Releases) error { return r.as("1.0.0").take(t, "1.1.0") }, "1.0.0"},
	{"begin", func(_ *testing.T, r *Releases) error { return r.as("1.0.0").Begin(true) }, "1.0.0"},
	{"start", starts("1.1.0"), "1.0.0"},
	{"confirm", func(_ *testing.T, r *Releases) error { return r.as("1.1.0").Confirm() }, "1.1.0"},
	{"told", func(_ *testing.T, r *Releases) error { return r.as("1.1.0").Told(1) }, "1.1.0"},
	{"sign 1.1.0 again", func(t *testing.T, r *Releases) error { return r.as("1.1.0").resign(t) }, "1.1.0"},
	{"install 1.2.0", func(t *testing.T, r *Releases) error { return r.as("1.1.0").take(t, "1.2.0") }, "1.1.0"},
	{"install 1.3.0 in its place", func(t *testing.T, r *Releases) error { return r.as("1.1.0").take(t, "1.3.0") }, "1.1.0"},
	{"begin", func(_ *testing.T, r *Releases) error { return r.as("1.1.0").Begin(false) }, "1.1.0"},
	{"start", starts("1.3.0"), "1.1.0"},
	{"start", starts("1.3.0"), "1.1.0"},
	{"start", starts("1.3.0"), "1.1.0"},
	{"return", starts("1.1.0"), "1.1.0"},
	{"prune", func(_ *testing.T, r *Releases) error { return r.as("1.1.0").Prune() }, "1.1.0"},
	{"install 1.4.0", func(t *testing.T, r *Releases) error { return r.as("1.1.0").take(t, "1.4.0") }, "1.1.0"},
	{"begin", func(_ *testing.T, r *Releases) error { return r.as("1.1.0").Begin(true) }, "1.1.0"},
	{"start", starts("1.4.0"), "1.1.0"},
	{"give up", func(_ *testing.T, r *Releases) error { return r.as("1.4.0").Fail("no cloud") }, "1.1.0"},
	{"install 1.5.0", func(t *testing.T, r *Releases) error { return r.as("1.1.0").take(t, "1.5.0") }, "1.1.0"},
	{"begin", func(_ *testing.T, r *Releases) error { return r.as("1.1.0").Begin(true) }, "1.1.0"},
	{"start", starts("1.5.0"), "1.1.0"},
	{"confirm", func(_ *testing.T, r *Releases) error { return r.as("1.5.0").Confirm() }, "1.5.0"},
	{"install 1.6.0", func(t *testing.T, r *Releases) error { return r.as("1.5.0").take(t, "1.6.0") }, "1.5.0"},
}

// bothKeys are those of a gateway that is changing from one to the other.
func bothKeys() []ed25519.PublicKey {
	return append(vendorKeys(), stranger.Public().(ed25519.PublicKey))
}

// resign takes the bundle of the release that runs, signed with another key.
func (r *Releases) resign(t *testing.T) error {
	t.Helper()
	var b bytes.Buffer
	must(t, Write(&b, manifestOf(r.Running), binaryOf(r.Running), stranger))
	_, err := r.Install(t.Context(), &b, Install{})
	return err
}

func starts(want string) func(*testing.T, *Releases) error {
	return func(t *testing.T, r *Releases) error { r.wantStart(t, want); return nil }
}

// TestPowerCut cuts the power after every single step of a life with updates, in
// four ways. After each the next start is a whole release, the one of before the
// step or of after it, and whatever comes then ends with the confirmed one.
func TestPowerCut(t *testing.T) {
	data := t.TempDir()
	disk := &recorder{root: data}
	r := New(data, "1.0.0", 1, bothKeys())
	r.disk = disk
	total, tried := 0, 0
	first := cut(t, folder(), 0).start(t)
	settled := "1.0.0"
	for _, l := range life {
		from := len(disk.steps)
		must(t, l.do(t, r))
		to := len(disk.steps)
		then := cut(t, after(disk.steps), 0).start(t)
		seen := map[[sha256.Size]byte]bool{}
		for n := from; n <= to; n++ {
			root := after(disk.steps[:n])
			for way := range cuts {
				total++
				what := left(root, way)
				if seen[what] {
					continue
				}
				seen[what] = true
				tried++
				c := cut(t, root, way)
				where := fmt.Sprintf("%s, cut after %q, %s", l.name, disk.steps[max(n-1, 0)].name, cuts[way].name)
				if got := c.start(t); got != first && got != then {
					t.Errorf("%s: %s runs, want %s or %s", where, got, first, then)
				}
				if got := lastOf(t, c); got != settled && got != l.confirmed {
					t.Errorf("%s: in the end %s runs, want %s or %s", where, got, settled, l.confirmed)
				}
				recovers(t, c, where)
			}
		}
		first, settled = then, l.confirmed
	}
	if tried < 100 {
		t.Errorf("only %d cuts that leave different disks", tried)
	}
	t.Logf("%d cuts after %d steps leave %d different disks to try", total, len(disk.steps), tried)
	if !t.Failed() {
		t.Attr("injected", fmt.Sprint(total))
		t.Attr("survived", fmt.Sprint(total))
	}
}

// lastOf starts until every try is spent.
func lastOf(t *testing.T, r *Releases) (version string) {
	t.Helper()
	for range MaxTries + 1 {
		version = r.start(t)
	}
	return version
}

// recovers makes sure that an update goes through after the cut.
func recovers(t *testing.T, r *Releases, where string) {
	t.Helper()
	r = r.as(r.start(t))
	must(t, r.Prune())
	if err := r.take(t, "2.0.0"); err != nil {
		t.Errorf("%s: the next update: %v", where, err)
		return
	}
	must(t, r.Begin(false))
	r.wantStart(t, "2.0.0")
	if on := strings.Fields(r.folders(t)); len(on) > 2 || !slices.Contains(on, "2.0.0") {
		t.Errorf("%s: on the disk: %s", where, on)
	}
}
