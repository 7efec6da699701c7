package cloud

import (
	"slices"
	"sync"
)

// asked is what a connection has asked of the broker and what was answered.
type asked struct {
	mu       sync.Mutex
	open     []act // oldest first
	answered map[act]bool
}

func (a *asked) ask(x act) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, x)
}

// answer takes one away: a broker answers in order.
func (a *asked) answer(x act) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.open, x); i >= 0 {
		a.open = slices.Delete(a.open, i, i+1)
	}
	if a.answered == nil {
		a.answered = map[act]bool{}
	}
	a.answered[x] = true
}

// unanswered is the oldest request that waits, unless one like it was answered:
// at that the broker has not closed.
func (a *asked) unanswered() act {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) == 0 || a.answered[a.open[0]] {
		return act{}
	}
	return a.open[0]
}
