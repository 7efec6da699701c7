package guest

import (
	"net/netip"
	"time"
)

// maxWrongCodes is how many wrong codes may come in the life of a code from those who have
// no try left, and as many at once. A code of 40 bits (auth.NewTyped) is then found by
// 2^18 of 2^40 tries at most while it lives: once in 4 million lives of one code, or in
// 4,000 lives of a thousand codes that are open at once.
const maxWrongCodes = 1 << 17

// Codes bounds how often somebody may send a code that is wrong. A network has few tries,
// and is told to wait when it has none. But a neighbour may have spent them: so its codes
// are still looked at, and a right one counts, as long as wrong ones in total are so few
// that nobody finds a code by them. It may be used by many.
type Codes struct {
	near Tries[netip.Prefix]
	all  Tries[struct{}]
}

// NewCodes gives each network a burst of tries, then one in every; codes live for life.
func NewCodes(burst int, every, life time.Duration) *Codes {
	return &Codes{near: Tries[netip.Prefix]{Burst: burst, Every: every},
		all: Tries[struct{}]{Burst: maxWrongCodes, Every: max(1, life/maxWrongCodes)}}
}

// Take spends a try. look says whether the code is to be looked at; who sends a wrong one
// is to wait, if it is above 0, whether it was looked at or not.
func (c *Codes) Take(from netip.Prefix, now time.Time) (wait time.Duration, look bool) {
	wait, look = c.near.Take(from, now)
	if !look {
		_, look = c.all.Take(struct{}{}, now)
	}
	return wait, look
}

// Return gives back what was taken for a code that was right.
func (c *Codes) Return(from netip.Prefix, now time.Time) { c.near.Return(from, 1, now) }
