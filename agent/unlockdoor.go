package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// keypadPause is the least time between two codes that are judged at one
	// door; what is entered faster is noise.
	keypadPause = time.Second
	// keypadOrderTTL is how late the door may open after the code.
	keypadOrderTTL = 10 * time.Second
	// keypadOpen is how long a code unlocks a lock that would else stay open,
	// in s. One that locks by itself keeps its own time.
	keypadOpen = "10"
)

// keypadRate is how many wrong codes a door takes: some at once, and then few.
// It goes on counting over restarts, and a right code gives nothing back, so
// that who guesses has 77 tries in a first day and 72 in each after.
var keypadRate = auth.Rate{Burst: 5, Every: 20 * time.Minute}

// Why a code does not open its door, as events say it.
const (
	codeUnknown    = "no such code"
	codeLockedOut  = "locked out"
	codeTimeless   = "the clock is not trusted"
	codeEarly      = "not valid yet"
	codeLate       = "not valid any more"
	codeTooEarly   = "too early for its booking"
	codeNoBooking  = "its booking is over"
	codeDisabled   = "the meeting space is disabled"
	codeForeign    = "made with another secret: set it anew"
	codeNotFit     = "the door cannot be opened now"
	codeShortOrFar = "not 4 to 10 digits"
)

// keypad is how the keypad of a space's lock stands. But for entered it belongs to
// its loop, and those who look hold mu. A lock that is configured anew has a new one.
type keypad struct {
	door    *device.Device
	events  *eventlog.Log
	log     *slog.Logger
	entered chan drivers.Secret // what was entered and is to be judged

	mu      sync.Mutex
	tries   auth.Budget // wrong codes
	refused codeRefusals
}

func newKeypad(events *eventlog.Log, log *slog.Logger) *keypad {
	return &keypad{events: events, log: log, entered: make(chan drivers.Secret, 1)}
}

// typed takes what was typed. It does not wait: what does not fit comes faster
// than anybody types.
func (k *keypad) typed(code drivers.Secret) bool {
	if !digitsOnly(code) {
		return false
	}
	select {
	case k.entered <- code:
	default:
	}
	return true
}

// verdict says why a code does not hold at a moment; empty: it does. A code
// without a time and without a booking always does. What depends on the time
// does not hold while the clock is not trusted: a clock that says anything
// could make a code of last year valid.
func (a *Agent) verdict(s *space, c *storedUnlockCode, now time.Time) string {
	switch {
	case c.Mark != a.secretMark():
		return codeForeign
	case c.From.IsZero() && c.Until.IsZero() && c.BookingID == "":
		return ""
	case a.clock.Trust() != Trusted:
		return codeTimeless
	case now.Before(c.From):
		return codeEarly
	case !c.Until.IsZero() && !now.Before(c.Until):
		return codeLate
	case c.BookingID == "":
		return ""
	}
	b, ok := s.room.Bookings().Get(c.BookingID)
	switch {
	case !ok || !b.Live() || !now.Before(b.End):
		return codeNoBooking
	case now.Before(b.Start.Add(-s.room.Rules().Opens)):
		return codeTooEarly
	case s.room.At(now).Status == booking.Disabled:
		return codeDisabled
	}
	return ""
}

// over says whether a code will never hold again, even if the clock is set back
// as far as a trusted one can be.
func (a *Agent) over(s *space, c *storedUnlockCode) bool {
	why := a.verdict(s, c, a.Now().Add(-clock.MaxStep))
	return why == codeLate || why == codeNoBooking
}

// UnlockCodeState says why a code does not open its door now; empty: it does.
func (a *Agent) UnlockCodeState(c UnlockCode) string {
	s := a.find(c.SpaceID)
	if s == nil {
		return codeUnknown
	}
	one := s.codes.book.Load().find(func(x *storedUnlockCode) bool { return x.ID == c.ID })
	if one == nil {
		return codeUnknown
	}
	return a.verdict(s, one, a.Now())
}

// KeypadState says for how long the keypad of a space's door takes no code
// after too many wrong ones; 0: it takes them.
func (a *Agent) KeypadState(spaceID string) (time.Duration, error) {
	s, _, err := a.doorOf(spaceID)
	if err != nil {
		return 0, err
	}
	s.keypad.mu.Lock()
	defer s.keypad.mu.Unlock()
	tries := s.keypad.tries
	wait, _ := tries.Take(keypadRate, a.moment())
	return wait, nil
}

// LiftLockout lets the keypad of a space's door take codes again at once, and
// forgets the wrong ones, with who did it in the log. Where there are none to
// forget it changes nothing.
func (a *Agent) LiftLockout(ctx context.Context, spaceID, by string) error {
	s, door, err := a.doorOf(spaceID)
	if err != nil {
		return err
	}
	k := s.keypad
	k.mu.Lock()
	defer k.mu.Unlock()
	tries := k.tries
	wait, _ := tries.Take(keypadRate, a.moment())
	if k.tries.Whole(keypadRate, a.moment()) {
		return nil
	}
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		if err := keypads.Delete(tx, door.ID); err != nil {
			return err
		}
		return a.Events.Push(tx, door.Event("codeLockoutLifted", "", time.Now(), map[string]any{"by": by, "seconds": int(wait.Seconds())}))
	}, func() { k.tries = auth.Budget{} })
}

