package eventlog

import (
	"reflect"
	"slices"
)

// Recent are the newest events that a filter selects, for who looks again and again: each
// look reads only what has come since the one before. Its zero value has not looked. It is
// for one at a time.
type Recent struct {
	filter Filter
	looked bool
	next   uint64
	found  []Event
}

// Look returns them, the oldest first, at most as many as the limit of the filter. With
// another filter it begins from the start.
func (r *Recent) Look(l *Log, f Filter) (events []Event, err error) {
	if !r.looked || !reflect.DeepEqual(f, r.filter) {
		*r = Recent{filter: f}
		r.found, r.next, err = l.Latest(f)
		r.looked = err == nil
		return slices.Clone(r.found), err
	}
	for {
		f.After, f.Limit = r.next, PageSize
		found, next, err := l.Find(f)
		if err != nil {
			return nil, err
		}
		all := append(r.found[:len(r.found):len(r.found)], found...)
		r.found = all[max(len(all)-r.filter.limit(), 0):]
		if next == r.next {
			return slices.Clone(r.found), nil
		}
		r.next = next
	}
}
