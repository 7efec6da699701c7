package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Progress is told how many bytes of how many are done.
type Progress func(done, total int64)

// Verify is Check that nobody stops and nobody watches.
func Verify(path string) error { return Check(context.Background(), path, nil) }

// Check reads the whole file at path: its structure, the order of all keys and the checksum of every value. It opens
// the file for reading only and changes nothing. It takes as long as the disk takes, and told, unless nil, is told how
// far it is.
//
// The error wraps ErrDamaged if the file is damaged, and only then: ErrUnreadable if the disk did not deliver it,
// ErrNewerSchema if a newer version wrote it, ErrLocked if another process has it open, ctx's error if that ended
// first.
//
// Pages are read one by one and never mapped, so that damage is an error here. bbolt may panic, fault or loop on it:
// no damaged file must come so far.
func Check(ctx context.Context, path string, told Progress) error {
	file, err := openShared(path)
	if err == nil {
		defer unlock(file)
		err = checkFile(ctx, file, told)
	}
	if err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	return nil
}

// openShared opens a database for reading that nobody writes.
func openShared(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(ErrLocked, file.Close())
	}
	return file, nil
}

// checkFile is Check of a file that is already open.
func checkFile(ctx context.Context, file *os.File, told Progress) error {
	size, err := sizeOf(file)
	if err != nil {
		return err
	}
	return verifyImage(counted{ctx, file, &tally{total: size, told: told}}, size)
}

func sizeOf(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("not a regular file")
	}
	return info.Size(), nil
}

// pageError is what a page means that could not be read: the file is too short, which is damage, or the disk did not
// deliver it, which is none.
func pageError(id uint64, err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return damage("page %d lies behind the end of the file", id)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fmt.Errorf("page %d %w: %w", id, ErrUnreadable, err)
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
	end := p.firstByte()
	for i := range p.count {
		e, err := p.element(i)
		if err != nil {
			return err
		}
		if e.start != end {
			return damage("page %d, element %d does not follow the one before it", p.id, i)
		}
		end = e.end()
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
	return p.whole()
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
		if err := im.tree(root, rootLevels, span{}, c.visit); err != nil {
			return err
		}
		return c.counted()
	}
	p, err := parsePage(0, e.value[bucketSize:])
	if err != nil {
		return err
	}
	if !p.leaf {
		return damage("inline bucket %q is no leaf", e.key)
	}
	if err := im.page(p, rootLevels, span{}, c.visit); err != nil {
		return err
	}
	return c.counted()
}

// rows checks the rows of one bucket.
type rows struct {
	name     string
	seed     uint32
	sequence uint64
	last     uint64 // of a queue: the number of its last row
	state    queueState
}

// counted refuses a queue whose last number is not that of its last row: nothing guards it where it lies. Numbers that
// were skipped are noted.
func (r *rows) counted() error {
	skipped := slices.ContainsFunc(r.state.Gaps, func(g gap) bool { return g.At == r.sequence+1 })
	if r.last > 0 && r.last != r.sequence && !skipped {
		return damage("%s: the last number is %d, and its last row has %d", r.name, r.sequence, r.last)
	}
	return nil
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
		if r.last = binary.BigEndian.Uint64(e.key); r.last == 0 {
			return json.Unmarshal(body, &r.state)
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
