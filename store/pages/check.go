package pages

import (
	"bytes"
	"fmt"
)

// Rows judges the rows of one bucket, in the order of their keys, whose seal Check has found good.
type Rows interface {
	// Row judges one row. Key and JSON are valid until it returns.
	Row(key, json []byte) error
	// End judges the bucket when all rows have been seen.
	End() error
}

// RowsOf begins a bucket. sequence is what the bucket says of itself, which nothing guards on its page.
type RowsOf func(bucket string, sequence uint64) Rows

// Check reads all pages in use: their structure, the order of all keys and the seal of every row, which then goes to
// what rows returns for its bucket. The error wraps ErrDamaged if the file is damaged, ErrUnreadable if it was not
// delivered; that of a context that ended, and those of rows, come back as they are.
func (f File) Check(rows RowsOf) error {
	h, err := f.Header()
	if err != nil {
		return err
	}
	if h.pages < 3 || h.pages > uint64(f.Size)/PageSize {
		return damage("header counts %d pages, the file has %d", h.pages, f.Size/PageSize)
	}
	if h.freelist != noFreelist {
		return damage("header names a list of free pages, which this store never writes")
	}
	return f.check(h.root, h.pages, rows)
}

// CheckTree is Check of the state that begins at page root, without the headers, of which one may just be written. Size
// has to be that of this state, and the caller sees to it that its pages are not used again meanwhile.
func (f File) CheckTree(root uint64, rows RowsOf) error {
	return f.check(root, uint64(f.Size)/PageSize, rows)
}

func (f File) check(root, pages uint64, rows RowsOf) error {
	im := &image{file: f.Reader, pages: pages, seen: make([]bool, pages), bufs: make([][]byte, maxDepth)}
	return im.tree(root, 0, span{}, func(e element) error { return im.topLevel(e, rows) })
}

// span bounds the keys of a subtree: low is included, high is not, nil is open.
type span struct{ low, high []byte }

// visitor takes each element of a leaf.
type visitor func(e element) error

// tree checks what lies below page id. Its keys have to lie in s.
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

// topLevel checks an element of the list of buckets, and the bucket.
func (im *image) topLevel(e element, rows RowsOf) error {
	if !e.bucket || len(e.value) < bucketSize {
		return damage("%q is no bucket", e.key)
	}
	root, sequence := little.Uint64(e.value), little.Uint64(e.value[8:])
	b := &judged{name: string(e.key), seed: Seed(e.key)}
	b.rows = rows(b.name, sequence)
	if root != 0 {
		if err := im.tree(root, rootLevels, span{}, b.visit); err != nil {
			return err
		}
		return b.rows.End()
	}
	p, err := parsePage(0, e.value[bucketSize:])
	if err != nil {
		return err
	}
	if !p.leaf {
		return damage("inline bucket %q is no leaf", e.key)
	}
	if err := im.page(p, rootLevels, span{}, b.visit); err != nil {
		return err
	}
	return b.rows.End()
}

// judged is a bucket that is checked.
type judged struct {
	name string
	seed uint32
	rows Rows
}

func (b *judged) visit(e element) error {
	if e.bucket {
		return damage("bucket inside bucket %q", b.name)
	}
	body, err := Payload(b.seed, e.key, e.value)
	if err != nil {
		return fmt.Errorf("%s, key %q: %w", b.name, e.key, err)
	}
	return b.rows.Row(e.key, body)
}
