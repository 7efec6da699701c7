package refusal

import (
	"time"

	"golang.org/x/time/rate"

	"roomgate/agent/printable"
)

const (
	// Burst is how many refusals of the cloud's messages are stored at once, and Every how often one more is after that.
	// Whoever may send could else wear the card out with messages that cannot be carried out. Each is one transaction, of
	// 17 kB: two pages that each transaction writes, those of the log for its receipt, and the one by which its id is
	// refused again. So it is 50 MB a day at most.
	Burst = 200
	Every = 30 * time.Second
	// mostText and mostReason bound what is stored of a refused message, in bytes: each of its texts, and the reason.
	mostText   = 80
	mostReason = 5 * mostText
)

// NewLimiter counts what is stored by Burst and Every.
func NewLimiter() *rate.Limiter { return rate.NewLimiter(rate.Every(Every), Burst) }

// Text is what is stored of a text of a refused message.
func Text(s string) string { return printable.Cut(s, mostText, "") }

// Reason is what is stored of the reason why a message was refused.
func Reason(s string) string { return printable.Cut(s, mostReason, "") }
