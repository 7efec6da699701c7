package unlock

import (
	"context"
	"errors"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// openTTL is how late the door may open after the code.
	openTTL = 10 * time.Second
	// openFor is how long a code unlocks a lock that would else stay open, in s.
	// One that locks by itself keeps its own time.
	openFor = "10"
)

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
	codeForeign    = "made with another secret: set it again"
	codeNotFit     = "the door cannot be opened now"
	codeShortOrFar = "not 4 to 10 digits"
)

// State says why a code does not open its door now; empty: it does.
func (b *Codes) State(c Code) string {
	door, err := b.o.Door(c.SpaceID)
	if err != nil {
		return codeUnknown
	}
	one := b.of(c.SpaceID).find(func(x *storedCode) bool { return x.ID == c.ID })
	if one == nil {
		return codeUnknown
	}
	return b.verdict(door, one, b.o.Clock.Now())
}

// verdict says why a code does not hold at a moment; empty: it does. A code
// without a time and without a booking always does. What depends on the time
// does not hold while the clock is not trusted: a clock that says anything
// could make a code of last year valid.
func (b *Codes) verdict(door Door, c *storedCode, now time.Time) string {
	switch {
	case c.Mark != b.mark():
		return codeForeign
	case c.From.IsZero() && c.Until.IsZero() && c.BookingID == "":
		return ""
	case b.o.Clock.Trust() != clock.Trusted:
		return codeTimeless
	case now.Before(c.From):
		return codeEarly
	case !c.Until.IsZero() && !now.Before(c.Until):
		return codeLate
	case c.BookingID == "":
		return ""
	}
	booked, ok := door.Room.Bookings().Get(c.BookingID)
	switch {
	case !ok || !booked.Live() || !now.Before(booked.End):
		return codeNoBooking
	case now.Before(booked.Start.Add(-door.Room.Rules().Opens)):
		return codeTooEarly
	case door.Room.At(now).Status == booking.Disabled:
		return codeDisabled
	}
	return ""
}

// over says whether a code will never hold again, even if the clock is set back
// as far as a trusted one can be.
func (b *Codes) over(door Door, c *storedCode) bool {
	why := b.verdict(door, c, b.o.Clock.Now().Add(-clock.MaxStep))
	return why == codeLate || why == codeNoBooking
}

// use opens the door for a code that is right. That it was used is stored first.
func (b *Codes) use(ctx context.Context, door Door, one *storedCode) error {
	if !door.Lock.Live().Enabled {
		return device.ErrDisabled()
	}
	if err := b.noteUse(ctx, door, one); err != nil {
		return err
	}
	c := device.Command{Space: door.spaceID(), DeviceType: drivers.TypeLock, Action: drivers.ActOpen, TTL: openTTL, Via: device.ViaKeypad, By: one.Name}
	if staysOpen(door.Lock) {
		if r, _ := door.Lock.Reading(""); !r.Offline() && r.Value == drivers.Open {
			return nil // it is open for others, who shall not find it locked after us
		}
		c.Value = []byte(openFor)
	}
	_, err := b.o.Commands.Accept(ctx, c)
	return err
}

// staysOpen says whether the lock stays open when it is told to open and not for
// how long.
func staysOpen(lock *device.Device) bool {
	action, _, ok := lock.Describe().Action("", drivers.ActOpen)
	return ok && len(action.Params) == 1 && action.Params[0].Name == drivers.ValueName &&
		action.Params[0].Unit == "s" && action.Params[0].Default == nil
}

// noteUse writes down that a code was used, unless it was deleted or replaced
// meanwhile.
func (b *Codes) noteUse(ctx context.Context, door Door, one *storedCode) error {
	b.turn.Lock()
	defer b.turn.Unlock()
	all := b.of(door.spaceID())
	if all.find(func(x *storedCode) bool { return x == one }) == nil {
		return errors.New("the code has just been changed")
	}
	used := *one
	used.LastUsed = b.o.Clock.Now().UTC().Truncate(time.Millisecond)
	return b.o.Events.Update(ctx, func(tx *store.Tx) error {
		if err := codeRows.Put(tx, used.key(), used); err != nil {
			return err
		}
		return b.o.Events.Push(tx, door.Lock.Event("codeAccepted", "", time.Now(), used.details()))
	}, func() { b.show(door.spaceID(), all.with(one, &used)) })
}
