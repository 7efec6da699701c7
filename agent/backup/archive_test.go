package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

const passphrase = "correct horse battery"

var contents = map[string]string{
	ConfigName: "gateway: {id: one}\n", SecretName: strings.Repeat("s", 32),
	DatabaseName: strings.Repeat("the rows of the building ", 20_000),
}

func tarOf(t testing.TB, m Manifest) []byte {
	t.Helper()
	return tarWith(t, m, contents[DatabaseName])
}

func tarWith(t testing.TB, m Manifest, database string) []byte {
	t.Helper()
	var sources []Source
	for _, name := range []string{ConfigName, SecretName} {
		sources = append(sources, Source{Name: name, ReadSeeker: strings.NewReader(contents[name])})
	}
	sources = append(sources, Source{Name: DatabaseName, ReadSeeker: strings.NewReader(database)})
	var b bytes.Buffer
	var last, total int64
	err := Write(t.Context(), &b, m, sources, func(done, of int64) {
		if done <= last || b.Len() > 0 {
			t.Errorf("progress goes from %d to %d, with %d bytes written", last, done, b.Len())
		}
		last, total = done, of
	})
	if last != total || last == 0 && err == nil {
		t.Errorf("progress ends at %d of %d", last, total)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var of = Manifest{Version: "test", Schema: 1, GatewayID: "one", Created: time.Unix(1e9, 0).UTC()}

func sealed(t testing.TB, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := Seal(&b, passphrase, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(raw []byte, word, dir string) (*Opened, error) {
	r, err := Unseal(bytes.NewReader(raw), word)
	if err != nil {
		return nil, err
	}
	return Read(context.Background(), r, 1, dir, func(int64, int64) {})
}

func TestBackupComesBack(t *testing.T) {
	raw := sealed(t, tarOf(t, of))
	for name, text := range contents {
		if bytes.Contains(raw, []byte(text)) {
			t.Errorf("%s can be read in the file", name)
		}
	}
	dir := t.TempDir()
	var last, total int64
	r, err := Unseal(bytes.NewReader(raw), passphrase)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Read(t.Context(), r, 1, dir, func(done, of int64) {
		if done <= last {
			t.Errorf("progress goes from %d to %d", last, done)
		}
		last, total = done, of
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.GatewayID != "one" || !o.Created.Equal(of.Created) || last != total || total != o.Size() {
		t.Errorf("%+v, %d of %d", o.Manifest, last, total)
	}
	for _, name := range []string{ConfigName, SecretName} {
		if string(o.Small[name]) != contents[name] {
			t.Errorf("%s is another one", name)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, DatabaseName)); err != nil || string(text) != contents[DatabaseName] {
		t.Errorf("the database is another one: %v", err)
	}
}

// Every bit counts: whatever is changed, cut off or added is found.
func TestDamageIsFound(t *testing.T) {
	raw := sealed(t, tarOf(t, of))
	head := bytes.Index(raw, []byte("\n---")) // then comes the MAC of the head
	for at := 0; at < len(raw); at += 1 + len(raw)/300 {
		bad := bytes.Clone(raw)
		bad[at] ^= 1
		_, err := open(bad, passphrase, "")
		if err == nil || at > head+50 && !errors.Is(err, ErrDamaged) {
			t.Errorf("bit at %d: %v", at, err)
		}
		if _, err := open(raw[:at], passphrase, ""); err == nil {
			t.Errorf("cut at %d: no error", at)
		}
	}
	if _, err := open(raw[:len(raw)-1], passphrase, ""); !errors.Is(err, ErrDamaged) {
		t.Errorf("the last byte is missing: %v", err)
	}
	if _, err := open(append(bytes.Clone(raw), 'x'), passphrase, ""); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte too many: %v", err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	good := tarOf(t, of)
	newer, future := of, bytes.Replace(good, []byte(`"format": 1`), []byte(`"format": 9`), 1)
	newer.Schema = 2
	swapped := bytes.Replace(good, []byte("the rows of"), []byte("the cows of"), 1)
	elsewhere := bytes.ReplaceAll(good, []byte(SecretName), []byte("../../a/b/c/d"))
	huge := bytes.Replace(good, []byte(`"size": 32`), []byte(`"size": 99999999999`), 1)
	var other bytes.Buffer
	w, _ := Seal(&other, passphrase, 1)
	_, _ = w.Write([]byte("hello"))
	_ = w.Close()
	for _, c := range []struct {
		name string
		raw  []byte
		word string
		want error
	}{
		{"another passphrase", sealed(t, good), "correct horse batterx", ErrPassphrase},
		{"no passphrase", sealed(t, good), "", ErrPassphrase},
		{"another file", []byte("SQLite format 3"), passphrase, ErrNotBackup},
		{"empty", nil, passphrase, ErrNotBackup},
		{"another age file", other.Bytes(), passphrase, ErrDamaged},
		{"newer schema", sealed(t, tarOf(t, newer)), passphrase, ErrNewer},
		{"newer format", sealed(t, future), passphrase, ErrNewer},
		{"wrong checksum", sealed(t, swapped), passphrase, ErrDamaged},
		{"a name that leads out", sealed(t, elsewhere), passphrase, ErrDamaged},
		{"a size that no backup has", sealed(t, huge), passphrase, ErrDamaged},
		{"cut off inside", sealed(t, good[:len(good)/2]), passphrase, ErrDamaged},
	} {
		dir := t.TempDir()
		if _, err := open(c.raw, c.word, dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	greedy := bytes.Replace(sealed(t, good), []byte(" 1\n"), []byte(" 30\n"), 1)
	if _, err := open(greedy, passphrase, ""); !errors.Is(err, ErrNotBackup) {
		t.Errorf("one that wants a gigabyte: %v", err)
	}
	if _, err := Seal(io.Discard, "too short", WorkFactor); err == nil {
		t.Error("a short passphrase is taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, bytes.NewReader(good), 1, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
}

// FuzzRead looks for what a tar from somewhere else can do: nothing but be
// refused, nothing outside of the folder, and no memory for a size that it says.
func FuzzRead(f *testing.F) {
	good := tarWith(f, of, "rows")
	f.Add(good)
	f.Add(bytes.ReplaceAll(good, []byte(DatabaseName), []byte("../../../x.x")))
	f.Add(good[:700])
	dir := f.TempDir() // one for all: what an input may leave there is removed
	f.Fuzz(func(t *testing.T, raw []byte) {
		var o *Opened
		var err error
		took := allocated(func() { o, err = Read(t.Context(), bytes.NewReader(raw), 1, dir, func(int64, int64) {}) })
		if most := uint64(16*len(raw) + 4<<20); took > most {
			t.Errorf("%d bytes take %d of memory", len(raw), took)
		}
		if err == nil && (o.Schema != 1 || len(o.Small) < 2) {
			t.Errorf("taken: %+v", o.Manifest)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != DatabaseName {
				t.Errorf("%s was written", e.Name())
			}
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A backup as it is usually sealed says so in its header, and opens.
func TestUsualWork(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := Seal(&b, passphrase, WorkFactor)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil || !strings.Contains(b.String(), " 16\n") {
		t.Errorf("%v: %q", err, b.String()[:min(b.Len(), 120)])
	}
	if _, err := Unseal(&b, passphrase); err != nil {
		t.Error(err)
	}
}

// allocated is how much memory f asks for, in bytes.
func allocated(f func()) uint64 {
	count := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(count)
	before := count[0].Value.Uint64()
	f()
	metrics.Read(count)
	return count[0].Value.Uint64() - before
}
