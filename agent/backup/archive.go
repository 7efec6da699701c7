package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Source is a file that goes into a backup. Its contents must not change.
type Source struct {
	Name string
	io.ReadSeeker
	Mode    os.FileMode // of a file that the configuration names
	Service bool        // it belongs to the user that the gateway runs as
}

// Progress is told how many bytes are done, of how many; total is 0 until it
// is known.
type Progress func(done, total int64)

// Write writes a manifest with the checksums of the sources, and the sources,
// as a tar. progress is told of the checksums, which come before the first byte.
func Write(ctx context.Context, w io.Writer, m Manifest, sources []Source, progress Progress) (err error) {
	m.Format = formatNow
	if m.Files, err = sums(ctx, sources, progress); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	err = writeEntry(t, m, ManifestName, int64(len(raw)), func() error { _, err := t.Write(raw); return err })
	for i, s := range sources {
		if err == nil {
			err = writeEntry(t, m, s.Name, m.Files[i].Size, func() error { _, err := io.Copy(t, stoppable{ctx, s}); return err })
		}
	}
	if err != nil {
		return err
	}
	return t.Close()
}

// sums lists the sources with their sizes and checksums.
func sums(ctx context.Context, sources []Source, progress Progress) ([]File, error) {
	var done, total int64
	for _, s := range sources {
		n, err := s.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = s.Seek(0, io.SeekStart)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Name, err)
		}
		total += n
	}
	var all []File
	for _, s := range sources {
		sum, count := sha256.New(), writing(func(n int) {
			done += int64(n)
			progress(done, total)
		})
		n, err := io.Copy(io.MultiWriter(sum, count), stoppable{ctx, s})
		if err == nil {
			_, err = s.Seek(0, io.SeekStart)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Name, err)
		}
		all = append(all, File{s.Name, n, hex.EncodeToString(sum.Sum(nil)), s.Mode, s.Service})
	}
	return all, nil
}

// writing is told how much is written.
type writing func(n int)

// Write takes everything.
func (w writing) Write(p []byte) (int, error) {
	w(len(p))
	return len(p), nil
}

func writeEntry(t *tar.Writer, m Manifest, name string, size int64, body func() error) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: m.Created, Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	if err := body(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Opened is a backup that was read to its end, with every checksum right.
type Opened struct {
	Manifest
	// Small holds the files other than the database.
	Small map[string][]byte
}

// Read reads a tar that Write wrote, to its end, and verifies every checksum.
// The database goes to a file in dir; an empty dir: nowhere. schema is the
// newest one that this program knows.
func Read(ctx context.Context, r io.Reader, schema int, dir string, progress Progress) (*Opened, error) {
	t := tar.NewReader(stoppable{ctx, r})
	raw, err := readEntry(t, ManifestName, maxManifest)
	if err != nil {
		return nil, err
	}
	o := &Opened{Small: map[string][]byte{}}
	if o.Manifest, err = parseManifest(raw, schema); err != nil {
		return nil, err
	}
	var done int64
	for _, f := range o.Files {
		err := o.take(t, f, dir, func(n int64) {
			done += n
			progress(done, o.Size())
		})
		if err != nil {
			return nil, err
		}
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return nil, streamError(err, "it goes on behind its end")
	}
	if _, err := io.Copy(io.Discard, stoppable{ctx, r}); err != nil { // to the end that is authenticated
		return nil, streamError(err, "its end is wrong")
	}
	return o, nil
}

// take reads one file.
func (o *Opened) take(t *tar.Reader, f File, dir string, moved func(int64)) error {
	h, err := t.Next()
	if err != nil || h.Name != f.Name || h.Size != f.Size {
		return streamError(err, "it should have "+f.Name+" here")
	}
	sum := sha256.New()
	to := io.Writer(sum)
	var finish = func() error { return nil }
	if f.Name != DatabaseName {
		small := &writeBuffer{}
		to, finish = io.MultiWriter(sum, small), func() error { o.Small[f.Name] = *small; return nil }
	} else if dir != "" {
		file, err := os.OpenFile(filepath.Join(dir, f.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		to, finish = io.MultiWriter(sum, file), file.Sync
	}
	if err := copyCounted(to, t, moved); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%w: the checksum of %s is wrong", ErrDamaged, f.Name)
	}
	return finish()
}

type writeBuffer []byte

func (b *writeBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// copyCounted copies and tells apart who failed: the backup or the disk.
func copyCounted(w io.Writer, r io.Reader, moved func(int64)) error {
	buffer := make([]byte, 128<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
			moved(int64(n))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return streamError(err, "")
		}
	}
}

func readEntry(t *tar.Reader, name string, most int64) ([]byte, error) {
	h, err := t.Next()
	if err != nil || h.Name != name || h.Size > most {
		return nil, streamError(err, "it has no manifest")
	}
	raw, err := io.ReadAll(t)
	if err != nil {
		return nil, streamError(err, "")
	}
	return raw, nil
}

// streamError is damage, unless it has another name already or the reader was
// told to stop.
func streamError(err error, what string) error {
	switch {
	case err == nil:
		return fmt.Errorf("%w: %s", ErrDamaged, what)
	case errors.Is(err, ErrDamaged), errors.Is(err, ErrNotBackup), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends too early", ErrDamaged)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// stoppable lets the end of a context end a long copy.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

// Read reads on until the context ends.
func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}
