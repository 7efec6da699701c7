package backend

import (
	"encoding/json"
	"slices"
	"time"
)

// How long a gap is borne before it is asked for, how often it is asked for, and when it
// is given up.
const (
	askAfter    = 5 * time.Second
	baseAfter   = 45 * time.Second // before the first row that we have: a heartbeat tells whether there was any
	askEvery    = 15 * time.Second
	giveUpAfter = time.Minute
)

// maxBoots bounds how many starts of a gateway are remembered.
const maxBoots = 16

// progress is which rows of a gateway have been handed on.
type progress struct {
	ranges ranges
	boots  []string
	acked  uint64
	again  bool   // a row came that had been acknowledged
	reset  bool   // the gateway counts from the beginning again
	first  uint64 // row that the gateway kept for us when we met: those before were acknowledged by somebody; 0: it has not said

	spans     map[string]span   // the rows of each start
	before    *life             // the life before this one, if there was one
	aside     map[string]ranges // contested rows, by start
	contested time.Time         // when the last of them came

	gap   span      // the first gap, which what follows is about
	since time.Time // it is known
	asked time.Time // it was last asked for
	above time.Time // a row from above it came
}

func (p *progress) has(seq uint64) bool { return p.ranges.has(seq) }

// add notes a row of a start.
func (p *progress) add(boot string, seq uint64) {
	if !slices.Contains(p.boots, boot) {
		p.boots = append(p.boots, boot)
		p.boots = p.boots[max(0, len(p.boots)-maxBoots):]
	}
	if boot != "" {
		p.extend(boot, seq)
	}
	p.ranges.add(seq, p.first)
}

// due is the sequence to acknowledge, 0 for none.
func (p *progress) due() uint64 {
	end, _ := p.ranges.end(p.first)
	if len(p.ranges) == 0 || end <= p.acked && !p.again {
		return 0
	}
	return end
}

func (p *progress) acknowledged(seq uint64) {
	p.acked, p.again = seq, false
}

// firstGap returns the gap that holds up the acknowledgement, and notes since when it is
// known.
func (p *progress) firstGap(now time.Time) span {
	gap := p.missing()
	if gap.to == 0 {
		p.gap = gap
	} else if gap != p.gap {
		p.gap, p.since, p.asked, p.above = gap, now, time.Time{}, time.Time{}
	}
	return gap
}

// missing is the first gap, which may be before all that we have; the zero span is none.
func (p *progress) missing() span {
	end, beyond := p.ranges.end(p.first)
	if beyond == len(p.ranges) {
		return span{}
	}
	return span{end + 1, p.ranges[beyond].from - 1}
}

// patience is how long the gap is borne.
func (p *progress) patience() time.Duration {
	if p.gap.from == 1 && p.first == 0 {
		return baseAfter
	}
	return askAfter
}

// saw notes that a row came, handed on or not.
func (p *progress) saw(seq uint64, now time.Time) {
	if gap := p.firstGap(now); gap.to > 0 && seq > gap.to {
		p.above = now
	}
}

// gapToAsk is the gap to ask for now, if it is time to.
func (p *progress) gapToAsk(now time.Time) span {
	gap := p.firstGap(now)
	if gap.to == 0 || now.Sub(p.since) < p.patience() || now.Sub(p.asked) < askEvery {
		return span{}
	}
	p.asked = now
	return gap
}

// lost is a gap that nobody will fill; the zero span is none. The gateway must
// have been heard since: it sends rows in order, so one that comes from above
// the gap after it was asked for shows that the gateway has passed it over. A
// gateway that is away may still have the rows.
func (p *progress) lost(now time.Time) span {
	gap := p.firstGap(now)
	if gap.to == 0 || p.asked.IsZero() || now.Sub(p.since) < giveUpAfter || p.above.Sub(p.asked) < askAfter {
		return span{}
	}
	return gap
}

// close closes the first gap, if it is that one still.
func (p *progress) close(gap span) {
	if gap == p.missing() {
		p.ranges.closeFirst(p.first)
	}
}

// kept is what a Ledger keeps of it.
type kept struct {
	Ranges    [][2]uint64          `json:"ranges"`
	Boots     []string             `json:"boots,omitempty"`
	First     uint64               `json:"first,omitempty"`
	Spans     map[string][2]uint64 `json:"spans,omitempty"`
	Before    *kept                `json:"before,omitempty"`
	Aside     map[string]*kept     `json:"aside,omitempty"`
	Contested time.Time            `json:"contested,omitzero"`
}

func (p *progress) encode() []byte {
	text, _ := json.Marshal(p.keep()) // texts and numbers always can be encoded
	return text
}

func (p *progress) keep() *kept {
	k := &kept{Ranges: p.ranges.keep(), Boots: p.boots, First: p.first, Contested: p.contested}
	for boot, s := range p.spans {
		if k.Spans == nil {
			k.Spans = map[string][2]uint64{}
		}
		k.Spans[boot] = [2]uint64{s.from, s.to}
	}
	if p.before != nil {
		k.Before = (&progress{ranges: p.before.ranges, spans: p.before.spans}).keep()
	}
	for boot, a := range p.aside {
		if k.Aside == nil {
			k.Aside = map[string]*kept{}
		}
		k.Aside[boot] = &kept{Ranges: a.keep()}
	}
	return k
}

// readProgress is what encode has written; nothing is the progress of a gateway that was
// never heard.
func readProgress(text []byte) (*progress, error) {
	var k kept
	if len(text) > 0 {
		if err := json.Unmarshal(text, &k); err != nil {
			return nil, err
		}
	}
	return k.progress(), nil
}

func (k *kept) progress() *progress {
	l := &progress{ranges: readRanges(k.Ranges), boots: k.Boots, first: k.First, contested: k.Contested}
	for boot, s := range k.Spans {
		if l.spans == nil {
			l.spans = map[string]span{}
		}
		l.spans[boot] = span{s[0], s[1]}
	}
	if k.Before != nil {
		b := k.Before.progress()
		l.before = &life{b.ranges, b.spans}
	}
	for boot, a := range k.Aside {
		if l.aside == nil {
			l.aside = map[string]ranges{}
		}
		l.aside[boot] = readRanges(a.Ranges)
	}
	return l
}
