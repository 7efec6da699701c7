package unlock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/drivers"
	"roomgate/store"
)

// judgePause is the least time between two codes that are judged at one door;
// what is entered faster is noise.
const judgePause = time.Second

// wrongCodes is how many wrong codes a door takes: some at once, and then few.
// It goes on counting over restarts, and a right code gives nothing back, so
// that who guesses has 77 tries in a first day and 72 in each after.
var wrongCodes = auth.Rate{Burst: 5, Every: 20 * time.Minute}

// keypad is how the keypad of a lock stands.
type keypad struct {
	typed chan drivers.Secret // what was typed and is to be judged

	mu      sync.Mutex
	lock    *device.Device // that it is answered for
	tries   auth.Budget    // wrong codes
	refused refusals
}

// Typed takes what was typed at a lock. It says false if that is no code but, say,
// a card. It does not wait: what does not fit comes faster than anybody types.
func (u *Codes) Typed(lockID string, typed drivers.Secret) bool {
	if !isDigits(typed) {
		return false
	}
	u.mu.Lock()
	k := u.keypads[lockID]
	u.mu.Unlock()
	if k == nil { // nobody answers it
		return true
	}
	select {
	case k.typed <- typed:
	default:
	}
	return true
}

// LockedOut says for how long the keypad of a space's door takes no code after
// too many wrong ones; 0: it takes them.
func (u *Codes) LockedOut(spaceID string) (time.Duration, error) {
	door, err := u.o.Door(spaceID)
	if err != nil {
		return 0, err
	}
	k := u.keypad(door)
	k.mu.Lock()
	defer k.mu.Unlock()
	tries := k.tries
	wait, _ := tries.Take(wrongCodes, u.o.Moment())
	return wait, nil
}

// LiftLockout lets the keypad of a space's door take codes again at once, and
// forgets the wrong ones, with who did it in the log. Where there are none to
// forget it changes nothing.
func (u *Codes) LiftLockout(ctx context.Context, spaceID, by string) error {
	door, err := u.o.Door(spaceID)
	if err != nil {
		return err
	}
	k := u.keypad(door)
	k.mu.Lock()
	defer k.mu.Unlock()
	tries := k.tries
	wait, _ := tries.Take(wrongCodes, u.o.Moment())
	if k.tries.Whole(wrongCodes, u.o.Moment()) {
		return nil
	}
	return u.o.Events.Update(ctx, func(tx *store.Tx) error {
		if err := keypadRows.Delete(tx, door.Lock.ID); err != nil {
			return err
		}
		return u.o.Events.Push(tx, door.Lock.Event(eventLockoutLifted, "", time.Now(), map[string]any{"by": by, "seconds": int(wait.Seconds())}))
	}, func() { k.tries = auth.Budget{} })
}

// answer judges what is typed at a door until ctx ends.
func (u *Codes) answer(ctx context.Context, door Door) error {
	k := u.keypad(door)
	k.begin(door.Lock)
	defer u.sumRefusals(k, true)
	for {
		select {
		case <-ctx.Done():
			return nil
		case typed := <-k.typed:
			u.enter(ctx, k, door, typed)
			loop.Sleep(ctx, judgePause)
		case <-time.After(k.untilRefusals()):
		}
		u.sumRefusals(k, false)
	}
}

// begin answers for a lock. What was typed at another one of its id is not made
// up for.
func (k *keypad) begin(lock *device.Device) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lock != lock {
		select {
		case <-k.typed:
		default:
		}
	}
	k.lock = lock
}

// enter judges one code. Its outcome is stored before it takes effect, so who
// cuts the power in time gains no try.
func (u *Codes) enter(ctx context.Context, k *keypad, door Door, typed drivers.Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(typed) < minDigits || len(typed) > maxDigits {
		u.refuse(k, nil, codeWrongLength)
		return
	}
	spent := k.tries
	if _, ok := spent.Take(wrongCodes, u.o.Moment()); !ok {
		u.refuse(k, nil, codeLockedOut)
		return
	}
	one := u.of(door.spaceID()).byHash[u.hash(door.spaceID(), typed)]
	if one == nil {
		u.countWrong(ctx, k, door, spent)
		return
	}
	if why := u.verdict(door, one, u.o.Clock.Now()); why != "" { // who has it guesses nothing
		u.refuse(k, one, why)
		return
	}
	if err := u.use(ctx, door, one); err != nil {
		u.log(door).Error("a code was right, but the door stays locked", "name", one.Name, "error", err)
		u.refuse(k, one, codeNotFit)
	}
}

// countWrong counts a try, and logs if it was the last for now. One that cannot
// be stored counts too, until the next start.
func (u *Codes) countWrong(ctx context.Context, k *keypad, door Door, spent auth.Budget) {
	lock := door.Lock
	rows := []eventlog.Row{lock.Event(eventRefused, "", time.Now(), map[string]any{"reason": codeUnknown})}
	next := spent
	if wait, ok := next.Take(wrongCodes, u.o.Moment()); !ok {
		rows = append(rows, lock.Event(eventLockout, "", time.Now(), map[string]any{"seconds": int(wait.Seconds())}))
		u.log(door).Warn("too many wrong codes at the keypad, it is locked out", "for", wait)
	}
	k.tries = spent
	err := u.o.Events.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(u.o.Events.Push(tx, rows...), keypadRows.Put(tx, lock.ID, spent))
	})
	if err != nil {
		u.log(door).Error("cannot store a wrong code, it counts until the next start", "error", err)
	}
}

// keypad returns the one at a door, as it was left. It outlives a change of the
// lock's configuration: who guesses gains no try by one.
func (u *Codes) keypad(door Door) *keypad {
	u.mu.Lock()
	defer u.mu.Unlock()
	k := u.keypads[door.Lock.ID]
	if k == nil {
		k = &keypad{typed: make(chan drivers.Secret, 1), lock: door.Lock, tries: u.readTries(door)}
		u.keypads[door.Lock.ID] = k
	}
	return k
}

// readTries reads how many wrong codes a door had. What time has given back
// until now is known once: from here on this run counts.
func (u *Codes) readTries(door Door) (tries auth.Budget) {
	now := u.o.Moment()
	err := u.o.DB.View(func(tx *store.Tx) (err error) {
		tries, err = keypadRows.Get(tx, door.Lock.ID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return auth.Budget{}
	}
	if err != nil { // damaged: as if there had been many
		u.log(door).Error("cannot read the count of wrong codes, the keypad is locked out", "error", err)
		tries = auth.Budget{Spent: float64(wrongCodes.Burst), At: now}
	}
	if _, ok := tries.Take(wrongCodes, now); ok {
		tries.Spent--
	}
	return tries
}

// log names the door.
func (u *Codes) log(door Door) *slog.Logger {
	return u.o.Log.With("meeting_space", door.Space, "device", door.Lock.ID)
}
