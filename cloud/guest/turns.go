package guest

import (
	"context"
	"sync"
)

// Turns let a bounded number do something at one time. Those who wait are taken
// in turn by whom they count as, so that many of one wait for each other and not
// others for them. It may be used by many, and is made of its first field.
type Turns[K comparable] struct {
	Most int // at least 1

	mu      sync.Mutex
	taken   int
	waiting map[K][]chan struct{}
	order   []K // who has somebody waiting, the next first
}

// TakeFree takes a turn if there is one at once, when nobody waits: then it does not matter
// as whom somebody counts.
func (t *Turns[K]) TakeFree() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.free()
}

func (t *Turns[K]) free() bool {
	if t.taken >= t.Most {
		return false
	}
	t.taken++
	return true
}

// Take waits for a turn of who, and is false if ctx ends before.
func (t *Turns[K]) Take(ctx context.Context, who K) bool {
	t.mu.Lock()
	if t.free() {
		t.mu.Unlock()
		return true
	}
	if t.waiting == nil {
		t.waiting = map[K][]chan struct{}{}
	}
	mine := make(chan struct{})
	if len(t.waiting[who]) == 0 {
		t.order = append(t.order, who)
	}
	t.waiting[who] = append(t.waiting[who], mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return true
	case <-ctx.Done():
		return t.leave(who, mine)
	}
}

// leave gives up waiting. If the turn has come meanwhile it goes on to the next.
func (t *Turns[K]) leave(who K, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.waiting[who] {
		if c == mine {
			t.waiting[who] = append(t.waiting[who][:i], t.waiting[who][i+1:]...)
			t.tidy(who)
			return false
		}
	}
	t.pass()
	return false
}

// tidy forgets somebody of whom nobody waits.
func (t *Turns[K]) tidy(who K) {
	if len(t.waiting[who]) > 0 {
		return
	}
	delete(t.waiting, who)
	for i, k := range t.order {
		if k == who {
			t.order = append(t.order[:i], t.order[i+1:]...)
			return
		}
	}
}

// Done ends a turn.
func (t *Turns[K]) Done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass()
}

// pass gives a turn that has ended to the next.
func (t *Turns[K]) pass() {
	if len(t.order) == 0 {
		t.taken--
		return
	}
	who := t.order[0]
	line := t.waiting[who]
	close(line[0])
	t.order = t.order[1:]
	if t.waiting[who] = line[1:]; len(line) > 1 {
		t.order = append(t.order, who)
	} else {
		delete(t.waiting, who)
	}
}
