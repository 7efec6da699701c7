package cloudcommand

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"roomgate/agent/cloudkey"
	"roomgate/agent/problem"
	"roomgate/cloud"
)

// The bounds of what nobody has signed, in units. A unit is a command, a schedule, 4 KiB of a message, or unitBookings
// bookings that it changes; a configuration is two. Each writes 24 kB at most, a command 35 kB, and 70 kB what comes in parts. A cloud of
// 50 rooms sends a snapshot of 300 bookings for each after an outage, which is 4,500, and then several
// bookings a second for a minute.
const (
	unitBytes     = 4 << 10
	unitBookings  = 8
	scheduleBurst = 6000
	scheduleEvery = 10 * time.Second // one unit more
	configBurst   = 6000
	configEvery   = time.Minute
	commandBurst  = 1500 // all that moves in 100 rooms, five times
	commandEvery  = 10 * time.Second
)

// Budget bounds what those write who hold no key of the cloud, where signatures are wanted: whoever has the broker
// could else wear the card out with messages of which each is taken.
type Budget struct {
	signers *cloudkey.Signers

	mu     sync.Mutex
	levels map[string]*rate.Limiter // by the type of the message
}

// NewBudget makes a full budget.
func NewBudget(signers *cloudkey.Signers) *Budget {
	return &Budget{signers: signers, levels: map[string]*rate.Limiter{
		cloud.TypeOf(cloud.LevelSchedule): rate.NewLimiter(rate.Every(scheduleEvery), scheduleBurst),
		cloud.TypeOf(cloud.LevelConfig):   rate.NewLimiter(rate.Every(configEvery), configBurst),
		cloud.TypeOf(cloud.LevelCommand):  rate.NewLimiter(rate.Every(commandEvery), commandBurst),
	}}
}

// Take takes what a message costs, or refuses it. One that came in parts has paid with them.
func (b *Budget) Take(e cloud.Envelope) *problem.Error {
	if e.Parts != nil {
		return nil
	}
	return b.take(e, fixed(e)+len(e.Data)/unitBytes)
}

// TakePart takes what a part of a message costs, or refuses it. It is stored by itself and then with the message.
func (b *Budget) TakePart(e cloud.Envelope) *problem.Error {
	return b.take(e, 2*fixed(e)+len(e.Data)/unitBytes)
}

// fixed is what the least message costs: a configuration is applied to all nouns.
func fixed(e cloud.Envelope) int {
	if e.Type == cloud.TypeOf(cloud.LevelConfig) {
		return 2
	}
	return 1
}

func (b *Budget) take(e cloud.Envelope, units int) *problem.Error {
	of := b.of(e)
	if of == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now, cost := time.Now(), min(units, of.Burst())
	place := of.ReserveN(now, cost)
	if wait := place.DelayFrom(now); wait > 0 {
		place.CancelAt(now)
		return problem.New(problem.Busy, "", "too many messages came that are not signed: send it again in %d s, a command with a new id", int(math.Ceil(wait.Seconds())))
	}
	return nil
}

// Spend takes what a message has cost by as many bookings that it changed. The next messages wait for what it lacks.
func (b *Budget) Spend(e cloud.Envelope, bookings int) {
	if of := b.of(e); of != nil {
		of.ReserveN(time.Now(), min(bookings/unitBookings, of.Burst()))
	}
}

// of is what bounds a message; nil: nothing does.
func (b *Budget) of(e cloud.Envelope) *rate.Limiter {
	if b == nil || e.SignedBy != "" || b.signers.UnsignedAllowed() {
		return nil
	}
	return b.levels[e.Type]
}
