package unlock

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// Set makes or replaces a code of a space, with who did it in the log. made are
// the digits if they were made here: they are shown only now. It refuses a code
// that the space cannot have beside the others.
func (cs *Codes) Set(ctx context.Context, spaceID string, r Request, by string) (c Code, made drivers.Secret, created bool, err error) {
	cs.turn.Lock()
	defer cs.turn.Unlock()
	door, err := cs.o.Door(spaceID) // as it is now: a change of the site may have held the turn
	if err != nil {
		return c, "", false, err
	}
	if err := cs.check(door, &r); err != nil {
		return c, "", false, err
	}
	all, forgotten := cs.withoutOver(door)
	old, err := all.replaced(r)
	if err != nil {
		return c, "", false, err
	}
	one, made, err := cs.newCode(door, all, old, r)
	if err != nil {
		return c, "", false, err
	}
	next := all.with(old, one)
	if err := next.fits(); err != nil {
		return c, "", false, err
	}
	err = cs.o.Events.Update(ctx, func(tx *store.Tx) error {
		for _, over := range forgotten {
			if err := codeRows.Delete(tx, over.key()); err != nil {
				return err
			}
		}
		return cs.write(tx, change{door, old, one}, by)
	}, func() { cs.show(spaceID, next) })
	if err != nil {
		return c, "", false, err
	}
	return one.Code, made, old == nil, nil
}

// List returns the codes of a space, oldest first.
func (cs *Codes) List(spaceID string) ([]Code, error) {
	if _, err := cs.o.Door(spaceID); err != nil {
		return nil, err
	}
	all := []Code{}
	for _, one := range cs.of(spaceID).all {
		all = append(all, one.Code)
	}
	return all, nil
}

// Delete ends a code at once, with who did it in the log.
func (cs *Codes) Delete(ctx context.Context, spaceID, id, by string) error {
	cs.turn.Lock()
	defer cs.turn.Unlock()
	door, err := cs.o.Door(spaceID)
	if err != nil {
		return err
	}
	all := cs.of(spaceID)
	old := all.find(func(x *storedCode) bool { return x.ID == id })
	if old == nil {
		return problem.New(problem.NotFound, "code_id", "is not an unlock code of this meeting space")
	}
	return cs.o.Events.Update(ctx, func(tx *store.Tx) error { return cs.write(tx, change{door, old, nil}, by) },
		func() { cs.show(spaceID, all.with(old, nil)) })
}

// change is one code as it was and as it shall be; nil: there is none.
type change struct {
	door     Door
	old, one *storedCode
}

// write stores a change of a code and logs it.
func (cs *Codes) write(tx *store.Tx, c change, by string) error {
	kind, what := eventUpdated, c.one
	switch {
	case c.one == nil:
		kind, what = eventDeleted, c.old
		if err := codeRows.Delete(tx, c.old.key()); err != nil {
			return err
		}
	case c.old == nil:
		kind = eventCreated
	}
	if c.one != nil {
		if err := codeRows.Put(tx, c.one.key(), *c.one); err != nil {
			return err
		}
	}
	details := what.details()
	details["by"] = by
	if c.door.Lock == nil { // it goes, or has gone
		return cs.o.Events.Tell(tx, eventlog.Record{Type: kind, Time: time.Now(), Space: what.SpaceID, Device: eventlog.SpaceDevice, Details: details})
	}
	return cs.o.Events.Push(tx, c.door.Lock.Event(kind, "", time.Now(), details))
}

