package api

import (
	"net/netip"
	"time"

	"roomgate/cloud/guest"
)

const (
	// triesEvery and triesBurst are how many wrong keys one network may send
	// before it is told to slow down.
	triesEvery = 2 * time.Second
	triesBurst = 10
	retryTries = "2" // seconds until the next one is free
)

// tries counts wrong credentials by network.
type tries struct {
	wrong, told guest.Tries[netip.Prefix]
}

func newTries() *tries {
	return &tries{
		wrong: guest.Tries[netip.Prefix]{Burst: triesBurst, Every: triesEvery},
		told:  guest.Tries[netip.Prefix]{Burst: 1, Every: time.Minute},
	}
}

// take counts one wrong try of a network. first is true once a minute while it is
// refused, for the log.
func (t *tries) take(from netip.Prefix, now time.Time) (allowed, first bool) {
	if _, allowed = t.wrong.Take(from, now); !allowed {
		_, first = t.told.Take(from, now)
	}
	return allowed, first
}
