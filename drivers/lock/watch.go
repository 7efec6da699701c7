package lock

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/drivers"
)

const (
	// debounce is how long the lines must be quiet before they are read.
	debounce = 30 * time.Millisecond
	// longestBounce is when lines that are never quiet are read all the same.
	longestBounce = 10 * debounce
	// recheck is how often the lines are read without an edge: one may have
	// come before Edges listened, or the kernel's buffer may have run over.
	recheck = time.Second
	// keypadRetry is how soon a keypad whose lines were lost is listened to
	// again; the door is watched meanwhile.
	keypadRetry = time.Second
)

// observation is what Watch last saw. It outlives one Watch, so that nothing is told
// twice or forgotten when the building starts it again.
type observation struct {
	bolt, door string // empty: never looked
	ajarSince  time.Time
	heldTold   bool
	alarm      bool // forced or held open was told, and not yet shut
}

// watch is one run of Watch.
type watch struct {
	*lock
	report func(drivers.Event)
	first  time.Time // the first edge since the lines were read, or zero
	quiet  *time.Timer
	held   *time.Timer
}

// Watch reports changes of bolt and leaf, a forced door and one held open, and
// what the keypad says.
func (l *lock) Watch(ctx context.Context, report func(drivers.Event)) error {
	g, ctx := errgroup.WithContext(ctx)
	edges := make(chan time.Time, 1)
	for _, in := range l.inputs() {
		g.Go(func() error {
			return in.Edges(ctx, func(e drivers.Edge) {
				select {
				case edges <- e.At:
				default: // one waits already and will make us look
				}
			})
		})
	}
	if l.keypad != nil {
		report = inTurn(report)
		g.Go(func() error { return l.listen(ctx, report) })
	}
	w := &watch{lock: l, report: report, quiet: stopped(), held: stopped()}
	g.Go(func() error { return w.run(ctx, edges) })
	return g.Wait()
}

// inTurn lets two goroutines report.
func inTurn(report func(drivers.Event)) func(drivers.Event) {
	var mu sync.Mutex
	return func(e drivers.Event) {
		mu.Lock()
		defer mu.Unlock()
		report(e)
	}
}

// listen reports what the keypad says, and comes back to one that was lost.
func (l *lock) listen(ctx context.Context, report func(drivers.Event)) error {
	again := time.NewTicker(keypadRetry)
	defer again.Stop()
	for {
		_ = l.keypad.Watch(ctx, report) // a keypad that fails fails alone
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-again.C:
		}
	}
}

// stopped is a timer that is yet to be set.
func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

func (w *watch) run(ctx context.Context, edges <-chan time.Time) error {
	defer w.quiet.Stop()
	defer w.held.Stop()
	again := time.NewTicker(recheck)
	defer again.Stop()
	err := w.look(ctx, time.Now())
	w.setHeld()
	for err == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case at := <-edges:
			w.bounce(at)
		case <-w.quiet.C:
			err = w.look(ctx, w.first)
			w.first = time.Time{}
		case <-again.C:
			if w.first.IsZero() {
				err = w.look(ctx, time.Now())
			}
		case <-w.held.C:
			w.seen.heldTold = true
			w.raise(drivers.EventDoorHeldOpen, time.Now())
		case <-w.relay.changed:
			w.changed()
		}
	}
	return err
}

// bounce puts the reading off until the lines are quiet.
func (w *watch) bounce(at time.Time) {
	if w.first.IsZero() {
		w.first = at
	}
	w.quiet.Reset(min(debounce, time.Until(w.first.Add(longestBounce))))
}

// look reads the lines, of which one may have changed at the time given.
func (w *watch) look(ctx context.Context, at time.Time) error {
	now, err := w.levels(ctx)
	if err != nil {
		return err
	}
	before := w.seen
	w.seen.bolt, w.seen.door = now.bolt, now.door
	if now.door != before.door {
		w.leaf(before, at)
	}
	if before.bolt != "" && (now.bolt != before.bolt || now.door != before.door) {
		w.changed()
	}
	return nil
}

// levels reads the lines within ctx. A line takes no context: one that hangs
// keeps its goroutine, not Watch.
func (w *watch) levels(ctx context.Context) (observation, error) {
	var s observation
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.bolt, s.door, err = w.read()
	}()
	select {
	case <-ctx.Done():
		return observation{}, context.Cause(ctx)
	case <-done:
		return s, err
	}
}

// leaf takes note that the leaf has moved.
func (w *watch) leaf(before observation, at time.Time) {
	w.seen.heldTold = false
	if w.seen.door == ajar {
		w.seen.ajarSince = at
		if w.forced(before, at) {
			w.raise(drivers.EventDoorForced, at)
		}
	} else if w.seen.alarm {
		w.raise(drivers.EventDoorShut, at)
		w.seen.alarm = false
	}
	w.setHeld()
}

// forced says whether a leaf that is now ajar was opened against the lock. A
// bolt that was seen withdrawn before is the handle inside; a relay locked
// just now is somebody who was in the doorway.
func (w *watch) forced(before observation, at time.Time) bool {
	return before.door == shut && before.bolt == drivers.Closed && w.relay.lockedFor(w.options.Settle, at)
}

// setHeld sets the timer to the time at which the leaf is open for too long.
func (w *watch) setHeld() {
	w.held.Stop()
	if w.seen.door == ajar && w.options.HeldOpen > 0 && !w.seen.heldTold {
		w.held.Reset(time.Until(w.seen.ajarSince.Add(w.options.HeldOpen)))
	}
}

// raise reports something about the leaf.
func (w *watch) raise(eventType string, at time.Time) {
	w.seen.alarm = true
	details := map[string]any{"door": w.seen.door}
	if eventType == drivers.EventDoorHeldOpen {
		details["seconds"] = w.options.HeldOpen.Seconds()
	}
	w.report(drivers.Event{Type: eventType, Time: at, Details: details})
}

func (w *watch) changed() {
	w.report(drivers.Event{Type: drivers.EventChanged, Time: time.Now()})
}
