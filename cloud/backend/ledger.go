package backend

import (
	"slices"
	"time"
)

// How long a gap is borne before it is asked for, how often it is asked for,
// and before it is given up.
const (
	askAfter    = 5 * time.Second
	askEvery    = 15 * time.Second
	giveUpAfter = time.Minute
)

// The bounds of a ledger.
const (
	maxRanges = 1024
	maxBoots  = 16
)

// span is a stretch of sequences, both ends included; the zero span is none.
type span struct{ from, to uint64 }

// ledger is which rows of a gateway have been handed on.
type ledger struct {
	ranges []span // ascending, never touching
	boots  []string
	acked  uint64
	again  bool // a row came that had been acknowledged

	gap   span      // the first gap, which what follows is about
	since time.Time // it is known
	asked time.Time // it was last asked for
	above time.Time // a row from above it came
}

func (l *ledger) has(seq uint64) bool {
	i, ok := l.find(seq)
	return ok && l.ranges[i].from <= seq
}

// find returns the first range that does not end before seq.
func (l *ledger) find(seq uint64) (i int, ok bool) {
	i, _ = slices.BinarySearchFunc(l.ranges, seq, func(r span, seq uint64) int {
		if r.to < seq {
			return -1
		}
		return 1
	})
	return i, i < len(l.ranges)
}

// add notes a row. With too many gaps the oldest is closed.
func (l *ledger) add(boot string, seq uint64) {
	if !slices.Contains(l.boots, boot) {
		l.boots = append(l.boots, boot)
		l.boots = l.boots[max(0, len(l.boots)-maxBoots):]
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
func (l *ledger) join(i int) {
	if i+1 < len(l.ranges) && l.ranges[i].to+1 == l.ranges[i+1].from {
		l.ranges[i].to = l.ranges[i+1].to
		l.ranges = slices.Delete(l.ranges, i+1, i+2)
	}
}

// restarted says that a gateway counts from the beginning again: its store
// was lost. Sequences rise over its starts, so a start that we do not know
// cannot bring one that we have passed.
func (l *ledger) restarted(boot string, seq uint64) bool {
	return len(l.ranges) > 0 && boot != "" && !slices.Contains(l.boots, boot) && seq <= l.ranges[len(l.ranges)-1].to
}

// due is the sequence to acknowledge, 0 for none.
func (l *ledger) due() uint64 {
	if len(l.ranges) == 0 || (l.ranges[0].to <= l.acked && !l.again) {
		return 0
	}
	return l.ranges[0].to
}

func (l *ledger) acknowledged(seq uint64) {
	l.acked, l.again = seq, false
}

// firstGap is the gap that holds up the acknowledgement.
func (l *ledger) firstGap(now time.Time) span {
	if len(l.ranges) < 2 {
		l.gap = span{}
		return l.gap
	}
	gap := span{l.ranges[0].to + 1, l.ranges[1].from - 1}
	if gap != l.gap {
		l.gap, l.since, l.asked, l.above = gap, now, time.Time{}, time.Time{}
	}
	return gap
}

// saw notes that a row came, handed on or not.
func (l *ledger) saw(seq uint64, now time.Time) {
	if gap := l.firstGap(now); gap.to > 0 && seq > gap.to {
		l.above = now
	}
}

// gapToAsk is the gap to ask for now, if it is time to.
func (l *ledger) gapToAsk(now time.Time) span {
	gap := l.firstGap(now)
	if gap.to == 0 || now.Sub(l.since) < askAfter || now.Sub(l.asked) < askEvery {
		return span{}
	}
	l.asked = now
	return gap
}

// giveUp closes a gap that nobody filled and returns it. The gateway must
// have been heard since: it sends rows in order, so one that comes from above
// the gap after it was asked for shows that the gateway has passed it over. A
// gateway that is away may still have the rows.
func (l *ledger) giveUp(now time.Time) span {
	gap := l.firstGap(now)
	if gap.to == 0 || l.asked.IsZero() || now.Sub(l.since) < giveUpAfter || l.above.Sub(l.asked) < askAfter {
		return span{}
	}
	l.closeFirst()
	return gap
}

func (l *ledger) closeFirst() {
	l.ranges[1].from = l.ranges[0].from
	l.ranges = l.ranges[1:]
}
