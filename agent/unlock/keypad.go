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
func (cs *Codes) Typed(lockID string, typed drivers.Secret) bool {
	if !isDigits(typed) {
		return false
	}
	cs.mu.Lock()
	k := cs.keypads[lockID]
	cs.mu.Unlock()
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
func (cs *Codes) LockedOut(spaceID string) (time.Duration, error) {
	door, err := cs.o.Door(spaceID)
	if err != nil {
		return 0, err
	}
	k := cs.keypad(door)
	k.mu.Lock()
	defer k.mu.Unlock()
	tries := k.tries
	wait, _ := tries.Take(wrongCodes, cs.o.Moment())
	return wait, nil
}

// LiftLockout lets the keypad of a space's door take codes again at once, and
// forgets the wrong ones, with who did it in the log. Where there are none to
// forget it changes nothing.
func (cs *Codes) LiftLockout(ctx context.Context, spaceID, by string) error {
	door, err := cs.o.Door(spaceID)
	if err != nil {
		return err
	}
	k := cs.keypad(door)
	k.mu.Lock()
	defer k.mu.Unlock()
	tries := k.tries
	wait, _ := tries.Take(wrongCodes, cs.o.Moment())
	if k.tries.Whole(wrongCodes, cs.o.Moment()) {
		return nil
	}
	return cs.o.Events.Update(ctx, func(tx *store.Tx) error {
		if err := keypadRows.Delete(tx, door.Lock.ID); err != nil {
			return err
		}
		return cs.o.Events.Push(tx, door.Lock.Event(eventLockoutLifted, "", time.Now(), map[string]any{"by": by, "seconds": int(wait.Seconds())}))
	}, func() { k.tries = auth.Budget{} })
}

// answer judges what is typed at a door until ctx ends.
func (cs *Codes) answer(ctx context.Context, door Door) error {
	k := cs.keypad(door)
	k.begin(door.Lock)
	defer cs.sumRefusals(k, true)
	for {
		select {
		case <-ctx.Done():
			return nil
		case typed := <-k.typed:
			cs.enter(ctx, k, door, typed)
			loop.Sleep(ctx, judgePause)
		case <-time.After(k.untilRefusals()):
		}
		cs.sumRefusals(k, false)
	}
}

// begin answers for a lock. Keys typed at another one of its id do not
// count.
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
func (cs *Codes) enter(ctx context.Context, k *keypad, door Door, typed drivers.Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(typed) < minDigits || len(typed) > maxDigits {
		cs.refuse(k, nil, codeWrongLength)
		return
	}
	spent := k.tries
	if _, ok := spent.Take(wrongCodes, cs.o.Moment()); !ok {
		cs.refuse(k, nil, codeLockedOut)
		return
	}
	one := cs.of(door.spaceID()).byHash[cs.hash(door.spaceID(), typed)]
	if one == nil {
		cs.countWrong(ctx, k, door, spent)
		return
	}
	if why := cs.verdict(door, one, cs.o.Clock.Now()); why != "" { // who has it guesses nothing
		cs.refuse(k, one, why)
		return
	}
	if err := cs.use(ctx, door, one); err != nil {
		cs.log(door).Error("a code was right, but the door stays locked", "name", one.Name, "error", err)
		cs.refuse(k, one, codeNotFit)
	}
}

// countWrong counts a try, and logs if it was the last for now. One that cannot
// be stored counts too, until the next start.
func (cs *Codes) countWrong(ctx context.Context, k *keypad, door Door, spent auth.Budget) {
	lock := door.Lock
	rows := []eventlog.Row{lock.Event(eventRefused, "", time.Now(), map[string]any{"reason": codeUnknown})}
	next := spent
	if wait, ok := next.Take(wrongCodes, cs.o.Moment()); !ok {
		rows = append(rows, lock.Event(eventLockout, "", time.Now(), map[string]any{"seconds": int(wait.Seconds())}))
		cs.log(door).Warn("too many wrong codes at the keypad, it is locked out", "for", wait)
	}
	k.tries = spent
	err := cs.o.Events.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(cs.o.Events.Push(tx, rows...), keypadRows.Put(tx, lock.ID, spent))
	})
	if err != nil {
		cs.log(door).Error("cannot store a wrong code, it counts until the next start", "error", err)
	}
}

// keypad returns the one at a door, as it was left. It outlives a change of the
// lock's configuration: who guesses gains no try by one.
func (cs *Codes) keypad(door Door) *keypad {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	k := cs.keypads[door.Lock.ID]
	if k == nil {
		k = &keypad{typed: make(chan drivers.Secret, 1), lock: door.Lock, tries: cs.readTries(door)}
		cs.keypads[door.Lock.ID] = k
	}
	return k
}

// readTries reads how many wrong codes a door had. The tries that time has given back
// until now are known once: from here on this run counts.
func (cs *Codes) readTries(door Door) (tries auth.Budget) {
	now := cs.o.Moment()
	err := cs.o.DB.View(func(tx *store.Tx) (err error) {
		tries, err = keypadRows.Get(tx, door.Lock.ID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return auth.Budget{}
	}
	if err != nil { // damaged: as if there had been many
		cs.log(door).Error("cannot read the count of wrong codes, the keypad is locked out", "error", err)
		tries = auth.Budget{Spent: float64(wrongCodes.Burst), At: now}
	}
	if _, ok := tries.Take(wrongCodes, now); ok {
		tries.Spent--
	}
	return tries
}

// log names the door.
func (cs *Codes) log(door Door) *slog.Logger {
	return cs.o.Log.With("meeting_space", door.Space, "device", door.Lock.ID)
}
