package auth

import (
	"math"
	"time"
)

// Rate is so many at once, and then one in every so much time.
type Rate struct {
	Burst int           // at least 1
	Every time.Duration // above 0
}

// Budget is what has been spent of a Rate. The zero Budget is whole. It may be
// stored: time that cannot be known gives nothing back.
type Budget struct {
	Spent float64 `json:"s,omitempty"`
	At    Moment  `json:"a,omitzero"`
}

// Take spends one. If there is none left it says after which time there is.
func (b *Budget) Take(r Rate, now Moment) (wait time.Duration, ok bool) {
	b.Spent, b.At = b.spent(r, now), now
	if over := b.Spent + 1 - float64(r.Burst); over > 0 {
		return time.Duration(math.Ceil(over * float64(r.Every))), false
	}
	b.Spent++
	return 0, true
}

// Whole says whether the budget is as if nothing had ever been spent.
func (b *Budget) Whole(r Rate, now Moment) bool { return b.spent(r, now) == 0 }

func (b *Budget) spent(r Rate, now Moment) float64 {
	elapsed, known := now.Since(b.At)
	if !known {
		elapsed = 0
	}
	left := b.Spent - float64(elapsed)/float64(r.Every)
	return math.Min(math.Max(left, 0), float64(r.Burst))
}
