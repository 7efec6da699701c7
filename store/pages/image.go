package pages

import (
	"encoding/binary"
	"io"
)

// The types here read the pages of bbolt's file format version 2:
//
//	page     id u64, flags u16, count u16, overflow u32, then count elements, then keys and values
//	branch   pos u32 (from the element), key size u32, child page u64
//	leaf     flags u32 (1: bucket), pos u32, key size u32, value size u32
//	bucket   root page u64 (0: the page follows inline), sequence u64
//	meta     magic u32, version u32, page size u32, flags u32, root bucket, freelist u64, pages u64, txid u64, FNV-1a u64
//
// All numbers are little-endian, as on every machine this program is built for.
const (
	// PageSize is the size of a page in bytes, whatever the system's own is.
	PageSize = 4096

	pageHeader  = 16
	elementSize = 16
	bucketSize  = 16
	metaSize    = 64

	flagBranch = 1
	flagLeaf   = 2
	leafBucket = 1

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = 1<<64 - 1

	maxDepth    = 32
	maxOverflow = 4 * MaxValueSize / PageSize
)

var little = binary.LittleEndian

// image walks the pages of one file.
type image struct {
	file  io.ReaderAt
	pages uint64   // those from here on are not there
	seen  []bool   // each page may be met once; nil: again and again
	bufs  [][]byte // one page buffer per level, so that a parent stays readable below it
}

// page is one page with its overflow, or an inline page inside a value.
type page struct {
	id    uint64
	leaf  bool
	count int
	data  []byte
}

// read returns page id with its overflow. It stays valid until another page of this depth is read.
func (im *image) read(id uint64, depth int) (page, error) {
	if depth >= maxDepth {
		return page{}, damage("page %d is more than %d levels deep", id, maxDepth)
	}
	header := im.buffer(depth, PageSize)
	if id < 2 || id >= im.pages {
		return page{}, damage("page %d is outside the file", id)
	}
	if _, err := im.file.ReadAt(header, int64(id)*PageSize); err != nil {
		return page{}, pageError(id, err)
	}
	more := uint64(little.Uint32(header[12:]))
	if little.Uint64(header) != id || more > maxOverflow || id+more >= im.pages {
		return page{}, damage("page %d has a wrong header", id)
	}
	for i := id; i <= id+more && im.seen != nil; i++ {
		if im.seen[i] {
			return page{}, damage("page %d is used twice", i)
		}
		im.seen[i] = true
	}
	data := im.buffer(depth, int(1+more)*PageSize)
	if more > 0 {
		if _, err := im.file.ReadAt(data[PageSize:], int64(id+1)*PageSize); err != nil {
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

// element is a row, a bucket or, of a branch, a child.
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
