package api

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// triesPerSecond and triesBurst are how many wrong keys one address may
	// send before it is told to slow down.
	triesPerSecond = 0.5
	triesBurst     = 10
	retryTries     = "2" // seconds until the next one is free
	// maxAddresses bounds the addresses that are counted one by one; the
	// others share one budget.
	maxAddresses = 4096
)

// tries counts wrong credentials by address.
type tries struct {
	mu     sync.Mutex
	known  map[netip.Prefix]*budget
	others budget
}

// budget is what one address has left.
type budget struct {
	limit *rate.Limiter
	told  time.Time // when its excess was last logged
}

func newTries() *tries {
	return &tries{known: map[netip.Prefix]*budget{}, others: newBudget()}
}

func newBudget() budget { return budget{limit: rate.NewLimiter(triesPerSecond, triesBurst)} }

// take counts one wrong try of an address. first is true once a minute while
// it is refused, for the log.
func (t *tries) take(address netip.Prefix, now time.Time) (allowed, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.of(address, now)
	if b.limit.AllowN(now, 1) {
		return true, false
	}
	first = now.Sub(b.told) >= time.Minute
	if first {
		b.told = now
	}
	return false, first
}

func (t *tries) of(address netip.Prefix, now time.Time) *budget {
	if b := t.known[address]; b != nil {
		return b
	}
	if len(t.known) >= maxAddresses {
		t.expire(now)
	}
	if len(t.known) >= maxAddresses {
		return &t.others
	}
	b := newBudget()
	t.known[address] = &b
	return &b
}

// expire forgets the addresses whose budget is whole again: they are as if
// they had never been seen.
func (t *tries) expire(now time.Time) {
	for address, b := range t.known {
		if b.limit.TokensAt(now) >= triesBurst {
			delete(t.known, address)
		}
	}
}
