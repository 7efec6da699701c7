package store

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt trusts what it maps: a damaged page makes it panic, fault or loop. The types here read a database file page
// by page with every offset checked, so that damage is an error. The layout is bbolt's file format version 2:
//
//	page     id u64, flags u16, count u16, overflow u32, then count elements, then keys and values
//	branch   pos u32 (from the element), key size u32, child page u64
//	leaf     flags u32 (1: bucket), pos u32, key size u32, value size u32
//	bucket   root page u64 (0: the page follows inline), sequence u64
//	meta     magic u32, version u32, page size u32, flags u32, root bucket, freelist u64, pages u64, txid u64, FNV-1a u64
//
// All numbers are little-endian, as on every machine this program is built for.
const (
	pageSize    = 4096
	pageHeader  = 16
	elementSize = 16
	bucketSize  = 16
	metaSize    = 64

	flagBranch = 1
	flagLeaf   = 2
	flagMeta   = 4
	leafBucket = 1

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = 1<<64 - 1

	maxDepth    = 32
	maxOverflow = 4 * MaxValueSize / pageSize
)

var little = binary.LittleEndian

// meta is one of the two headers of a file. Equal metas mean equal contents.
type meta struct {
	root     uint64
	freelist uint64
	pages    uint64
	txid     uint64
}

func damage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// readMeta returns the newest valid meta, as bbolt chooses it. A power cut can leave one of the two unwritten.
func readMeta(file io.ReaderAt) (meta, error) {
	var best meta
	found := false
	for i := range int64(2) {
		raw := make([]byte, metaSize)
		if _, err := file.ReadAt(raw, i*pageSize+pageHeader); err != nil {
			return best, pageError(uint64(i), err)
		}
		if m, ok := parseMeta(raw); ok && (!found || m.txid > best.txid) {
			best, found = m, true
		}
	}
	if !found {
		return best, damage("no valid header")
	}
	return best, nil
}

func parseMeta(raw []byte) (meta, bool) {
	valid := little.Uint32(raw) == boltMagic && little.Uint32(raw[4:]) == boltVersion &&
		little.Uint32(raw[8:]) == pageSize && little.Uint64(raw[56:]) == headerSum(raw)
	return meta{
		root: little.Uint64(raw[16:]), freelist: little.Uint64(raw[32:]),
		pages: little.Uint64(raw[40:]), txid: little.Uint64(raw[48:]),
	}, valid
}

func headerSum(raw []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(raw[:metaSize-8])
	return sum.Sum64()
}

// image walks the pages of one file. Each page may be met once.
type image struct {
	file io.ReaderAt
	meta meta
	seen []bool   // nil: a page may be met again
	bufs [][]byte // one page buffer per level, so that a parent stays readable below it
}

func newImage(file io.ReaderAt, size int64) (*image, error) {
	m, err := readMeta(file)
	if err != nil {
		return nil, err
	}
	if m.pages < 3 || m.pages > uint64(size)/pageSize {
		return nil, damage("header counts %d pages, the file has %d", m.pages, size/pageSize)
	}
	if m.freelist != noFreelist {
		return nil, damage("header names a list of free pages, which this store never writes")
	}
	return &image{file: file, meta: m, seen: make([]bool, m.pages), bufs: make([][]byte, maxDepth)}, nil
}

// page is one page with its overflow, or an inline page inside a value.
type page struct {
	id    uint64
	leaf  bool
	count int
	data  []byte
}

func (im *image) read(id uint64, depth int) (page, error) {
	if depth >= maxDepth {
		return page{}, damage("page %d is more than %d levels deep", id, maxDepth)
	}
	header := im.buffer(depth, pageSize)
	if id < 2 || id >= im.meta.pages {
		return page{}, damage("page %d is outside the file", id)
	}
	if _, err := im.file.ReadAt(header, int64(id)*pageSize); err != nil {
		return page{}, pageError(id, err)
	}
	more := uint64(little.Uint32(header[12:]))
	if little.Uint64(header) != id || more > maxOverflow || id+more >= im.meta.pages {
		return page{}, damage("page %d has a wrong header", id)
	}
	for i := id; i <= id+more && im.seen != nil; i++ {
		if im.seen[i] {
			return page{}, damage("page %d is used twice", i)
		}
		im.seen[i] = true
	}
	data := im.buffer(depth, int(1+more)*pageSize)
	if more > 0 {
		if _, err := im.file.ReadAt(data[pageSize:], int64(id+1)*pageSize); err != nil {
			return page{}, pageError(id, err)
		}
	}
	return parsePage(id, data)
}

// buffer returns the buffer of one level; growing it keeps what is in it.
func (im *image) buffer(depth, size int) []byte {
	if len(im.bufs[depth]) < size {
		im.bufs[depth] = append(make([]byte, 0, size), im.bufs[depth]...)[:size]
	}
	return im.bufs[depth][:size]
}

func parsePage(id uint64, data []byte) (page, error) {
	if len(data) < pageHeader {
		return page{}, damage("page %d is too short", id)
	}
	flags, count := little.Uint16(data[8:]), int(little.Uint16(data[10:]))
	p := page{id: id, leaf: flags == flagLeaf, count: count, data: data}
	if !p.leaf && (flags != flagBranch || count == 0) {
		return page{}, damage("page %d is no branch and no leaf", id)
	}
	if pageHeader+count*elementSize > len(data) {
		return page{}, damage("page %d counts too many elements", id)
	}
	return p, nil
}

type element struct {
	bucket     bool
	key, value []byte
	child      uint64
	start      int // of the key in the page; the value follows it
}

func (p page) element(i int) (element, error) {
	at := pageHeader + i*elementSize
	raw := p.data[at : at+elementSize]
	var e element
	var pos, keySize, valueSize uint64
	if p.leaf {
		flags := little.Uint32(raw)
		if flags > leafBucket {
			return e, damage("page %d, element %d has unknown flags", p.id, i)
		}
		e.bucket = flags == leafBucket
		pos, keySize, valueSize = uint64(little.Uint32(raw[4:])), uint64(little.Uint32(raw[8:])), uint64(little.Uint32(raw[12:]))
	} else {
		pos, keySize, e.child = uint64(little.Uint32(raw)), uint64(little.Uint32(raw[4:])), little.Uint64(raw[8:])
	}
	start := uint64(at) + pos
	if keySize == 0 || start+keySize+valueSize > uint64(len(p.data)) || int(start) < pageHeader+p.count*elementSize {
		return e, damage("page %d, element %d lies outside its page", p.id, i)
	}
	e.start = int(start)
	e.key = p.data[start : start+keySize]
	e.value = p.data[start+keySize : start+keySize+valueSize]
	return e, nil
}

func (e element) end() int { return e.start + len(e.key) + len(e.value) }

// firstByte is where the first key of a page lies. bbolt puts the keys and values behind the elements without a gap,
// so that a count which has lost a bit is noticed: it would hide rows.
func (p page) firstByte() int { return pageHeader + p.count*elementSize }

// whole refuses a page that counts nothing and holds something.
func (p page) whole() error {
	if p.count == 0 && len(p.data) >= pageHeader+elementSize && [elementSize]byte(p.data[pageHeader:]) != [elementSize]byte{} {
		return damage("page %d counts no elements and has some", p.id)
	}
	return nil
}
