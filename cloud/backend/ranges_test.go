package backend

import (
	"slices"
	"testing"
)

func TestRanges(t *testing.T) {
	var r ranges
	for _, seq := range []uint64{5, 3, 9, 4, 3, 10} {
		r.add(seq)
	}
	if want := (ranges{{3, 5}, {9, 10}}); !slices.Equal(r, want) || !slices.Equal(readRanges(r.keep()), want) {
		t.Fatalf("the ranges are %v, kept as %v, want %v", r, r.keep(), want)
	}
	for seq, want := range map[uint64]bool{2: false, 3: true, 4: true, 7: false, 10: true, 11: false} {
		if r.has(seq) != want {
			t.Errorf("%v has %d: %t, want %t", r, seq, !want, want)
		}
	}
}
