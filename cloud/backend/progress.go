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

// The bounds of what is remembered of a gateway.
const (
	maxRanges = 1024
	maxBoots  = 16
)

// span is a stretch of sequences, both ends included; the zero span is none.
type span struct{ from, to uint64 }

// progress is which rows of a gateway have been handed on.
type progress struct {
	ranges []span // ascending, never touching
	boots  []string
	acked  uint64
	again  bool   // a row came that had been acknowledged
	anew   bool   // the gateway counts from the beginning again
	first  uint64 // row that the gateway kept for us when we met: those before were acknowledged by somebody; 0: it has not said

	spans     map[string]span      // the rows of each start
	before    *life                // the life before this one, if there was one
	aside     map[string]*progress // contested rows, by start
	contested time.Time            // when the last of them came

	gap   span      // the first gap, which what follows is about
	since time.Time // it is known
	asked time.Time // it was last asked for
	above time.Time // a row from above it came
}

func (l *progress) has(seq uint64) bool {
	i, ok := l.find(seq)
	return ok && l.ranges[i].from <= seq
}

// find returns the first range that does not end before seq.
func (l *progress) find(seq uint64) (i int, ok bool) {
	i, _ = slices.BinarySearchFunc(l.ranges, seq, func(r span, seq uint64) int {
		if r.to < seq {
			return -1
		}
		return 1
	})
	return i, i < len(l.ranges)
}

// add notes a row. With too many gaps the oldest is closed.
func (l *progress) add(boot string, seq uint64) {
	if !slices.Contains(l.boots, boot) {
		l.boots = append(l.boots, boot)
		l.boots = l.boots[max(0, len(l.boots)-maxBoots):]
	}
	if boot != "" {
		l.extend(boot, seq)
	}
	i, ok := l.find(seq)
	if ok && l.ranges[i].from <= seq {
		return
	}
	l.ranges = slices.Insert(l.ranges, i, span{seq, seq})
	l.join(i)
	if i > 0 {
		l.join(i - 1)
	}
	if len(l.ranges) > maxRanges {
		l.closeFirst()
	}
}

// join unites range i with the next if they touch.
func (l *progress) join(i int) {
	if i+1 < len(l.ranges) && l.ranges[i].to+1 == l.ranges[i+1].from {
		l.ranges[i].to = l.ranges[i+1].to
		l.ranges = slices.Delete(l.ranges, i+1, i+2)
	}
}

// due is the sequence to acknowledge, 0 for none.
func (l *progress) due() uint64 {
	end, _ := l.end()
	if len(l.ranges) == 0 || end <= l.acked && !l.again {
		return 0
	}
	return end
}

func (l *progress) acknowledged(seq uint64) {
	l.acked, l.again = seq, false
}

// firstGap returns the gap that holds up the acknowledgement, and notes since when it is
// known.
func (l *progress) firstGap(now time.Time) span {
	gap := l.missing()
	if gap.to == 0 {
		l.gap = gap
	} else if gap != l.gap {
		l.gap, l.since, l.asked, l.above = gap, now, time.Time{}, time.Time{}
	}
	return gap
}

// end is the row up to which we need no other, and the place of the first range beyond it.
func (l *progress) end() (end uint64, beyond int) {
	end = max(l.first, 1) - 1
	for beyond < len(l.ranges) && l.ranges[beyond].from <= end+1 {
		end = max(end, l.ranges[beyond].to)
		beyond++
	}
	return end, beyond
}

// missing is the first gap, which may be before all that we have; the zero span is none.
func (l *progress) missing() span {
	end, beyond := l.end()
	if beyond == len(l.ranges) {
		return span{}
	}
	return span{end + 1, l.ranges[beyond].from - 1}
}

// patience is how long the gap is borne.
func (l *progress) patience() time.Duration {
	if l.gap.from == 1 && l.first == 0 {
		return baseAfter
	}
	return askAfter
}

// saw notes that a row came, handed on or not.
func (l *progress) saw(seq uint64, now time.Time) {
	if gap := l.firstGap(now); gap.to > 0 && seq > gap.to {
		l.above = now
	}
}

// gapToAsk is the gap to ask for now, if it is time to.
func (l *progress) gapToAsk(now time.Time) span {
	gap := l.firstGap(now)
	if gap.to == 0 || now.Sub(l.since) < l.patience() || now.Sub(l.asked) < askEvery {
		return span{}
	}
	l.asked = now
	return gap
}

// lost is a gap that nobody will fill; the zero span is none. The gateway must
// have been heard since: it sends rows in order, so one that comes from above
// the gap after it was asked for shows that the gateway has passed it over. A
// gateway that is away may still have the rows.
func (l *progress) lost(now time.Time) span {
	gap := l.firstGap(now)
	if gap.to == 0 || l.asked.IsZero() || now.Sub(l.since) < giveUpAfter || l.above.Sub(l.asked) < askAfter {
		return span{}
	}
	return gap
}

// close closes the first gap, if it is that one still.
func (l *progress) close(gap span) {
	if gap == l.missing() {
		l.closeFirst()
	}
}

func (l *progress) closeFirst() {
	_, beyond := l.end()
	if beyond == len(l.ranges) {
		beyond = 1 // none is missing: the oldest two ranges become one
	}
	if beyond == 0 {
		l.ranges[0].from = max(l.first, 1)
		return
	}
	l.ranges[beyond].from = l.ranges[beyond-1].from
	l.ranges = slices.Delete(l.ranges, beyond-1, beyond)
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

func (l *progress) encode() []byte {
	text, _ := json.Marshal(l.keep()) // texts and numbers always can be encoded
	return text
}

func (l *progress) keep() *kept {
	k := &kept{Boots: l.boots, First: l.first, Contested: l.contested}
	for _, r := range l.ranges {
		k.Ranges = append(k.Ranges, [2]uint64{r.from, r.to})
	}
	for boot, s := range l.spans {
		if k.Spans == nil {
			k.Spans = map[string][2]uint64{}
		}
		k.Spans[boot] = [2]uint64{s.from, s.to}
	}
	if l.before != nil {
		k.Before = (&progress{ranges: l.before.ranges, spans: l.before.spans}).keep()
	}
	for boot, a := range l.aside {
		if k.Aside == nil {
			k.Aside = map[string]*kept{}
		}
		k.Aside[boot] = a.keep()
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
	l := &progress{boots: k.Boots, first: k.First, contested: k.Contested}
	for _, r := range k.Ranges {
		l.ranges = append(l.ranges, span{r[0], r[1]})
	}
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
			l.aside = map[string]*progress{}
		}
		l.aside[boot] = a.progress()
	}
	return l
}
