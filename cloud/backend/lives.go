package backend

import (
	"slices"
	"time"
)

// A gateway writes its rows one start after the other, so the rows of a start end where
// those of the next begin. Two things break that. A gateway that was restored from a
// backup, or has lost its store, starts with a sequence that it has used: that is another
// life. A clone is a second gateway with the same id: a start goes on though a later one
// has begun. Its rows are handed on as contested, each once, and while that lasts nothing
// is acknowledged, for an acknowledgement of one would make the other forget.

// contestTime is how long after the last contested row nothing is acknowledged.
const contestTime = time.Hour

// verdict is what a row is.
type verdict int

const (
	fresh     verdict = iota
	known             // it was handed on
	past              // it was handed on before this life, and belongs to both
	reborn            // it begins another life
	contested         // somebody else with this id has written it
)

// life is what is kept of an earlier life.
type life struct {
	ranges []span
	spans  map[string]span
}

// took says whether a row was handed on in that life.
func (b *life) took(boot string, seq uint64) bool {
	s, ok := b.spans[boot]
	return ok && seq >= s.from && seq <= s.to && (&progress{ranges: b.ranges}).has(seq)
}

// judge says what a row is.
func (l *progress) judge(boot string, seq uint64) verdict {
	knows := slices.Contains(l.boots, boot)
	switch {
	case l.aside[boot] != nil && l.aside[boot].has(seq):
		return known
	case boot != "" && l.before != nil && l.before.took(boot, seq):
		if seq < l.start() && !l.has(seq) {
			return past
		}
		return known
	case boot != "" && l.succeeded(boot, seq):
		return contested
	case !l.has(seq):
		return fresh
	case boot != "" && !knows:
		return reborn
	}
	return known
}

// succeeded says whether another start had begun before this one can have written the row.
func (l *progress) succeeded(boot string, seq uint64) bool {
	own, ok := l.spans[boot]
	if !ok {
		if l.before == nil || slices.Contains(l.boots, boot) {
			return false
		}
		_, ok = l.before.spans[boot]
		return ok && seq >= l.start()
	}
	for other, s := range l.spans {
		if other != boot && s.from > own.from && seq >= s.from {
			return true
		}
	}
	return false
}

// start is the first row of a start that began in this life.
func (l *progress) start() uint64 {
	first := uint64(0)
	for boot, s := range l.spans {
		if _, old := l.before.spans[boot]; !old && (first == 0 || s.from < first) {
			first = s.from
		}
	}
	return first
}

// begin begins another life.
func (l *progress) begin() {
	*l = progress{anew: true, before: &life{l.ranges, l.spans}, aside: l.aside, contested: l.contested}
}

// putAside notes a contested row.
func (l *progress) putAside(boot string, seq uint64, now time.Time) {
	if l.aside == nil {
		l.aside = map[string]*progress{}
	}
	if l.aside[boot] == nil {
		if len(l.aside) >= maxBoots {
			clear(l.aside)
		}
		l.aside[boot] = &progress{}
	}
	l.aside[boot].add("", seq)
	l.contested = now
}

// extend notes that a start has written a row.
func (l *progress) extend(boot string, seq uint64) {
	if l.spans == nil {
		l.spans = map[string]span{}
	}
	s, ok := l.spans[boot]
	if !ok {
		s = span{seq, seq}
	}
	l.spans[boot] = span{min(s.from, seq), max(s.to, seq)}
	for old := range l.spans {
		if !slices.Contains(l.boots, old) {
			delete(l.spans, old)
		}
	}
}
