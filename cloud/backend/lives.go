package backend

import (
	"cmp"
	"slices"
	"time"
)

// A gateway writes its rows one start after the other, so the rows of a start end where
// those of the next begin. Two things break that. A gateway that was restored from a
// backup, or has lost its store, starts with a sequence that it has used: that is another
// life. A clone is a second gateway with the same id: a start goes on though a later one
// has begun. Its rows are handed on as contested, each once, and while that lasts nothing
// is acknowledged, for an acknowledgement of one would make the other forget.
//
// A row is known if its own start has handed it on, whatever others have under that
// sequence. Another life begins with nothing to acknowledge: what the gateway has from
// before it is asked for, and is not handed on again.

// contestTime is how long after the last contested row nothing is acknowledged.
const contestTime = time.Hour

// settleTime is how long after the first row of a start nothing is acknowledged: an earlier
// one of that start, which shows that another life has begun, may have been overtaken.
const settleTime = time.Second

// verdict is what a row is.
type verdict int

const (
	fresh     verdict = iota
	known             // it was handed on
	past              // it was handed on, and belongs to this life too
	reborn            // it begins another life
	contested         // somebody else with this id has written it
)

// start is what one start of a gateway has handed on.
type start struct {
	boot string
	life int
	rows ranges // never empty
}

func (s *start) first() uint64 { return s.rows[0].from }
func (s *start) last() uint64  { return s.rows[len(s.rows)-1].to }

// begun is the start of that name; nil: it is not remembered.
func (p *progress) begun(boot string) *start {
	if i := slices.IndexFunc(p.starts, func(s *start) bool { return s.boot == boot }); i >= 0 {
		return p.starts[i]
	}
	return nil
}

// judge says what a row is.
func (p *progress) judge(boot string, seq uint64) verdict {
	has, s := p.ranges.has(seq), p.begun(boot)
	switch {
	case boot == "" && has:
		return known
	case boot == "":
		return fresh
	case s == nil && p.forgotten(seq), s != nil && s.rows.has(seq):
		if has || s != nil && p.overtaken(s, seq) {
			return known
		}
		return past
	case s != nil && p.overtaken(s, seq):
		return contested
	case has && slices.ContainsFunc(p.starts, func(o *start) bool { return o.boot != boot && o.rows.covers(seq) }):
		return reborn
	}
	return fresh // also a row that was given up
}

// overtaken says whether another start had begun before this one can have written the row.
func (p *progress) overtaken(s *start, seq uint64) bool {
	return slices.ContainsFunc(p.starts, func(o *start) bool {
		later := o.life > s.life || o.life == s.life && o.first() > s.first()
		return later && seq >= o.first()
	})
}

// forgotten says whether a row is of a start that is not remembered any more.
func (p *progress) forgotten(seq uint64) bool {
	return seq <= p.forgot && !slices.ContainsFunc(p.starts, func(s *start) bool { return seq >= s.first() })
}

// newLife begins another life, with a start and those that have followed it.
func (p *progress) newLife(boot string) {
	p.life++
	p.reset, p.first, p.ranges = true, 0, nil
	s := p.begun(boot)
	if s == nil {
		return
	}
	for _, o := range p.starts {
		if o == s || o.life == s.life && o.first() > s.first() {
			o.life = p.life
			p.ranges.unify(o.rows)
		}
	}
}

// remember notes that a start has handed on a row.
func (p *progress) remember(boot string, seq uint64) {
	s := p.begun(boot)
	if s == nil {
		s = &start{boot: boot, life: p.life}
		p.starts = append(p.starts, s)
		p.began = true
	}
	s.rows.add(seq)
	p.bound(s)
}

// bound forgets starts if too much is remembered: of those that are acknowledged the one
// with the earliest rows, else the one with the earliest rows.
func (p *progress) bound(but *start) {
	n := 0
	for _, s := range p.starts {
		n += len(s.rows)
	}
	end, _ := p.end()
	for n > maxRanges {
		if len(p.starts) == 1 {
			but.rows.unite(0)
			return
		}
		old := slices.MinFunc(p.starts, func(x, y *start) int {
			return cmp.Or(whether(x == but)-whether(y == but), whether(x.last() > end)-whether(y.last() > end), cmp.Compare(x.first(), y.first()))
		})
		p.forgot = max(p.forgot, old.last())
		n -= len(old.rows)
		p.starts = slices.DeleteFunc(p.starts, func(s *start) bool { return s == old })
	}
}

func whether(is bool) int {
	if is {
		return 1
	}
	return 0
}
