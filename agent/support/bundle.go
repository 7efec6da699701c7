package support

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// Bundle is a gzipped tar in the making, all of it in one folder.
type Bundle struct {
	at  time.Time
	zip *gzip.Writer
	tar *tar.Writer
}

// NewBundle begins a bundle of that time.
func NewBundle(w io.Writer, at time.Time) *Bundle {
	z := gzip.NewWriter(w)
	return &Bundle{at, z, tar.NewWriter(z)}
}

// Text adds a file.
func (b *Bundle) Text(name, text string) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: "roomgate-support/" + name, Size: int64(len(text)), Mode: 0o644, ModTime: b.at, Format: tar.FormatPAX}
	if err := b.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.WriteString(b.tar, text)
	return err
}

// JSON adds a file.
func (b *Bundle) JSON(name string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return b.Text(name, string(raw)+"\n")
}

// Close ends the bundle.
func (b *Bundle) Close() error { return errors.Join(b.tar.Close(), b.zip.Close()) }
