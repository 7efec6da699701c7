package backend

import (
	"cmp"
	"slices"
)

// span is a stretch of sequences, both ends included; the zero span is none.
type span struct{ from, to uint64 }

// ranges are sequences: stretches that ascend and never touch.
type ranges []span

func (r ranges) has(seq uint64) bool {
	i, ok := r.find(seq)
	return ok && r[i].from <= seq
}

// covers says whether a sequence is between the first and the last.
func (r ranges) covers(seq uint64) bool {
	return len(r) > 0 && seq >= r[0].from && seq <= r[len(r)-1].to
}

// find returns the first stretch that does not end before seq.
func (r ranges) find(seq uint64) (i int, ok bool) {
	i, _ = slices.BinarySearchFunc(r, seq, func(r span, seq uint64) int {
		if r.to < seq {
			return -1
		}
		return 1
	})
	return i, i < len(r)
}

// add adds a sequence.
func (r *ranges) add(seq uint64) {
	i, ok := r.find(seq)
	if ok && (*r)[i].from <= seq {
		return
	}
	*r = slices.Insert(*r, i, span{seq, seq})
	r.join(i)
	if i > 0 {
		r.join(i - 1)
	}
}

// join unites stretch i with the next if they touch.
func (r *ranges) join(i int) {
	if i+1 < len(*r) && (*r)[i].to+1 == (*r)[i+1].from {
		r.unite(i)
	}
}

// unite makes stretch i and the next one.
func (r *ranges) unite(i int) {
	(*r)[i].to = (*r)[i+1].to
	*r = slices.Delete(*r, i+1, i+2)
}

func (r ranges) keep() (pairs [][2]uint64) {
	for _, s := range r {
		pairs = append(pairs, [2]uint64{s.from, s.to})
	}
	return pairs
}

func readRanges(pairs [][2]uint64) (r ranges) {
	for _, p := range pairs {
		r = append(r, span{p[0], p[1]})
	}
	return r
}

// unify adds the sequences of others.
func (r *ranges) unify(others ranges) {
	all := slices.Concat(*r, others)
	slices.SortFunc(all, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	*r = nil
	for _, s := range all {
		if n := len(*r); n > 0 && s.from <= (*r)[n-1].to+1 {
			(*r)[n-1].to = max((*r)[n-1].to, s.to)
		} else {
			*r = append(*r, s)
		}
	}
}
