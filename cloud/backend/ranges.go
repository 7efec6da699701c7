package backend

import "slices"

// maxRanges bounds how many stretches of rows are told apart.
const maxRanges = 1024

// span is a stretch of sequences, both ends included; the zero span is none.
type span struct{ from, to uint64 }

// ranges is a set of rows: its spans ascend and never touch.
type ranges []span

func (r ranges) has(seq uint64) bool {
	i, ok := r.find(seq)
	return ok && r[i].from <= seq
}

// find returns the first span that does not end before seq.
func (r ranges) find(seq uint64) (i int, ok bool) {
	i, _ = slices.BinarySearchFunc(r, seq, func(s span, seq uint64) int {
		if s.to < seq {
			return -1
		}
		return 1
	})
	return i, i < len(r)
}

// add puts a row in. With too many gaps the oldest is closed; first is as for end.
func (r *ranges) add(seq, first uint64) {
	i, ok := r.find(seq)
	if ok && (*r)[i].from <= seq {
		return
	}
	*r = slices.Insert(*r, i, span{seq, seq})
	r.join(i)
	if i > 0 {
		r.join(i - 1)
	}
	if len(*r) > maxRanges {
		r.closeFirst(first)
	}
}

// join unites span i with the next if they touch.
func (r *ranges) join(i int) {
	all := *r
	if i+1 < len(all) && all[i].to+1 == all[i+1].from {
		all[i].to = all[i+1].to
		*r = slices.Delete(all, i+1, i+2)
	}
}

// end is the row up to which none is missing, and the place of the first span beyond it. The rows before first are not
// missed; 0 is as 1.
func (r ranges) end(first uint64) (end uint64, beyond int) {
	end = max(first, 1) - 1
	for beyond < len(r) && r[beyond].from <= end+1 {
		end = max(end, r[beyond].to)
		beyond++
	}
	return end, beyond
}

// closeFirst takes the first gap for filled.
func (r *ranges) closeFirst(first uint64) {
	all := *r
	_, beyond := all.end(first)
	if beyond == len(all) {
		beyond = 1 // none is missing: the oldest two spans become one
	}
	if beyond == 0 {
		all[0].from = max(first, 1)
		return
	}
	all[beyond].from = all[beyond-1].from
	*r = slices.Delete(all, beyond-1, beyond)
}

// keep is the set as a Ledger keeps it.
func (r ranges) keep() (kept [][2]uint64) {
	for _, s := range r {
		kept = append(kept, [2]uint64{s.from, s.to})
	}
	return kept
}

// readRanges is what keep has written.
func readRanges(kept [][2]uint64) (r ranges) {
	for _, s := range kept {
		r = append(r, span{s[0], s[1]})
	}
	return r
}
