package cloudpart

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// wearBurst is how many bytes of parts are stored at once for messages that are not
	// accepted: two full shares of what may wait. wearRate is how many a second after that.
	// Each byte costs six of writing, and whoever may send could else wear the card out with
	// messages that never become whole: 0.1 GB of writing a day at most.
	wearBurst = 2 * maxBytes
	wearRate  = 200
)

// wear bounds what is written for messages that nobody accepts. Signed messages have a share of
// their own, which nobody without a key can take.
type wear struct{ signed, unsigned *rate.Limiter }

func newWear() wear {
	return wear{rate.NewLimiter(wearRate, wearBurst), rate.NewLimiter(wearRate, wearBurst)}
}

// take says whether so many bytes may be stored, and counts them; fewer than none give back
// what belongs to a message that was accepted.
func (w wear) take(signedBy string, bytes int) bool {
	of := w.unsigned
	if signedBy != "" {
		of = w.signed
	}
	return of.AllowN(time.Now(), bytes)
}
