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
	ranges ranges
	spans  map[string]span
}

// took says whether a row was handed on in that life.
func (b *life) took(boot string, seq uint64) bool {
	s, ok := b.spans[boot]
	return ok && seq >= s.from && seq <= s.to && b.ranges.has(seq)
}

// judge says what a row is.
func (p *progress) judge(boot string, seq uint64) verdict {
	knows := slices.Contains(p.boots, boot)
	switch {
	case p.aside[boot].has(seq):
		return known
	case boot != "" && p.before != nil && p.before.took(boot, seq):
		if seq < p.start() && !p.has(seq) {
			return past
		}
		return known
	case boot != "" && p.overtaken(boot, seq):
		return contested
	case !p.has(seq):
		return fresh
	case boot != "" && !knows:
		return reborn
	}
	return known
}

// overtaken says whether another start had begun before this one can have written the row.
func (p *progress) overtaken(boot string, seq uint64) bool {
	own, ok := p.spans[boot]
	if !ok {
		if p.before == nil || slices.Contains(p.boots, boot) {
			return false
		}
		_, ok = p.before.spans[boot]
		return ok && seq >= p.start()
	}
	for other, s := range p.spans {
		if other != boot && s.from > own.from && seq >= s.from {
			return true
		}
	}
	return false
}

// start is the first row of a start that began in this life.
func (p *progress) start() uint64 {
	first := uint64(0)
	for boot, s := range p.spans {
		if _, old := p.before.spans[boot]; !old && (first == 0 || s.from < first) {
			first = s.from
		}
	}
	return first
}

// newLife begins another life.
func (p *progress) newLife() {
	*p = progress{reset: true, before: &life{p.ranges, p.spans}, aside: p.aside, contested: p.contested}
}

// putAside notes a contested row.
func (p *progress) putAside(boot string, seq uint64, now time.Time) {
	if p.aside == nil {
		p.aside = map[string]ranges{}
	}
	if p.aside[boot] == nil && len(p.aside) >= maxBoots {
		clear(p.aside)
	}
	rows := p.aside[boot]
	rows.add(seq, 0)
	p.aside[boot] = rows
	p.contested = now
}

// extend notes that a start has written a row.
func (p *progress) extend(boot string, seq uint64) {
	if p.spans == nil {
		p.spans = map[string]span{}
	}
	s, ok := p.spans[boot]
	if !ok {
		s = span{seq, seq}
	}
	p.spans[boot] = span{min(s.from, seq), max(s.to, seq)}
	for old := range p.spans {
		if !slices.Contains(p.boots, old) {
			delete(p.spans, old)
		}
	}
}
