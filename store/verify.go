package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
)

// Verify reads the whole file at path: its structure, the order of all keys, the checksum of every value, and then
// bbolt's own check. It opens the file for reading only and changes nothing. The error wraps ErrDamaged if the file
// is damaged, ErrNewerSchema if a newer version wrote it, ErrLocked if another process has it open.
func Verify(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer unlock(file)
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("verify %s: %w", path, ErrLocked)
	}
	if err := verifyFile(file); err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	if !bothHeaders(file) {
		return nil
	}
	if err := boltCheck(path); err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	return nil
}

// bothHeaders tells whether bbolt's check will take the header pages. A card that loses power while it writes one may
// leave anything there; bbolt then opens the file by the other one and the next commit mends it, but its check fails.
func bothHeaders(file io.ReaderAt) bool {
	for i := range int64(2) {
		raw := make([]byte, pageHeader)
		if _, err := file.ReadAt(raw, i*pageSize); err != nil || little.Uint64(raw) != uint64(i) || little.Uint16(raw[8:]) != flagMeta {
			return false
		}
	}
	return true
}

// boltCheck lets bbolt confirm a file whose pages are known to be sound, so it has nothing to stumble over.
func boltCheck(path string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damage("%v", r)
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) error {
		var first error
		for err := range tx.Check() {
			if first == nil {
				first = damage("%v", err)
			}
		}
		return first
	})
}

// verifyFile is Verify without bbolt, for a file that is already open.
func verifyFile(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	return verifyImage(file, info.Size())
}

// verifyImage checks all pages in use and all values.
func verifyImage(file io.ReaderAt, size int64) error {
	im, err := newImage(file, size)
	if err != nil {
		return err
	}
	return im.tree(im.meta.root, 0, span{}, im.topLevel)
}

// span bounds the keys of a subtree: low is included, high is not, nil is open.
type span struct{ low, high []byte }

type visitor func(e element) error

func (im *image) tree(id uint64, depth int, s span, visit visitor) error {
	p, err := im.read(id, depth)
	if err != nil {
		return err
	}
	return im.page(p, depth, s, visit)
}

func (im *image) page(p page, depth int, s span, visit visitor) error {
	var prev []byte
	for i := range p.count {
		e, err := p.element(i)
		if err != nil {
			return err
		}
		if bytes.Compare(e.key, s.low) < 0 || i > 0 && bytes.Compare(e.key, prev) <= 0 || s.high != nil && bytes.Compare(e.key, s.high) >= 0 {
			return damage("page %d, element %d is out of order", p.id, i)
		}
		prev = e.key
		if p.leaf {
			err = visit(e)
		} else {
			err = im.child(p, i, e, depth, s.high, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (im *image) child(p page, i int, e element, depth int, high []byte, visit visitor) error {
	if i+1 < p.count {
		next, err := p.element(i + 1)
		if err != nil {
			return err
		}
		high = next.key
	}
	return im.tree(e.child, depth+1, span{e.key, high}, visit)
}

// rootLevels is where the buckets' own levels begin, so that their pages do not take the buffers of the root's.
const rootLevels = 8

func (im *image) topLevel(e element) error {
	if !e.bucket || len(e.value) < bucketSize {
		return damage("%q is no bucket", e.key)
	}
	root, sequence := little.Uint64(e.value), little.Uint64(e.value[8:])
	c := &rows{name: string(e.key), seed: seedOf(e.key), sequence: sequence}
	if root != 0 {
		return im.tree(root, rootLevels, span{}, c.visit)
	}
	p, err := parsePage(0, e.value[bucketSize:])
	if err != nil {
		return err
	}
	if !p.leaf {
		return damage("inline bucket %q is no leaf", e.key)
	}
	return im.page(p, rootLevels, span{}, c.visit)
}

// rows checks the rows of one bucket.
type rows struct {
	name     string
	seed     uint32
	sequence uint64
}

func (r *rows) visit(e element) error {
	if e.bucket {
		return damage("bucket inside bucket %q", r.name)
	}
	body, err := payload(r.seed, e.key, e.value)
	if err != nil {
		return fmt.Errorf("%s, key %q: %w", r.name, e.key, err)
	}
	switch {
	case strings.HasPrefix(r.name, "queue:"):
		if len(e.key) != 8 || binary.BigEndian.Uint64(e.key) > r.sequence {
			return damage("%s: row %x is above the last number %d", r.name, e.key, r.sequence)
		}
	case r.name == metaName && string(e.key) == formatKey:
		if string(body) != formatNow {
			return fmt.Errorf("%w: file format %s", ErrNewerSchema, body)
		}
	}
	return nil
}

// metaOf reads the meta of a file that may be in use.
func metaOf(path string) (meta, error) {
	file, err := os.Open(path)
	if err != nil {
		return meta{}, err
	}
	defer file.Close()
	return readMeta(file)
}
