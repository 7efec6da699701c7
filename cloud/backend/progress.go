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

// maxRanges bounds the stretches of all rows of a gateway, and those of all its starts together.
const maxRanges = 1024

// progress is which rows of a gateway have been handed on.
type progress struct {
	ranges ranges // of this life
	acked  uint64
	again  bool   // a row came that had been acknowledged
	heard  uint64 // the last row since the gateway has connected: what it has beyond that, it may have from another life
	reset  bool   // the gateway counts from the beginning again
	first  uint64 // row that the gateway kept for us when we met: those before were acknowledged by somebody; 0: it has not said

	starts    []*start
	life      int       // of the newest
	forgot    uint64    // up to here are rows of starts that are not remembered
	began     bool      // a start was not known before
	settled   time.Time // when the first row of the newest start has been known long enough
	contested time.Time // when the last contested row came

	gap   span      // the first gap, which what follows is about
	since time.Time // it is known
	asked time.Time // it was last asked for
	above time.Time // a row from above it came
}

// add notes a row of this life. With too many gaps the oldest is closed.
func (p *progress) add(boot string, seq uint64) {
	p.ranges.add(seq)
	if len(p.ranges) > maxRanges {
		p.closeFirst()
	}
	if boot != "" {
		p.remember(boot, seq)
	}
}

// due is the sequence to acknowledge, 0 for none.
func (p *progress) due() uint64 {
	end, _ := p.end()
	end = min(end, p.heard)
	if len(p.ranges) == 0 || end == 0 || end <= p.acked && !p.again {
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

// end is the row up to which we need no other, and the place of the first range beyond it.
func (p *progress) end() (end uint64, beyond int) {
	end = max(p.first, 1) - 1
	for beyond < len(p.ranges) && p.ranges[beyond].from <= end+1 {
		end = max(end, p.ranges[beyond].to)
		beyond++
	}
	return end, beyond
}

// missing is the first gap, which may be before all that we have; the zero span is none.
func (p *progress) missing() span {
	end, beyond := p.end()
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
	p.heard = max(p.heard, seq)
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
		p.closeFirst()
	}
}

func (p *progress) closeFirst() {
	_, beyond := p.end()
	if beyond == len(p.ranges) {
		beyond = 1 // none is missing: the oldest two ranges become one
	}
	if beyond == 0 {
		p.ranges[0].from = max(p.first, 1)
		return
	}
	p.ranges[beyond].from = p.ranges[beyond-1].from
	p.ranges = slices.Delete(p.ranges, beyond-1, beyond)
}

// kept is what a Ledger keeps of it.
type kept struct {
	Ranges    [][2]uint64 `json:"ranges"`
	Boots     []string    `json:"boots,omitempty"` // of earlier releases: starts, each of which may have written any of the ranges
	Starts    []keptStart `json:"starts,omitempty"`
	Life      int         `json:"life,omitempty"`
	Forgot    uint64      `json:"forgot,omitempty"`
	First     uint64      `json:"first,omitempty"`
	Contested time.Time   `json:"contested,omitzero"`
}

type keptStart struct {
	Boot string      `json:"boot"`
	Life int         `json:"life,omitempty"`
	Rows [][2]uint64 `json:"rows"`
}

func (p *progress) encode() []byte {
	k := kept{Ranges: p.ranges.keep(), Life: p.life, Forgot: p.forgot, First: p.first, Contested: p.contested}
	for _, s := range p.starts {
		k.Starts = append(k.Starts, keptStart{s.boot, s.life, s.rows.keep()})
	}
	text, _ := json.Marshal(k) // texts and numbers always can be encoded
	return text
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
	p := &progress{ranges: readRanges(k.Ranges), life: k.Life, forgot: k.Forgot, first: k.First, contested: k.Contested}
	for _, s := range k.Starts {
		if len(s.Rows) > 0 {
			p.starts = append(p.starts, &start{s.Boot, s.Life, readRanges(s.Rows)})
		}
	}
	for _, boot := range k.Boots {
		if boot != "" && len(k.Ranges) > 0 {
			p.starts = append(p.starts, &start{boot: boot, rows: readRanges(k.Ranges)})
			p.bound(p.starts[len(p.starts)-1])
		}
	}
	return p, nil
}
