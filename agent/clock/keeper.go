package clock

import (
	"context"
	"log/slog"
	"time"
)

const (
	// lookEvery is how often a Keeper looks at the clock. Whoever asks the clock
	// notices a jump himself.
	lookEvery = 10 * time.Second
	// lastStore bounds how long storing may take once the building ends.
	lastStore = 5 * time.Second
)

// What becomes of a clock.
const (
	Jumped   = "clockJumped"   // it is not trusted until that is confirmed or taken back
	Believed = "clockBelieved" // again, as it went back or was confirmed
)

// Event is what became of the clock.
type Event struct {
	Kind    string // Jumped or Believed; empty: nothing that has to be told
	Verdict Verdict
	By      string // who confirmed the clock; empty: nobody did
}

// Keeper looks at a clock, and keeps what it has to know after a restart.
type Keeper struct {
	*Clock
	Log *slog.Logger
	// Store stores the Memory of the clock and, in the same transaction, what became
	// of it.
	Store func(ctx context.Context, e Event) error
	// Moved has one when somebody has moved the clock: it is looked at at once. Nil:
	// nobody can.
	Moved chan struct{}
}

// Run looks at the clock again and again until ctx ends. It always returns nil:
// the next hour tries again what cannot be stored.
func (k *Keeper) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		k.look(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-k.Moved:
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastStore)
	defer cancel()
	k.store(last, Event{})
	return nil
}

// look stores what has changed since the last look.
func (k *Keeper) look(ctx context.Context) {
	jumped := k.Shown().Jump != 0
	v, changed := k.Look()
	if changed {
		k.Log.Info("the clock is now "+string(v.Trust), "now", v.Wall.UTC(), "why", v.Why(k.mode), "jump", v.Jump)
	}
	switch {
	case changed && v.Jump != 0:
		k.store(ctx, Event{Kind: Jumped, Verdict: v})
	case changed && jumped:
		k.store(ctx, Event{Kind: Believed, Verdict: v})
	case k.Due():
		k.store(ctx, Event{})
	}
}

func (k *Keeper) store(ctx context.Context, e Event) {
	if err := k.Store(ctx, e); err != nil && ctx.Err() == nil {
		k.Log.Error("cannot store how long the gateway has run: see the disk", "error", err)
	}
}

// Hear takes the time that somebody else's clock tells, as a Witness.
func (k *Keeper) Hear(at time.Time) {
	if k.Witness(at) {
		k.Log.Info("the cloud confirms the jump of the clock", "now", at)
	}
}
