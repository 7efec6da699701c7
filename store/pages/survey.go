package pages

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// Survey is what one tree of a damaged file still gives: which buckets, and where their rows are missing.
type Survey struct {
	// Buckets are those that can be read at least in part, by name.
	Buckets map[string]*Bucket

	im      *image
	row     RowFunc // takes each row whose seal is good; nil: nobody does
	names   []hole  // stretches of the list of buckets that cannot be read
	reached map[uint64]bool
	met     map[uint64]int // how often each page was met
}

// RowFunc takes a row whose seal is good. The key, and the value in its stored form, are valid until it returns.
type RowFunc func(bucket string, key, value []byte) error

// Bucket is a bucket of a survey.
type Bucket struct {
	// Sequence is what the bucket says of itself, which nothing guards on its page; 0 if no bucket comes so far.
	Sequence uint64
	// Lost counts the rows that were seen and cannot be read.
	Lost int

	holes  []hole
	leaves int
}

// Holes counts the stretches of keys that could not be read.
func (b *Bucket) Holes() int { return len(b.holes) }

// hole is a stretch of keys in which rows are missing. What the missing page was decides where they may be: those of a
// leaf are gone with it, those below a branch are on pages of their own to which nothing leads any more.
type hole struct {
	span
	kind pageKind
}

type pageKind int

const (
	kindUnknown pageKind = iota
	kindLeaf
	kindBranch
	kindAlien // a page that belongs elsewhere: the pointer to it was wrong
)

func (s span) holds(key []byte) bool {
	return bytes.Compare(key, s.low) >= 0 && (s.high == nil || bytes.Compare(key, s.high) < 0)
}

// Survey walks the tree below page root, of a file that may be damaged, and gives each row whose seal is good to take,
// unless that is nil. Root 0 is no page: nothing can be read. The error is that of take or of a context that ended: a
// page that is damaged or not delivered is a hole in the survey.
func (f File) Survey(root uint64, take RowFunc) (*Survey, error) {
	s := &Survey{im: f.image(), row: take, Buckets: map[string]*Bucket{}, reached: map[uint64]bool{}, met: map[uint64]int{}}
	_, err := s.tree(root, 0, span{}, &stretch{s: s, holes: &s.names})
	return s, err
}

// image is one whose pages may be met again, as a damaged file may have it. It has as many as its headers count, or as
// there are.
func (f File) image() *image {
	pages := uint64(f.Size) / PageSize
	if best, err := f.Header(); err == nil {
		pages = max(pages, min(best.pages, 2*pages+1<<20))
	}
	return &image{file: f.Reader, pages: pages, bufs: make([][]byte, maxDepth)}
}

// Missing says that the tree does not tell whether there is such a row. For a bucket that is not among Buckets it says
// that the tree does not tell whether there is such a bucket, whatever the key.
func (s *Survey) Missing(bucket string, key []byte) bool { return s.around(bucket, key, key) != nil }

// Unlisted says that the list of buckets could not be read in whole.
func (s *Survey) Unlisted() bool { return len(s.names) > 0 }

// around returns the stretch in which the tree does not tell whether there are rows from first to last, or nil.
func (s *Survey) around(bucket string, first, last []byte) *hole {
	holes := s.names
	if b := s.Buckets[bucket]; b != nil {
		holes = b.holes
	} else {
		first = []byte(bucket)
		last = first
	}
	for i := range holes {
		if holes[i].holds(first) && holes[i].holds(last) {
			if s.Buckets[bucket] == nil { // its pages may be sound, but nothing names the first of them
				return &hole{kind: kindBranch}
			}
			return &holes[i]
		}
	}
	return nil
}

// Whole says that every row can be read.
func (s *Survey) Whole() bool {
	return len(s.names) == 0 && !slices.ContainsFunc(s.all(), func(b *Bucket) bool { return len(b.holes) > 0 })
}

func (s *Survey) all() (all []*Bucket) {
	for _, b := range s.Buckets {
		all = append(all, b)
	}
	return all
}

// stretch is the bucket, or the list of buckets, that a walk is in.
type stretch struct {
	s     *Survey
	name  string // of the bucket; empty: the list of buckets
	seed  uint32
	holes *[]hole
	in    *Bucket // the bucket; nil: the list of buckets
}

func (t *stretch) miss(sp span, kind pageKind) {
	*t.holes = append(*t.holes, hole{span{bytes.Clone(sp.low), bytes.Clone(sp.high)}, kind})
}

// sound says whether an element is what belongs here.
func (t *stretch) sound(e element) bool {
	if t.name == "" {
		return e.bucket && len(e.value) >= bucketSize && knownKind(e.key)
	}
	_, err := Payload(t.seed, e.key, e.value)
	return !e.bucket && err == nil
}

func knownKind(bucket []byte) bool {
	kind, name, ok := strings.Cut(string(bucket), ":")
	return ok && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) && (kind == "table" || kind == "queue" || kind == "meta")
}

func (t *stretch) take(e element) error {
	if t.name == "" {
		return t.s.bucket(t, e)
	}
	if t.s.row == nil {
		return nil
	}
	return t.s.row(t.name, e.key, e.value)
}

