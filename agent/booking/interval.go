package booking

import (
	"slices"
	"time"
)

// Intervals are disjoint and sorted.
type Intervals []Interval

// after is the index of the first one that ends after t.
func (s Intervals) after(t time.Time) int {
	i, _ := slices.BinarySearchFunc(s, t, func(x Interval, t time.Time) int {
		if x.End.After(t) {
			return 1
		}
		return -1
	})
	return i
}

// find returns the first one that shares a moment with [start, end).
func (s Intervals) find(start, end time.Time) (Interval, bool) {
	if i := s.after(start); i < len(s) && s[i].Start.Before(end) {
		return s[i], true
	}
	return Interval{}, false
}

// insert adds one that overlaps none.
func (s *Intervals) insert(x Interval) {
	*s = slices.Insert(*s, s.after(x.Start), x)
}
