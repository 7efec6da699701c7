package update

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// vendor is who signs releases in tests.
var vendor = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func vendorKeys() []ed25519.PublicKey {
	return []ed25519.PublicKey{vendor.Public().(ed25519.PublicKey)}
}

// binaryOf stands for the program of a version: bytes that do not compress.
func binaryOf(version string) []byte {
	seed := sha256.Sum256([]byte(version))
	data := make([]byte, 70_000)
	_, _ = rand.NewChaCha8(seed).Read(data)
	return data
}

func manifestOf(version string) Manifest {
	return Manifest{Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, Schema: 1, Created: time.Unix(1_790_000_000, 0)}
}

func bundleOf(t *testing.T, m Manifest) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, binaryOf(Canonical(m.Version)), vendor); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var bundles = map[string][]byte{}

// bundle is one for this machine; no test here is parallel.
func bundle(t *testing.T, version string) []byte {
	t.Helper()
	if bundles[version] == nil {
		bundles[version] = bundleOf(t, manifestOf(version))
	}
	return bundles[version]
}

// hastyDisk spares tests that are not about it the time that syncing takes.
type hastyDisk struct{ realDisk }

type hastyFile struct{ file }

func (hastyFile) Sync() error          { return nil }
func (hastyDisk) SyncDir(string) error { return nil }
func (hastyDisk) Create(path string, mode os.FileMode) (file, error) {
	f, err := realDisk{}.Create(path, mode)
	return hastyFile{f}, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// install takes a bundle of that version into the releases that version runs from.
func (r *Releases) take(t *testing.T, version string) error {
	t.Helper()
	_, err := r.Install(t.Context(), bytes.NewReader(bundle(t, version)), Install{})
	return err
}

// as is what a program of another version sees.
func (r *Releases) as(version string) *Releases {
	return &Releases{Dir: r.Dir, Running: version, Schema: r.Schema, Keys: r.Keys, Release: Canonical(version) != "1.0.0", disk: r.disk}
}

// start does what the packaged binary 1.0.0 does, and returns which version runs
// then. What is chosen must be whole.
func (r *Releases) start(t *testing.T) string {
	t.Helper()
	one, _ := r.as("1.0.0").Choose()
	if one == nil {
		return "1.0.0"
	}
	data, err := io.ReadAll(io.NewSectionReader(one.file, 0, MaxBinary))
	if err = errors.Join(err, one.Close()); err != nil || !bytes.Equal(data, binaryOf(one.Version)) {
		t.Fatalf("%s was chosen and is not whole: %v", one.Version, err)
	}
	return one.Version
}

func (r *Releases) wantStart(t *testing.T, versions ...string) {
	t.Helper()
	for i, want := range versions {
		if got := r.start(t); got != want {
			t.Fatalf("start %d is %s, want %s; %+v", i+1, got, want, r.State())
		}
	}
}

// folders are the releases on the disk.
func (r *Releases) folders(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.Dir, "*", binaryName))
	must(t, err)
	for i := range found {
		found[i] = filepath.Base(filepath.Dir(found[i]))
	}
	return strings.Join(found, " ")
}

func newReleases(t *testing.T) *Releases {
	r := New(t.TempDir(), "1.0.0", 1, vendorKeys())
	r.disk = hastyDisk{}
	return r
}

func sumOf(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
