package backend

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Progress is a set of sequences.
func TestProgressProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l progress
		model := map[uint64]bool{}
		for _, seq := range rapid.SliceOf(rapid.Uint64Range(1, 60)).Draw(t, "sequences") {
			if l.ranges.has(seq) != model[seq] {
				t.Fatalf("has %d: %v, want %v", seq, l.ranges.has(seq), model[seq])
			}
			l.add("b", seq)
			model[seq] = true
			for i := 1; i < len(l.ranges); i++ {
				if l.ranges[i].from <= l.ranges[i-1].to+1 {
					t.Fatalf("ranges %v touch", l.ranges)
				}
			}
		}
		for seq := range uint64(62) {
			if l.ranges.has(seq) != model[seq] {
				t.Fatalf("has %d: %v, want %v, in %v", seq, l.ranges.has(seq), model[seq], l.ranges)
			}
		}
	})
}

func TestProgressIsBounded(t *testing.T) {
	var l progress
	for i := range uint64(3 * maxRanges) {
		l.add("b", 2*i+1)
	}
	if len(l.ranges) != maxRanges || !l.ranges.has(2) || l.ranges.has(6*maxRanges-2) {
		t.Errorf("%d ranges", len(l.ranges))
	}
	for i := range 2 * maxRanges {
		l.add(fmt.Sprint("start-", i), 6*maxRanges+uint64(i))
	}
	if len(l.starts) > maxRanges || l.forgot == 0 || len(l.encode()) > 100_000 {
		t.Errorf("%d starts, %d bytes", len(l.starts), len(l.encode()))
	}
}
