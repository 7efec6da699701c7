package backend

import (
	"slices"
	"testing"
)

func TestRanges(t *testing.T) {
	var r ranges
	for _, seq := range []uint64{5, 3, 9, 4, 3, 10} {
		r.add(seq, 0)
	}
	if want := (ranges{{3, 5}, {9, 10}}); !slices.Equal(r, want) || !slices.Equal(readRanges(r.keep()), want) {
		t.Fatalf("the ranges are %v, kept as %v, want %v", r, r.keep(), want)
	}
	for seq, want := range map[uint64]bool{2: false, 3: true, 4: true, 7: false, 10: true, 11: false} {
		if r.has(seq) != want {
			t.Errorf("%v has %d: %t, want %t", r, seq, !want, want)
		}
	}
	for _, c := range []struct {
		first, end uint64
		beyond     int
		closed     ranges // by closeFirst
	}{
		{0, 0, 0, ranges{{1, 5}, {9, 10}}},
		{2, 1, 0, ranges{{2, 5}, {9, 10}}},
		{3, 5, 1, ranges{{3, 10}}},
		{9, 10, 2, ranges{{3, 10}}},
	} {
		end, beyond := r.end(c.first)
		closed := slices.Clone(r)
		closed.closeFirst(c.first)
		if end != c.end || beyond != c.beyond || !slices.Equal(closed, c.closed) {
			t.Errorf("from %d on: to %d, beyond %d, closed %v, want %d, %d, %v", c.first, end, beyond, closed, c.end, c.beyond, c.closed)
		}
	}
}
