package update

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The members of a bundle, a gzip'd tar, in this order.
const (
	manifestName  = "manifest.json"
	signatureName = "manifest.sig" // Ed25519 over the bytes of the manifest
	binaryName    = "roomgate"
)

// Bounds of what a bundle may hold, in bytes.
const (
	maxManifest = 4 << 10
	MaxBinary   = 64 << 20
	// MaxBundle is more than any bundle takes: what cannot be packed is a little
	// longer in gzip, and tar pads.
	MaxBundle = MaxBinary + 1<<20
)

// Format names the kind of manifest, so that a signature made for something else
// is worth nothing here.
const Format = "roomgate-update-1"

// Manifest is what a bundle says of the binary in it.
type Manifest struct {
	Format  string    `json:"format"`
	Version string    `json:"version"`
	OS      string    `json:"os"`
	Arch    string    `json:"arch"`   // as Go names it: arm64, arm, amd64
	Schema  int       `json:"schema"` // of the database that it leaves behind
	Size    int64     `json:"size"`   // bytes
	SHA256  string    `json:"sha256"` // in hex
	Created time.Time `json:"created"`
}

// Bundle is one whose manifest is signed by a known key. Its binary has not been
// read yet.
type Bundle struct {
	Manifest
	signed []byte // the signature, and behind it the manifest as it came
	raw    *bufio.Reader
	zip    *gzip.Reader
	tar    *tar.Reader
	read   bool
}

// Open reads the head of a bundle and verifies its signature against each key.
// It takes what is exactly a bundle and nothing else.
func Open(r io.Reader, keys []ed25519.PublicKey) (*Bundle, error) {
	if len(keys) == 0 {
		return nil, refuse(NoKeys, "this gateway knows no key that updates are signed with: set update.keys in the configuration")
	}
	b := &Bundle{raw: bufio.NewReader(io.LimitReader(r, MaxBundle+1))}
	var err error
	if b.zip, err = gzip.NewReader(b.raw); err != nil {
		return nil, damaged(err)
	}
	b.zip.Multistream(false)
	b.tar = tar.NewReader(b.zip)
	manifest, err := b.member(manifestName, maxManifest)
	if err != nil {
		return nil, err
	}
	signature, err := b.member(signatureName, ed25519.SignatureSize)
	if err != nil {
		return nil, err
	}
	if !signed(manifest, signature, keys) {
		return nil, refuse(WrongKey, "the bundle is signed by none of the keys that this gateway knows: get it from who runs this gateway, or add the key to update.keys")
	}
	b.signed = append(signature, manifest...)
	b.Manifest, err = readManifest(manifest)
	return b, err
}

func signed(manifest, signature []byte, keys []ed25519.PublicKey) bool {
	for _, k := range keys {
		if ed25519.Verify(k, manifest, signature) {
			return true
		}
	}
	return false
}

// damaged says that a bundle cannot be read to its end. An error that is not the bundle's
// fault goes up as it is.
func damaged(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(Corrupt, "the bundle ends too early: copy or download it again")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		return refuse(NoBundle, "the file is no update bundle: want one that roomgate update bundle made")
	case errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return refuse(Corrupt, "the bundle is damaged: copy or download it again")
	}
	return fmt.Errorf("read the bundle: %w", err)
}

// next goes to the next member, which must be the named one.
func (b *Bundle) next(name string, most int64) (*tar.Header, error) {
	h, err := b.tar.Next()
	switch {
	case err != nil:
		return nil, damaged(err)
	case name == signatureName && h.Name == binaryName:
		return nil, refuse(WrongKey, "the bundle is not signed: get one that is from who runs this gateway")
	case h.Name != name || h.Typeflag != tar.TypeReg:
		return nil, refuse(NoBundle, "the bundle has %.40q where %s belongs: want one that roomgate update bundle made", h.Name, name)
	case h.Size > most:
		return nil, refuse(NoBundle, "%s of the bundle has %d bytes: want at most %d", name, h.Size, most)
	}
	return h, nil
}

