package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/wiegand"
)

const (
	// readBack is the time between two looks at the bolt while it moves.
	readBack = 10 * time.Millisecond
	// longestOpen is the longest unlock time that a command may ask for.
	longestOpen = 300 // s
)

// lock is one opened door lock.
type lock struct {
	options Options
	relay   *relay
	sense   drivers.Input   // nil: not wired
	contact drivers.Input   // nil: not wired
	keypad  *wiegand.Reader // nil: not wired
	seen    observation     // belongs to Watch
}

// Describe says what the lock takes.
func (l *lock) Describe() drivers.Description {
	return drivers.Description{
		Type:    drivers.TypeLock,
		Driver:  "lock-relay",
		Summary: "a door lock: open means unlocked, closed means locked",
		Values:  []string{drivers.Open, drivers.Closed},
		Actions: []drivers.Action{
			{
				Name:    drivers.ActOpen,
				Summary: l.howOpen(),
				Params: []drivers.Param{{
					Name: drivers.ValueName, Kind: drivers.KindInteger, Unit: "s",
					Min: 1, Max: longestOpen, Optional: true, Default: l.openFor(),
				}},
			},
			{Name: drivers.ActClose, Summary: "lock the door now"},
		},
	}
}

// openFor is how long the door is unlocked unless a command says so, in s; nil:
// until it is closed.
func (l *lock) openFor() any {
	if l.options.Mode == modeHold {
		return nil
	}
	return l.options.Relock.Seconds()
}

func (l *lock) howOpen() string {
	if l.options.Mode == modeHold {
		return "unlock the door until it is closed, or for that many seconds"
	}
	return fmt.Sprintf("unlock the door for %v, or for that many seconds; then it locks by itself", l.options.Relock)
}

// Poll reads bolt and leaf. It also locks if the unlock time is over, should
// the timer have failed to.
func (l *lock) Poll(ctx context.Context) ([]drivers.Status, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := l.relay.enforce(); err != nil {
		return nil, err
	}
	s, err := l.observe()
	if err != nil {
		return nil, err
	}
	return []drivers.Status{s}, nil
}

// Do unlocks or locks, and waits until the bolt has followed. A command to open
// that is not confirmed is taken back.
func (l *lock) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	if err := context.Cause(ctx); err != nil {
		return drivers.Status{}, err
	}
	switch {
	case c.Sub != "":
		return drivers.Status{}, drivers.ErrUnsupported
	case c.Action == drivers.ActOpen:
		return l.open(ctx, l.unlockTime(c.Args))
	case c.Action == drivers.ActClose:
		if err := l.relay.lock(); err != nil {
			return drivers.Status{}, err
		}
		return l.follow(ctx, drivers.Closed)
	}
	return drivers.Status{}, drivers.ErrUnsupported
}

// unlockTime is how long a command unlocks, 0 for until it is closed.
func (l *lock) unlockTime(args drivers.Args) time.Duration {
	switch {
	case args.Has(drivers.ValueName):
		seconds := min(max(args.Number(drivers.ValueName), 1), longestOpen)
		return time.Duration(seconds * float64(time.Second))
	case l.options.Mode == modeHold:
		return 0
	}
	return l.options.Relock
}

func (l *lock) open(ctx context.Context, d time.Duration) (drivers.Status, error) {
	if err := l.relay.unlock(d); err != nil {
		return drivers.Status{}, err
	}
	s, err := l.follow(ctx, drivers.Open)
	if err == nil {
		return s, nil
	}
	if e := l.relay.lock(); e != nil {
		return s, fmt.Errorf("%w; it could not be locked again: %w", err, e)
	}
	return s, err
}

// follow waits until the bolt stands as wanted.
func (l *lock) follow(ctx context.Context, want string) (drivers.Status, error) {
	late := time.NewTimer(l.options.Settle)
	defer late.Stop()
	look := time.NewTicker(readBack)
	defer look.Stop()
	for {
		s, err := l.observe()
		if late := context.Cause(ctx); late != nil { // nobody waits for it any more: a line may have been stuck
			return s, late
		}
		if err != nil || s.Value == want {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, context.Cause(ctx)
		case <-late.C:
			return s, fmt.Errorf("bolt still %s after %v: %w", s.Value, l.options.Settle, drivers.ErrNotConfirmed)
		case <-look.C:
		}
	}
}

// observe reads what is wired. A line that cannot be read is an error, never
// a level.
func (l *lock) observe() (drivers.Status, error) {
	bolt, door, err := l.read()
	if err != nil {
		return drivers.Status{}, err
	}
	s := drivers.Status{Value: bolt, ObservedAt: time.Now(), Source: drivers.SourceCommand}
	if l.sense != nil {
		s.Source = "sense line"
	}
	if l.contact != nil {
		s.Details = map[string]any{"door": door}
	}
	return s, nil
}

// read returns open or closed of the bolt, by command if it has no switch, and
// ajar or shut of the leaf, empty if it has no contact.
func (l *lock) read() (bolt, door string, err error) {
	bolt = l.relay.value()
	if l.sense != nil {
		bolt, err = level(l.sense, l.options.SenseHighMeans, drivers.Open, drivers.Closed)
		if err != nil {
			return "", "", fmt.Errorf("sense line %s: %w", l.options.Sense, err)
		}
	}
	if l.contact != nil {
		door, err = level(l.contact, l.options.ContactHighMeans, ajar, shut)
		if err != nil {
			return "", "", fmt.Errorf("contact line %s: %w", l.options.Contact, err)
		}
	}
	return bolt, door, nil
}

// level reads a line of which high means one of two values.
func level(in drivers.Input, high, a, b string) (string, error) {
	is, err := in.Read()
	if err != nil {
		return "", err
	}
	if is == (high == a) {
		return a, nil
	}
	return b, nil
}

// Close locks and gives the lines back.
func (l *lock) Close() error {
	err := l.relay.Close()
	for _, in := range l.inputs() {
		if e := in.Close(); err == nil {
			err = e
		}
	}
	if l.keypad != nil {
		err = errors.Join(err, l.keypad.Close())
	}
	return err
}

// inputs are the lines that are wired.
func (l *lock) inputs() []drivers.Input {
	var wired []drivers.Input
	for _, in := range []drivers.Input{l.sense, l.contact} {
		if in != nil {
			wired = append(wired, in)
		}
	}
	return wired
}
