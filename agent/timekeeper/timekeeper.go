// Package timekeeper keeps the clock of the building over a restart: it watches the clock, stores what a restart needs
// to know, and logs when the clock jumps and when it is believed again. Package clock says what a clock is worth.
package timekeeper

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/store"
)

// lookEvery is how often a Keeper looks at the clock. Whoever asks the clock
// notices a jump before that.
const lookEvery = 10 * time.Second

// The events of the clock.
const (
	Jumped   = "clockJumped"   // it is not trusted until that is confirmed or taken back
	Believed = "clockBelieved" // again, as it went back or was confirmed
)

// Options are what a Keeper is opened with.
type Options struct {
	DB        *store.DB
	Log       *slog.Logger
	Mode      string        // when the clock is trusted: clock.Auto, Always or Never
	Machine   clock.Machine // what the machine knows of time
	Simulated bool          // the clock may be moved

	// Tell writes an event about the gateway in the transaction that makes it true;
	// Told is called once it is written.
	Tell func(tx *store.Tx, kind string, details map[string]any) error
	Told func()
	// Moved is called when somebody has moved or confirmed the clock.
	Moved func()
}

// Keeper is the clock of the building, kept over restarts.
type Keeper struct {
	*clock.Clock
	o     Options
	woken loop.Signal // somebody has moved or confirmed the clock
}

// Open starts the clock from what is stored, and fails if the store cannot be read.
func Open(_ context.Context, o Options) (*Keeper, error) {
	kept, err := memory(o.DB)
	if err != nil {
		return nil, err
	}
	return &Keeper{clock.New(clock.Options{Mode: o.Mode, Memory: kept, Machine: o.Machine}), o, loop.NewSignal()}, nil
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
		case <-k.woken:
		}
	}
	last, cancel := loop.Last(ctx)
	defer cancel()
	k.tryStore(last, "", clock.Verdict{})
	return nil
}

// look stores what has changed since the last look.
func (k *Keeper) look(ctx context.Context) {
	jumped := k.Shown().Jump != 0
	v, changed := k.Look()
	if changed {
		k.o.Log.Info("the clock is now "+string(v.Trust), "now", v.Wall.UTC(), "why", v.Why(k.o.Mode), "jump", v.Jump)
	}
	switch {
	case changed && v.Jump != 0:
		k.tryStore(ctx, Jumped, v)
	case changed && jumped:
		k.tryStore(ctx, Believed, v)
	case k.Due():
		k.tryStore(ctx, "", v)
	}
}

func (k *Keeper) tryStore(ctx context.Context, kind string, v clock.Verdict) {
	if err := k.store(ctx, kind, v, ""); err != nil && ctx.Err() == nil {
		k.o.Log.Error("cannot store how long the gateway has run: see roomgate doctor", "error", err)
	}
}

// store stores what the clock has to know after a restart, with an event of that
// kind, if it is not empty.
func (k *Keeper) store(ctx context.Context, kind string, v clock.Verdict, by string) error {
	err := k.o.DB.Update(ctx, func(tx *store.Tx) error {
		if kind != "" {
			if err := k.o.Tell(tx, kind, details(kind, v, by)); err != nil {
				return err
			}
		}
		return rows.Put(tx, key, k.Memory())
	})
	if err == nil && kind != "" {
		k.o.Told()
	}
	return err
}

// details are those of an event about the clock.
func details(kind string, v clock.Verdict, by string) map[string]any {
	all := map[string]any{"shows": eventlog.Stamp(v.Wall)}
	if kind == Jumped {
		all["seconds"] = int64(v.Jump.Seconds())
	}
	if by != "" {
		all["by"] = by
	}
	return all
}

// Hear compares a jump with the time that the clock of the cloud shows.
func (k *Keeper) Hear(at time.Time) {
	if k.Witness(at) {
		k.o.Log.Info("the cloud confirms the jump of the clock", "now", at)
	}
}

// ConfirmBy trusts the wall clock on somebody's word, until the clock is stepped or
// the machine starts again. It is refused as NotNow where clock.trust is never.
func (k *Keeper) ConfirmBy(ctx context.Context, who string) (clock.Verdict, error) {
	if k.o.Mode == clock.Never {
		return k.Verdict(), problem.New(problem.NotNow, "", "clock.trust is never: set it to auto first")
	}
	k.Confirm()
	v := k.Verdict()
	if err := k.store(ctx, Believed, v, who); err != nil {
		return v, fmt.Errorf("the clock is trusted until the gateway restarts, but that cannot be stored: %w", err)
	}
	k.moved()
	return v, nil
}

// Set moves the time of a simulated building ahead, by so much in all, so that a
// day passes in a minute. If it jumps, only the wall clock moves, and is wrong then.
// Any other building refuses it as Forbidden.
func (k *Keeper) Set(ahead time.Duration, jumps bool) error {
	switch {
	case !k.o.Simulated:
		return problem.New(problem.Forbidden, "", "only a simulated building can be moved in time")
	case jumps:
		k.Jump(ahead)
	default:
		k.Move(ahead)
	}
	k.moved()
	return nil
}

func (k *Keeper) moved() {
	k.woken.Wake()
	k.o.Moved()
}
