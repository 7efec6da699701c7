package schedule

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
)

// TestNoRevisionShutsTheCloudOut: one message with a revision that nobody can follow
// changes nothing, and real ways to count go on.
func TestNoRevisionShutsTheCloudOut(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for what, c := range map[string]struct {
		before, next int64 // 0: none before
		want         string
	}{
		"the highest at first":             {0, booking.MaxRevision, "rejected revision is "},
		"the highest later":                {6, booking.MaxRevision, "rejected revision is "},
		"the highest after nanoseconds":    {now.UnixNano(), math.MaxInt64, "rejected revision is "},
		"a jump":                           {6, 6 + maxJump + 1, "rejected revision is "},
		"the furthest":                     {6, 6 + maxJump, "done"},
		"counted, then in milliseconds":    {6, now.UnixMilli(), "done"},
		"milliseconds at first":            {0, now.UnixMilli(), "done"},
		"milliseconds after ten years":     {now.UnixMilli(), now.AddDate(10, 0, 0).UnixMilli(), "done"},
		"nanoseconds at first":             {0, now.UnixNano(), "done"},
		"nanoseconds after a year":         {now.UnixNano(), now.AddDate(1, 0, 0).UnixNano(), "done"},
		"counted, after years of messages": {6, 10_000_000, "done"},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startRig(t, rigOptions{yaml: planned})
				mine := slot("mine", on(9, 0), on(10, 0))
				if c.before != 0 {
					if got := r.take(said("before", kindSnapshot, c.before, mine)); got != "done" {
						t.Fatalf("revision %d: %s", c.before, got)
					}
				}
				if got := r.take(said("next", kindSnapshot, c.next, mine)); !strings.HasPrefix(got, c.want) {
					t.Errorf("revision %d: %s, want %s", c.next, got, c.want)
				}
				last := c.next
				if c.want != "done" {
					last = c.before
					if told := r.told(); len(told) == 0 || told[len(told)-1] != eventSnapshotWanted {
						t.Errorf("told %q, want that it asks for a snapshot", told)
					}
				}
				if got := r.take(said("genuine", kindSnapshot, last+1, mine)); got != "done" {
					t.Errorf("the cloud's own next: %s, want done", got)
				}
			})
		})
	}
}

// TestNoNumberOfMessagesReachesTheHighestRevision: who forges one message after the other, each as far ahead as it is taken, comes
// no further in a month than with one, and the cloud goes on from there. It is told so where it counts on by itself.
func TestNoNumberOfMessagesReachesTheHighestRevision(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for what, start := range map[string]uint64{"counted": 6, "milliseconds": uint64(now.UnixMilli()), "nanoseconds": uint64(now.UnixNano())} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startRig(t, rigOptions{yaml: planned})
				mine := slot("mine", on(9, 0), on(10, 0))
				r.take(said("before", kindSnapshot, int64(start), mine))
				have := start
				for month := range 2 {
					if month > 0 {
						r.wait(revisionTime)
					}
					base := have
					for i := range 40 {
						if next := have + max(maxJump, have/16) - uint64(i); r.take(said(fmt.Sprint("forged", month, i), kindSnapshot, int64(next), mine)) == "done" {
							have = next
						}
					}
					if have > max(furthest(base), base+40*maxStep) || have == base {
						t.Fatalf("month %d: from %d it came to %d", month, base, have)
					}
					if got := r.take(said(fmt.Sprint("own", month), kindDelta, int64(start+1), mine)); !strings.HasPrefix(got, "rejected revision is ") {
						t.Errorf("the cloud's own next: %s", got)
					}
					if told := r.told(); told[len(told)-1] != eventSnapshotWanted {
						t.Errorf("told %q, want that it asks for a snapshot", told)
					}
					have++
					if got := r.take(said(fmt.Sprint("genuine", month), kindSnapshot, int64(have), mine)); got != "done" {
						t.Errorf("the cloud's next after %d: %s, want done", have-1, got)
					}
				}
			})
		})
	}
}
