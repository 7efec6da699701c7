package pages

import (
	"cmp"
	"maps"
	"slices"
)

// Listing is the list of buckets as one page has it, with all pages below that one.
type Listing struct {
	Root uint64 // that page
	// Sequences are those of the buckets by name; 0 where no bucket comes so far.
	Sequences map[string]uint64
}

// rank orders listings by age: numbers of queues only rise.
func (l Listing) rank() (sum uint64) {
	for _, n := range l.Sequences {
		sum += n + 1
	}
	return sum
}

// Listings finds all lists of buckets in a file, those of earlier states too, the newest first. They name buckets that
// nothing else names, and a file that has lost both headers begins at one of them.
func (f File) Listings() ([]Listing, error) {
	s := &Survey{im: f.image()}
	leaves := map[uint64]Listing{}
	var above []Listing
	for _, leaf := range []bool{true, false} {
		for id := uint64(2); id < s.im.pages; id++ {
			p, err := s.leafAt(id)
			switch {
			case err != nil:
				return nil, err
			case p.count == 0 || p.leaf != leaf || !p.sound():
			case leaf:
				if one, ok := s.list(p); ok {
					leaves[id] = one
				}
			default:
				if one, ok := join(p, leaves); ok {
					above = append(above, one)
				}
			}
		}
	}
	all := append(above, slices.Collect(maps.Values(leaves))...)
	slices.SortFunc(all, func(a, b Listing) int {
		if a.rank() != b.rank() {
			return cmp.Compare(b.rank(), a.rank())
		}
		return cmp.Compare(a.Root, b.Root)
	})
	return all, nil
}

// list reads a leaf on which there are buckets and nothing else.
func (s *Survey) list(p page) (Listing, bool) {
	one := Listing{p.id, map[string]uint64{}}
	t := &stretch{s: s}
	for i := range p.count {
		e, err := p.element(i)
		if err != nil || !t.sound(e) {
			return one, false
		}
		one.Sequences[string(e.key)] = plausibleNumber(little.Uint64(e.value[8:]))
	}
	return one, true
}

// join is the listing of a branch all of whose children are lists.
func join(p page, leaves map[uint64]Listing) (Listing, bool) {
	one := Listing{p.id, map[string]uint64{}}
	for i := range p.count {
		e, err := p.element(i)
		child, ok := leaves[e.child]
		if err != nil || !ok {
			return one, false
		}
		maps.Copy(one.Sequences, child.Sequences)
	}
	return one, true
}

// plausibleNumber is the sequence of a bucket, or 0 if no bucket comes so far: numbers are sent as JSON, which is exact up
// to here, and nothing guards them on their page.
func plausibleNumber(n uint64) uint64 {
	if n >= 1<<52 {
		return 0
	}
	return n
}
