package backup

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWriteSealed: what is written is sealed, verified and read back, and whoever waits hears
// of both; a source that breaks off, or one of another shape, leaves its own error.
func TestWriteSealed(t *testing.T) {
	write := func(ctx context.Context, w io.Writer) error {
		return Write(ctx, w, Manifest{Version: "1", Schema: 1, GatewayID: "g", Created: time.Unix(1e9, 0)}, []Source{
			{Name: ConfigName, ReadSeeker: strings.NewReader("gateway: {id: g}\n")}, {Name: SecretName, ReadSeeker: strings.NewReader("0123456789")},
			{Name: DatabaseName, ReadSeeker: strings.NewReader(strings.Repeat("row", 1000))}}, func(int64, int64) {})
	}
	broken := errors.New("the card is gone")
	for name, c := range map[string]struct {
		write func(context.Context, io.Writer) error
		word  string
		want  string
	}{
		"whole":          {write, "correct horse battery", ""},
		"short word":     {write, "short", "choose at least 12"},
		"breaks off":     {func(ctx context.Context, w io.Writer) error { return errors.Join(write(ctx, io.Discard), broken) }, "correct horse battery", broken.Error()},
		"ends early":     {func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "no tar"); return err }, "correct horse battery", ErrDamaged.Error()},
		"nothing at all": {func(context.Context, io.Writer) error { return nil }, "correct horse battery", ErrDamaged.Error()},
	} {
		f, err := os.Create(filepath.Join(t.TempDir(), "sealed"))
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		m, err := WriteSealed(t.Context(), f, Sealing{Passphrase: c.word, Factor: 10, Schema: 1, Write: c.write, Told: func(part string) Progress {
			parts = append(parts, part)
			return func(int64, int64) {}
		}})
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		case c.want == "" && (err != nil || !m.Has(DatabaseName) || !slices.Equal(parts, []string{"backup", "reading back"})):
			t.Errorf("%s: %+v, %q, %v", name, m, parts, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSealingTakesItsMemoryOnce: a passphrase takes 64 MiB when a backup is sealed and again
// when it is read back, and a small board has that once beside a running gateway.
func TestSealingTakesItsMemoryOnce(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // nobody else gives anything back
	f, err := os.Create(filepath.Join(t.TempDir(), "sealed"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var held uint64
	_, err = WriteSealed(t.Context(), f, Sealing{Passphrase: "correct horse battery", Factor: WorkFactor, Schema: 1, Told: func(string) Progress {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		held = m.HeapAlloc
		return func(int64, int64) {}
	}, Write: func(ctx context.Context, w io.Writer) error {
		return Write(ctx, w, Manifest{Version: "1", Schema: 1, GatewayID: "g", Created: time.Unix(1e9, 0)}, []Source{{Name: ConfigName, ReadSeeker: strings.NewReader("x")},
			{Name: SecretName, ReadSeeker: strings.NewReader("0123456789")}, {Name: DatabaseName, ReadSeeker: strings.NewReader("row")}}, func(int64, int64) {})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if held > 100<<20 {
		t.Errorf("it holds %d MiB while it is read back", held>>20)
	}
}