// answerKeypad judges what is entered at the door of a space until ctx ends.
func (a *Agent) answerKeypad(ctx context.Context, s *space) error {
	k := s.keypad
	if k == nil {
		return nil
	}
	defer k.sumRefusals(true)
	for {
		select {
		case <-ctx.Done():
			return nil
		case code := <-k.entered:
			a.enter(ctx, s, code)
			loop.Sleep(ctx, keypadPause)
		case <-time.After(k.untilRefusals()):
		}
		k.sumRefusals(false)
	}
}

// enter judges one code. Its outcome is stored before it takes effect, so who
// cuts the power in time gains no try.
func (a *Agent) enter(ctx context.Context, s *space, code drivers.Secret) {
	k := s.keypad
	d := k.door
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(code) < minDigits || len(code) > maxDigits {
		k.refuseCode(nil, codeShortOrFar)
		return
	}
	spent := k.tries
	if _, ok := spent.Take(keypadRate, a.moment()); !ok {
		k.refuseCode(nil, codeLockedOut)
		return
	}
	one := s.codes.book.Load().byHash[a.codeHash(s.ID, code)]
	if one == nil {
		a.wrongCode(ctx, k, spent)
		return
	}
	if why := a.verdict(s, one, a.Now()); why != "" { // who has it guesses nothing
		k.refuseCode(one, why)
		return
	}
	if err := a.useCode(ctx, s, d, one); err != nil {
		k.log.Error("a code was right, but the door stays locked", "name", one.Name, "error", err)
		k.refuseCode(one, codeNotFit)
	}
}

// wrongCode counts a try, and tells if it was the last for now. One that cannot
// be stored counts too, until the next start.
func (a *Agent) wrongCode(ctx context.Context, k *keypad, spent auth.Budget) {
	d := k.door
	rows := []eventlog.Row{d.Event("codeRefused", "", time.Now(), map[string]any{"reason": codeUnknown})}
	next := spent
	if wait, ok := next.Take(keypadRate, a.moment()); !ok {
		rows = append(rows, d.Event("codeLockout", "", time.Now(), map[string]any{"seconds": int(wait.Seconds())}))
		k.log.Warn("too many wrong codes at the keypad, it is locked out", "for", wait)
	}
	k.tries = spent
	err := a.Events.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(a.Events.Push(tx, rows...), keypads.Put(tx, d.ID, spent))
	})
	if err != nil {
		k.log.Error("a wrong code cannot be stored, it counts until the next start", "error", err)
	}
}

// useCode opens the door for a code that is right.
func (a *Agent) useCode(ctx context.Context, s *space, d *device.Device, one *storedUnlockCode) error {
	if !d.Live().Enabled {
		return device.ErrDisabled()
	}
	if err := a.noteUse(ctx, s, d, one); err != nil {
		return err
	}
	c := device.Command{Space: s.ID, DeviceType: drivers.TypeLock, Action: drivers.ActOpen, TTL: keypadOrderTTL, Via: device.ViaKeypad, By: one.Name}
	if holds(d) {
		if r, _ := d.Reading(""); !r.Offline() && r.Value == drivers.Open {
			return nil // it is open for others, who shall not find it locked after us
		}
		c.Value = []byte(keypadOpen)
	}
	_, err := a.Commands.Accept(ctx, c)
	return err
}

// holds says whether the lock stays open when it is told to open and not for
// how long.
func holds(d *device.Device) bool {
	action, _, ok := d.Describe().Action("", drivers.ActOpen)
	return ok && len(action.Params) == 1 && action.Params[0].Name == drivers.ValueName &&
		action.Params[0].Unit == "s" && action.Params[0].Default == nil
}

// noteUse writes down that a code was used, unless it was deleted or replaced
// meanwhile.
func (a *Agent) noteUse(ctx context.Context, s *space, d *device.Device, one *storedUnlockCode) error {
	s.codes.turn.Lock()
	defer s.codes.turn.Unlock()
	book := s.codes.book.Load()
	if book.find(func(x *storedUnlockCode) bool { return x == one }) == nil {
		return errors.New("the code has just been changed")
	}
	used := *one
	used.LastUsed = a.Now().UTC().Truncate(time.Millisecond)
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		if err := unlockCodes.Put(tx, used.key(), used); err != nil {
			return err
		}
		return a.Events.Push(tx, d.Event("codeAccepted", "", time.Now(), used.told()))
	}, func() { s.codes.book.Store(book.with(one, &used)) })
}

// loadKeypad reads how many wrong codes a door had. What time has given back
// until now is known once: from here on this run counts.
func (k *keypad) load(tx *store.Tx, now auth.Moment) {
	d := k.door
	tries, err := keypads.Get(tx, d.ID)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	if err != nil { // damaged: as if there had been many
		k.log.Error("the count of wrong codes cannot be read, the keypad is locked out", "error", err)
		tries = auth.Budget{Spent: float64(keypadRate.Burst), At: now}
	}
	if _, ok := tries.Take(keypadRate, now); ok {
		tries.Spent--
	}
	k.tries = tries
}
