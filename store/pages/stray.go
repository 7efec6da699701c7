package pages

import (
	"bytes"
	"errors"
	"maps"
)

// bbolt writes each changed page to a new place, so that a file is full of pages to which nothing leads: older versions
// of pages, and, below a lost branch, leaves that are as good as ever. Pages bear no date. What tells them apart is
// that a living leaf lies wholly inside the stretch that is missing, and what the rows themselves say of their age.

// stray is a leaf to which nothing leads.
type stray struct {
	id          uint64
	bucket      string
	hole        *hole
	first, last []byte // keys
	doubtful    bool   // what is missing may have been a single leaf, and this is an older version of it
}

// Strays gives the rows of all leaves that may have been below a lost page of the survey to take: those may be older than
// what stands in their place. names are the buckets that they can be from. before is the survey of an earlier state, or
// nil: what it leads to is no stray. doubtful says that the leaf may be an older version of the one that was lost. A
// survey without holes has no strays.
func (s *Survey) Strays(names []string, before *Survey, take func(bucket string, doubtful bool, key, value []byte) error) error {
	if s.Whole() {
		return nil
	}
	if before != nil {
		maps.Copy(s.reached, before.reached)
		s.learn(before)
	}
	all, err := s.strays(names)
	if err != nil {
		return err
	}
	for _, one := range all {
		err := s.rows(one, func(bucket string, key, value []byte) error { return take(bucket, one.doubtful, key, value) })
		if err != nil {
			return err
		}
	}
	return nil
}

// strays finds the leaves that may have been below a lost page of the survey. names are the buckets they can be from.
func (s *Survey) strays(names []string) (all []stray, err error) {
	seeds := map[string]uint32{}
	for _, name := range names {
		seeds[name] = Seed([]byte(name))
	}
	for id := uint64(2); id < s.im.pages; id++ {
		if s.reached[id] {
			continue
		}
		p, err := s.leafAt(id)
		if err != nil {
			return nil, err
		}
		if p.count == 0 || !p.leaf || !p.sound() {
			continue
		}
		if one, ok := s.placed(p, seeds); ok {
			all = append(all, one)
		}
	}
	doubt(all)
	return all, nil
}

// leafAt reads a page that may be anything; what is no page has no elements.
func (s *Survey) leafAt(id uint64) (page, error) {
	p, err := s.im.read(id, 0)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnreadable) {
		return page{}, nil
	}
	return p, err
}

// placed says where a leaf belongs, if all its rows are sound and in one hole.
func (s *Survey) placed(p page, seeds map[string]uint32) (one stray, ok bool) {
	for name, seed := range seeds {
		t := &stretch{name: name, seed: seed}
		if fit, _ := t.fits(p, span{}); fit < p.count {
			continue
		}
		first, _ := p.element(0)
		last, _ := p.element(p.count - 1)
		h := s.around(name, first.key, last.key)
		if h == nil {
			return one, false
		}
		return stray{id: p.id, bucket: name, hole: h, first: bytes.Clone(first.key), last: bytes.Clone(last.key)}, true
	}
	return one, false
}

// doubt marks those for which the lost page may as well have been a single leaf: then they are its older versions. Two
// that lie apart from each other are more than one leaf was.
func doubt(all []stray) {
	apart := map[*hole]bool{}
	least := map[*hole][]byte{} // the last key of the stray that ends first
	for _, one := range all {
		if end := least[one.hole]; end == nil || bytes.Compare(one.last, end) < 0 {
			least[one.hole] = one.last
		}
	}
	for _, one := range all {
		apart[one.hole] = apart[one.hole] || bytes.Compare(one.first, least[one.hole]) > 0
	}
	for i, one := range all {
		all[i].doubtful = one.hole.kind == kindLeaf || one.hole.kind == kindUnknown && !apart[one.hole]
	}
}

// rows gives the rows of a stray to take.
func (s *Survey) rows(one stray, take RowFunc) error {
	p, err := s.leafAt(one.id)
	if err != nil {
		return err
	}
	for i := range p.count {
		e, err := p.element(i)
		if err == nil {
			err = take(one.bucket, e.key, e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// learn takes over from an earlier state what the lost first page of a bucket was: a branch, if that had several leaves.
func (s *Survey) learn(before *Survey) {
	for name, b := range s.Buckets {
		for i := range b.holes {
			h := &b.holes[i]
			if was := before.Buckets[name]; h.kind == kindUnknown && h.low == nil && h.high == nil && was != nil && was.leaves > 1 {
				h.kind = kindBranch
			}
		}
	}
}
