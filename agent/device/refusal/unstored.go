package refusal

import (
	"sync"
	"time"
)

// MostUnstored is how many refusals memory has at most.
const MostUnstored = 5000

// Unstored has the refusals that were answered and not stored, as too many came or the disk had no room, so that an id that was
// refused is not carried out later. A restart forgets them. Its zero value has none.
type Unstored struct {
	mu    sync.Mutex
	rows  map[string]Row
	order []string // by age
}

// Find returns the refusal with that id; ok is false if there is none.
func (u *Unstored) Find(id string) (r Row, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r, ok = u.rows[id]
	return r, ok
}

// Add remembers a refusal for at least as long as memory says, and is false if there is no room.
func (u *Unstored) Add(r Row, memory time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.rows == nil {
		u.rows = map[string]Row{}
	}
	for len(u.order) > 0 && r.Lived.Since(u.rows[u.order[0]].Lived) >= memory {
		delete(u.rows, u.order[0])
		u.order = u.order[1:]
	}
	if len(u.order) >= MostUnstored {
		return false
	}
	if _, ok := u.rows[r.ID]; !ok {
		u.order = append(u.order, r.ID)
	}
	u.rows[r.ID] = r
	return true
}