// bucket walks one bucket. If nothing in it is its own, its name may be wrong.
func (s *Survey) bucket(list *stretch, e element) (err error) {
	name := string(e.key)
	b := &Bucket{Sequence: plausibleNumber(little.Uint64(e.value[8:]))}
	t := &stretch{s: s, name: name, seed: Seed(e.key), holes: &b.holes, in: b}
	if root := little.Uint64(e.value); root != 0 {
		_, err = s.tree(root, rootLevels, span{}, t)
	} else if p, bad := parsePage(0, bytes.Clone(e.value[bucketSize:])); bad == nil && p.leaf {
		_, err = s.leaf(p, span{}, t)
	} else {
		t.miss(span{}, kindLeaf)
	}
	if b.leaves == 0 && len(b.holes) > 0 {
		list.miss(span{}, kindBranch) // the bucket that it was may have any name
	}
	s.Buckets[name] = b
	return err
}

// mostMet is how often a page may be met: by a wrong pointer before the right one, and on every level by one that leads
// to itself. Without a limit, pages that lead to each other by many pointers would be walked for ever.
const mostMet = maxDepth

// tree walks what lies below page id and says what the page was.
func (s *Survey) tree(id uint64, depth int, sp span, t *stretch) (pageKind, error) {
	if id < 2 || id >= s.im.pages { // the pointer is wrong, and the page somewhere else
		t.miss(sp, kindBranch)
		return kindUnknown, nil
	}
	if s.met[id]++; s.met[id] > mostMet {
		t.miss(sp, kindUnknown)
		return kindUnknown, nil
	}
	p, err := s.im.read(id, depth)
	switch {
	case errors.Is(err, ErrDamaged), errors.Is(err, ErrUnreadable):
		t.miss(sp, kindUnknown)
		return kindUnknown, nil
	case err != nil:
		return kindUnknown, err
	case p.leaf:
		return s.leaf(p, sp, t)
	}
	return kindBranch, s.branch(p, depth, sp, t)
}

// branch walks the children. If one of them does not fit, the pointers to all of them are in doubt.
func (s *Survey) branch(p page, depth int, sp span, t *stretch) error {
	first, children, sound := len(*t.holes), kindUnknown, p.sound()
	for i := range p.count {
		e, err := p.element(i)
		if err != nil || !sp.holds(e.key) {
			sound = false
			continue
		}
		below := span{e.key, sp.high}
		if i == 0 {
			below.low = sp.low
		}
		if next, err := p.element(min(i+1, p.count-1)); err == nil && i+1 < p.count {
			below.high = next.key
		}
		kind, err := s.tree(e.child, depth+1, below, t)
		if err != nil {
			return err
		}
		if kind == kindAlien {
			sound = false
		} else if kind != kindUnknown {
			children = kind
		}
	}
	for i := first; i < len(*t.holes); i++ { // all children are of one kind
		if (*t.holes)[i].kind == kindUnknown {
			(*t.holes)[i].kind = children
		}
	}
	if !sound {
		t.miss(sp, kindBranch)
	}
	return nil
}

// sound says whether the elements of a page lie as bbolt lays them.
func (p page) sound() bool {
	end := p.firstByte()
	var prev []byte
	for i := range p.count {
		e, err := p.element(i)
		if err != nil || e.start != end || i > 0 && bytes.Compare(e.key, prev) <= 0 {
			return false
		}
		end, prev = e.end(), e.key
	}
	return p.whole() == nil
}

// leaf takes what is sound. A page of which nothing is, or on which there are sound rows from elsewhere, is not the one
// that belongs here.
func (s *Survey) leaf(p page, sp span, t *stretch) (pageKind, error) {
	fit, astray := t.fits(p, sp)
	if astray {
		t.miss(sp, kindBranch)
		return kindAlien, nil
	}
	if fit == 0 && p.count > 0 {
		t.miss(sp, kindUnknown)
		return kindAlien, nil
	}
	if t.in != nil {
		t.in.leaves++
	}
	if p.id != 0 {
		s.reached[p.id] = true
	}
	low, bad := sp.low, false
	for i := range p.count {
		e, err := p.element(i)
		if err != nil || !t.sound(e) {
			bad = true
			if t.in != nil {
				t.in.Lost++
			}
			continue
		}
		if bad {
			t.miss(span{low, e.key}, kindLeaf)
			bad = false
		}
		low = append(bytes.Clone(e.key), 0)
		if err := t.take(e); err != nil {
			return kindLeaf, err
		}
	}
	switch {
	case bad:
		t.miss(span{low, sp.high}, kindLeaf)
	case !p.sound(): // it may have had more rows than it counts
		t.miss(sp, kindLeaf)
	}
	return kindLeaf, nil
}

// fits counts the sound elements of a leaf, and says whether one of them lies outside of the page's stretch.
func (t *stretch) fits(p page, sp span) (fit int, astray bool) {
	for i := range p.count {
		e, err := p.element(i)
		if err != nil || !t.sound(e) {
			continue
		}
		fit++
		astray = astray || !sp.holds(e.key)
	}
	return fit, astray
}
