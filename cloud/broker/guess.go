package broker

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"roomgate/cloud/guest"
)

// Wrong passwords: a burst, then one for each interval.
const (
	guessBurst = 10
	guessEvery = 6 * time.Second
	// guessHosts is how many addresses of one network may guess as fast as that: so all of a /64 together have a bound, and
	// one host of it does not keep the others out.
	guessHosts = 8
	maxLogins  = 1024 // that are remembered
)

// userAt is a user at an address.
type userAt struct {
	user string
	from netip.Addr
}

// guesses limits who guesses passwords. An address has a budget, and all of its network
// have another one. A user who has been let in at an address has one of his own there, so
// that no other guest of his network keeps him out. Who takes many addresses of a /64 can keep
// those out who have never been let in, as he can take their addresses too.
type guesses struct {
	strangers guest.Tries[netip.Addr]
	networks  guest.Tries[netip.Prefix]
	known     guest.Tries[userAt]
	hashing   guest.Turns[netip.Prefix] // bounds how many passwords are computed at once

	mu     sync.Mutex
	logins map[userAt]struct{} // that were right
	at     map[netip.Addr]int  // of them
}

func newGuesses() *guesses {
	return &guesses{
		strangers: guest.Tries[netip.Addr]{Burst: guessBurst, Every: guessEvery},
		networks:  guest.Tries[netip.Prefix]{Burst: guessHosts * guessBurst, Every: guessEvery / guessHosts},
		known:     guest.Tries[userAt]{Burst: guessBurst, Every: guessEvery},
		hashing:   guest.Turns[netip.Prefix]{Most: max(1, runtime.GOMAXPROCS(0)-1)}, // the others have a processor left
		logins:    map[userAt]struct{}{}, at: map[netip.Addr]int{},
	}
}

// errGuesses refuses without looking at the password.
var errGuesses = errors.New("too many wrong passwords from this address or its network")

// errWrong refuses after a look at the password.
var errWrong = errors.New("its user name or password is wrong")

// try computes whether a password is right, if there is a try left once its turn comes, and ctx has not ended. The try is
// spent before, so that those who send many passwords at one time have no more of them; a right one gets it back.
func (g *guesses) try(ctx context.Context, l userAt, local bool, right func() bool) error {
	if !local && !g.left(l) {
		return errGuesses // and waits for no turn
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	network := guest.Network(l.from)
	if !g.hashing.Take(ctx, network) {
		return errors.New("too many passwords are being looked at")
	}
	defer g.hashing.Done()
	giveBack := func() {}
	if !local {
		var left bool
		if giveBack, left = g.take(l); !left {
			return errGuesses
		}
	}
	if right() {
		giveBack()
		g.remember(l)
		return nil
	}
	return errWrong
}

// take spends a try, if there is one left.
func (g *guesses) take(l userAt) (giveBack func(), left bool) {
	if g.knows(l) {
		_, left = g.known.Take(l, time.Now())
		return func() { g.known.Return(l, 1, time.Now()) }, left
	}
	network := guest.Network(l.from)
	if _, left = g.strangers.Take(l.from, time.Now()); !left {
		return nil, false
	}
	if _, left = g.networks.Take(network, time.Now()); !left {
		g.strangers.Return(l.from, 1, time.Now())
		return nil, false
	}
	return func() {
		g.strangers.Return(l.from, 1, time.Now())
		g.networks.Return(network, 1, time.Now())
	}, true
}

func (g *guesses) left(l userAt) bool {
	if g.knows(l) {
		return g.known.Left(l, time.Now())
	}
	return g.strangerLeft(l.from)
}

// strangerLeft says whether somebody who is not known at an address has a try left.
func (g *guesses) strangerLeft(from netip.Addr) bool {
	return g.strangers.Left(from, time.Now()) && g.networks.Left(guest.Network(from), time.Now())
}

// tooMany says whether nobody at an address may try a password.
func (g *guesses) tooMany(from netip.Addr) bool {
	g.mu.Lock()
	known := g.at[from] > 0
	g.mu.Unlock()
	return !known && !g.strangerLeft(from)
}

func (g *guesses) knows(l userAt) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, known := g.logins[l]
	return known
}

// letIn says whether a user's password was right, at whatever address.
func (g *guesses) letIn(user string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.logins {
		if l.user == user {
			return true
		}
	}
	return false
}

// remember notes a right password, in the place of any other one if there are too
// many.
func (g *guesses) remember(l userAt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.logins[l]; known {
		return
	}
	for old := range g.logins {
		if len(g.logins) < maxLogins {
			break
		}
		delete(g.logins, old)
		if g.at[old.from]--; g.at[old.from] == 0 {
			delete(g.at, old.from)
		}
	}
	g.logins[l] = struct{}{}
	g.at[l.from]++
}
