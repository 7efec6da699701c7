package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
)

var (
	// ErrDamaged says that stored bytes do not match their checksum or structure. The text names the row or page.
	ErrDamaged = errors.New("damaged")
	// ErrUnreadable says that the disk did not deliver the file, or the system does not let it be read. That is no
	// verdict about what is in it.
	ErrUnreadable = errors.New("cannot be read, which says nothing about what is in it: see dmesg and the rights of the file")
)

// File is a database file to read.
type File struct {
	Reader io.ReaderAt
	Size   int64 // in bytes
}

// Header is one of the two headers of a file. Files with equal headers have equal contents.
type Header struct {
	root     uint64 // the page on which the list of buckets begins
	pages    uint64 // pages from here on are not in use
	freelist uint64
	txid     uint64
}

// Header returns the newest sound header, as bbolt chooses it. A power cut can leave one of the two unwritten. The error
// wraps ErrDamaged or ErrUnreadable, or is that of a context that ended.
func (f File) Header() (Header, error) {
	var best Header
	found := false
	for i := range uint64(2) {
		h, ok, err := f.header(i)
		if err != nil {
			return best, err
		}
		if ok && (!found || h.txid > best.txid) {
			best, found = h, true
		}
	}
	if !found {
		return best, damage("no valid header")
	}
	return best, nil
}

// Roots are the roots that the sound headers name, the newest first: up to two.
func (f File) Roots() (ids []uint64) {
	var headers []Header
	for i := range uint64(2) {
		if h, ok, err := f.header(i); err == nil && ok {
			headers = append(headers, h)
		}
	}
	slices.SortFunc(headers, func(a, b Header) int { return cmp.Compare(b.txid, a.txid) })
	for _, h := range headers {
		ids = append(ids, h.root)
	}
	return ids
}

// header reads page i, 0 or 1, and says whether it is sound.
func (f File) header(i uint64) (h Header, ok bool, err error) {
	raw := make([]byte, metaSize)
	if _, err := f.Reader.ReadAt(raw, int64(i)*PageSize+pageHeader); err != nil {
		return h, false, pageError(i, err)
	}
	h, ok = parseHeader(raw)
	return h, ok, nil
}

func parseHeader(raw []byte) (Header, bool) {
	valid := little.Uint32(raw) == boltMagic && little.Uint32(raw[4:]) == boltVersion &&
		little.Uint32(raw[8:]) == PageSize && little.Uint64(raw[56:]) == headerSum(raw)
	return Header{
		root: little.Uint64(raw[16:]), freelist: little.Uint64(raw[32:]),
		pages: little.Uint64(raw[40:]), txid: little.Uint64(raw[48:]),
	}, valid
}

func headerSum(raw []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(raw[:metaSize-8])
	return sum.Sum64()
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
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