// member reads a small member.
func (b *Bundle) member(name string, most int64) ([]byte, error) {
	if _, err := b.next(name, most); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(b.tar)
	if err != nil {
		return nil, damaged(err)
	}
	return data, nil
}

// readManifest reads what is signed; it may still be a mistake.
func readManifest(data []byte) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || d.More() {
		return m, refuse(NoBundle, "the manifest of the bundle cannot be read: update to an earlier release first, which may know this form")
	}
	sum, err := hex.DecodeString(m.SHA256)
	switch {
	case m.Format != Format:
		return m, refuse(NoBundle, "the bundle has the format %.40q and this gateway reads %s: update to an earlier release first", m.Format, Format)
	case Canonical(m.Version) == "":
		return m, refuse(NoBundle, "version %.70q of the bundle is none: want one as 1.4.0", m.Version)
	case err != nil || len(sum) != sha256.Size:
		return m, refuse(NoBundle, "sha256 of the bundle is no checksum: want 64 hexadecimal digits")
	case m.Size <= 0 || m.Size > MaxBinary:
		return m, refuse(NoBundle, "size of the bundle is %d: want 1 to %d", m.Size, MaxBinary)
	case m.Schema < 1:
		return m, refuse(NoBundle, "schema of the bundle is %d: want 1 or more", m.Schema)
	}
	m.Version = Canonical(m.Version)
	return m, nil
}

// Unpack writes the binary to w and makes sure that it is the signed one and that
// nothing follows it. It can be called once. After an error what was written is
// worth nothing.
func (b *Bundle) Unpack(w io.Writer) error {
	if b.read {
		return errors.New("the bundle was unpacked already")
	}
	b.read = true
	h, err := b.next(binaryName, MaxBinary)
	if err != nil {
		return err
	}
	if h.Size != b.Size {
		return refuse(Corrupt, "the binary of the bundle has %d bytes and its manifest says %d: copy or download it again", h.Size, b.Size)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(&told{Writer: w}, sum), b.tar); err != nil {
		var own *writeError
		if errors.As(err, &own) {
			return own.error
		}
		return damaged(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != b.SHA256 {
		return refuse(Corrupt, "the binary of the bundle is not the one that was signed: copy or download it again")
	}
	return b.end()
}

// end makes sure that nothing follows the last member but the zeros that tar
// pads with.
func (b *Bundle) end() error {
	if _, err := b.tar.Next(); err == nil {
		return refuse(NoBundle, "the bundle has more members than it should: want one that roomgate update bundle made")
	} else if !errors.Is(err, io.EOF) {
		return damaged(err)
	}
	rest, err := io.ReadAll(io.LimitReader(b.zip, 64<<10))
	if err != nil {
		return damaged(err)
	}
	if len(bytes.Trim(rest, "\x00")) > 0 || len(rest) == 64<<10 {
		return refuse(NoBundle, "something follows the last member of the bundle: want one that roomgate update bundle made")
	}
	if _, err := b.raw.ReadByte(); err == nil {
		return refuse(NoBundle, "something follows the bundle: want one that roomgate update bundle made")
	} else if !errors.Is(err, io.EOF) {
		return damaged(err)
	}
	return nil
}

// told tells errors of the writer from those of the bundle.
type told struct{ io.Writer }

type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

func (t *told) Write(p []byte) (int, error) {
	n, err := t.Writer.Write(p)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

// Write makes a bundle of a binary; size and checksum of the manifest are filled
// in. The same input makes the same bytes.
func Write(w io.Writer, m Manifest, binary []byte, key ed25519.PrivateKey) error {
	sum := sha256.Sum256(binary)
	m.Format, m.Size, m.SHA256 = Format, int64(len(binary)), hex.EncodeToString(sum[:])
	m.Created = m.Created.UTC().Truncate(time.Second)
	manifest, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := readManifest(manifest); err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(w, gzip.DefaultCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, f := range []struct {
		name string
		mode int64
		data []byte
	}{{manifestName, 0o644, manifest}, {signatureName, 0o644, ed25519.Sign(key, manifest)}, {binaryName, 0o755, binary}} {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: m.Created, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}
