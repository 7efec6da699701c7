package store

import (
	"cmp"
	"io"
	"maps"
	"slices"
)

// listing is the list of buckets as one page has it, with all pages below that one.
type listing struct {
	root      uint64
	sequences map[string]uint64 // by the bucket's name
}

// rank orders listings by age: numbers of queues only rise.
func (l listing) rank() (sum uint64) {
	for _, n := range l.sequences {
		sum += n + 1
	}
	return sum
}

// listings finds all lists of buckets in a file, those of earlier states too, the newest first. They name buckets that
// nothing else names, and a file that has lost both headers begins at one of them.
func listings(file io.ReaderAt, size int64) ([]listing, error) {
	s := &survey{im: pagesOf(file, size)}
	leaves := map[uint64]listing{}
	var above []listing
	for _, leaf := range []bool{true, false} {
		for id := uint64(2); id < s.im.meta.pages; id++ {
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
	slices.SortFunc(all, func(a, b listing) int {
		if a.rank() != b.rank() {
			return cmp.Compare(b.rank(), a.rank())
		}
		return cmp.Compare(a.root, b.root)
	})
	return all, nil
}

// list reads a leaf on which there are buckets and nothing else.
func (s *survey) list(p page) (listing, bool) {
	one := listing{p.id, map[string]uint64{}}
	t := &stretch{s: s}
	for i := range p.count {
		e, err := p.element(i)
		if err != nil || !t.sound(e) {
			return one, false
		}
		one.sequences[string(e.key)] = plausibleNumber(little.Uint64(e.value[8:]))
	}
	return one, true
}

// join is the listing of a branch all of whose children are lists.
func join(p page, leaves map[uint64]listing) (listing, bool) {
	one := listing{p.id, map[string]uint64{}}
	for i := range p.count {
		e, err := p.element(i)
		child, ok := leaves[e.child]
		if err != nil || !ok {
			return one, false
		}
		maps.Copy(one.sequences, child.sequences)
	}
	return one, true
}

// plausibleNumber is the number of a queue, or 0 if no queue comes so far: numbers are sent as JSON, which is exact up
// to here, and nothing guards them on their page.
func plausibleNumber(n uint64) uint64 {
	if n >= 1<<52 {
		return 0
	}
	return n
}

// metaRoots are the roots that the sound headers of a file name, the newest first.
func metaRoots(file io.ReaderAt) (ids []uint64) {
	var metas []meta
	for i := range int64(2) {
		raw := make([]byte, metaSize)
		if _, err := file.ReadAt(raw, i*pageSize+pageHeader); err != nil {
			continue
		}
		if m, ok := parseMeta(raw); ok {
			metas = append(metas, m)
		}
	}
	slices.SortFunc(metas, func(a, b meta) int { return cmp.Compare(b.txid, a.txid) })
	for _, m := range metas {
		ids = append(ids, m.root)
	}
	return ids
}