// newCode is the code that somebody asks for, in the place of old.
func (cs *Codes) newCode(door Door, all *codes, old *storedCode, r Request) (one *storedCode, made drivers.Secret, err error) {
	now := cs.o.Clock.Now().UTC().Truncate(time.Millisecond)
	one = &storedCode{Code: Code{ID: ulid.Make().String(), SpaceID: door.spaceID(), Created: now}}
	if old != nil {
		*one = *old
	}
	one.Name, one.BookingID, one.From, one.Until, one.Updated = r.Name, r.BookingID, r.From, r.Until, now
	one.Window = booking.Interval{}
	one.Of, _ = cs.o.Owner(door.spaceID()) // there is a door, so there is a space
	if b, ok := door.Room.Bookings().Get(r.BookingID); ok {
		one.Window = booking.Interval{Start: b.Start, End: b.End}
	}
	switch {
	case r.Code != "":
	case old != nil && old.Mark == cs.mark():
		return one, "", nil
	default:
		made = cs.freeCode(door.spaceID(), all)
		r.Code = made
	}
	hash := cs.hash(door.spaceID(), r.Code)
	if other := all.byHash[hash]; other != nil && other != old {
		return nil, "", problem.New(problem.Conflict, "code", "is that of another unlock code of this meeting space: choose other digits")
	}
	one.Hash, one.Mark, one.Digits = hash[:], cs.mark(), len(r.Code)
	return one, made, nil
}

// freeCode makes digits that no code of the space has.
func (cs *Codes) freeCode(spaceID string, all *codes) drivers.Secret {
	values := big.NewInt(int64(math.Pow10(madeDigits)))
	for {
		n, err := rand.Int(rand.Reader, values)
		if err != nil { // never (crypto/rand)
			panic(err)
		}
		code := drivers.Secret(fmt.Sprintf("%0*d", madeDigits, n))
		if all.byHash[cs.hash(spaceID, code)] == nil {
			return code
		}
	}
}

// check refuses what can be no code of the space, and writes the name and the
// times as they are kept.
func (cs *Codes) check(door Door, r *Request) error {
	r.Name = strings.TrimSpace(r.Name)
	r.From, r.Until = r.From.UTC().Truncate(time.Millisecond), r.Until.UTC().Truncate(time.Millisecond)
	switch {
	case r.Name == "" || len(r.Name) > 100 || !printable.Line(r.Name):
		return problem.New(problem.Invalid, "name", "is out of range: want 1 to 100 bytes of text, without control characters")
	case r.Code != "" && (!isDigits(r.Code) || len(r.Code) < minDigits || len(r.Code) > maxDigits):
		return problem.New(problem.Invalid, "code", "is out of range: want %d to %d digits", minDigits, maxDigits)
	case !eventlog.Storable(r.From):
		return problem.New(problem.Invalid, "valid_from", "is out of range: want a year from 1970 to 9999")
	case !eventlog.Storable(r.Until):
		return problem.New(problem.Invalid, "valid_until", "is out of range: want a year from 1970 to 9999")
	case !r.Until.IsZero() && !r.Until.After(r.From):
		return problem.New(problem.Invalid, "valid_until", "is not after valid_from")
	case !r.Until.IsZero() && cs.o.Clock.Trust() == clock.Trusted && !r.Until.After(cs.o.Clock.Now()):
		return problem.New(problem.Invalid, "valid_until", "is past")
	}
	if r.BookingID == "" {
		return nil
	}
	booked, ok := door.Room.Bookings().Get(r.BookingID)
	if !ok {
		return problem.New(problem.NotFound, "booking_id", "is not a booking of this meeting space")
	}
	if !booked.Live() {
		return problem.New(problem.NotNow, "booking_id", "is a booking that is %s", booked.State)
	}
	return nil
}

// withoutOver is the codes of a space, without those that are over if there are too
// many to add one.
func (cs *Codes) withoutOver(door Door) (all *codes, forgotten []*storedCode) {
	all = cs.of(door.spaceID())
	if len(all.all) < maxCodes {
		return all, nil
	}
	var left []*storedCode
	for _, one := range all.all {
		if cs.over(door, one) {
			forgotten = append(forgotten, one)
		} else {
			left = append(left, one)
		}
	}
	return newCodes(left), forgotten
}
