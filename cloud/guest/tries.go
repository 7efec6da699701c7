package guest

import (
	"sync"
	"time"
)

// maxTries bounds the keys that a Tries remembers.
const maxTries = 4096

// Tries allows each key Burst tries at once, and then one in every Every. It
// remembers as many keys as it has room for; of more it forgets the one that has
// spent least, so that others cannot clear a lock-out by being many, and nobody
// waits for what others have spent. It may be used by many, and is made of its
// first two fields.
type Tries[K comparable] struct {
	Burst int           // at least 1
	Every time.Duration // above 0

	mu    sync.Mutex
	spent map[K]time.Time // when the key is as if it had never been seen
}

// Take spends one try of a key. If there is none left it says after which time
// there is.
func (t *Tries[K]) Take(key K, now time.Time) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := t.until(key, now).Add(t.Every)
	if over := until.Sub(now) - time.Duration(t.Burst)*t.Every; over > 0 {
		return over, false
	}
	t.put(key, until, now)
	return 0, true
}

// Wait spends n tries of a key, also those that are not there yet but after some time: then
// that is returned, and no try is to be made before. A key that would have to wait for longer
// than most gets none.
func (t *Tries[K]) Wait(key K, n int, most time.Duration, now time.Time) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := t.until(key, now).Add(time.Duration(n) * t.Every)
	wait = max(until.Sub(now)-time.Duration(t.Burst)*t.Every, 0)
	if wait > most {
		return wait, false
	}
	t.put(key, until, now)
	return wait, true
}

// Left says whether a key has a try left, and takes none.
func (t *Tries[K]) Left(key K, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until(key, now).Add(t.Every).Sub(now) <= time.Duration(t.Burst)*t.Every
}

// Return gives back n tries that were taken for something that does not count.
func (t *Tries[K]) Return(key K, n int, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := t.until(key, now).Add(-time.Duration(n) * t.Every); until.After(now) {
		t.spent[key] = until
	} else {
		delete(t.spent, key)
	}
}

func (t *Tries[K]) until(key K, now time.Time) time.Time {
	if until := t.spent[key]; until.After(now) {
		return until
	}
	return now
}

// put remembers a key, if need be in the place of another.
func (t *Tries[K]) put(key K, until, now time.Time) {
	if t.spent == nil {
		t.spent = map[K]time.Time{}
	}
	if _, known := t.spent[key]; !known && len(t.spent) >= maxTries {
		t.forget(now)
	}
	t.spent[key] = until
}

// forget drops the keys that are as if they had never been seen, and if there is
// none the one that has spent least.
func (t *Tries[K]) forget(now time.Time) {
	var least K
	var soonest time.Time
	whole := false
	for key, until := range t.spent {
		if !until.After(now) {
			delete(t.spent, key)
			whole = true
		} else if soonest.IsZero() || until.Before(soonest) {
			least, soonest = key, until
		}
	}
	if !whole {
		delete(t.spent, least)
	}
}
