package engine

import (
	"maps"
	"slices"
	"sync"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/rule/doubt"
)

// traces remember which rules have told which devices to do something: a device
// that changes soon after does so because of them.
type traces struct {
	mu   sync.Mutex
	left map[doubt.Part]trace
}

// trace is what an event of such a device was caused by.
type trace struct {
	chain []string  // ids of rules
	open  int       // commands that are under way
	until time.Time // once none is
}

func (t trace) holds(at time.Time) bool { return t.open > 0 || at.Before(t.until) }

// leave remembers that a chain of rules gives a command, until ended. An unsigned word stays in it beside
// another chain that follows at once.
func (l *traces) leave(c device.Command, chain []string) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	was, known := l.left[doubt.PartOf(c)]
	if !known && len(l.left) >= maxTraces {
		maps.DeleteFunc(l.left, func(_ doubt.Part, t trace) bool { return !t.holds(now) })
	}
	if !known && len(l.left) >= maxTraces {
		return // of says so
	}
	if was.holds(now) && doubt.Began(was.chain) {
		chain = doubt.Chain(chain...)
	}
	l.left[doubt.PartOf(c)] = trace{chain: chain, open: was.open + 1, until: was.until}
}

// ended notes that a command of rules is over.
func (l *traces) ended(c device.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t, ok := l.left[doubt.PartOf(c)]; ok {
		t.open, t.until = max(t.open-1, 0), time.Now().Add(causeTime)
		l.left[doubt.PartOf(c)] = t
	}
}

// of is the chain of rules that had just given the device a command when something
// happened; nil: none had. While there is no room for a chain, it may be any.
func (l *traces) of(part doubt.Part, at time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.left[part]
	switch {
	case ok && t.holds(at):
		return t.chain
	case !ok && len(l.left) >= maxTraces:
		return doubt.Chain()
	}
	return nil
}

// forgive drops the chains that a rule is part of. An unsigned word stays what it is.
func (l *traces) forgive(ruleID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, t := range l.left {
		switch {
		case !slices.Contains(t.chain, ruleID):
			continue
		case doubt.Began(t.chain):
			t.chain = doubt.Chain()
		default:
			t.chain = nil
		}
		l.left[key] = t
	}
}
