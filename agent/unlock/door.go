package unlock

import (
	"cmp"
	"context"
	"errors"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
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
	codeUnknown     = "no such code"
	codeLockedOut   = "locked out"
	codeTimeless    = "the clock is not trusted"
	codeEarly       = "not valid yet"
	codeLate        = "not valid any more"
	codeTooEarly    = "too early for its booking"
	codeNoBooking   = "its booking is over"
	codeUnsigned    = "its booking was moved without a signature"
	codeDisabled    = "the meeting space is disabled"
	codeForeign     = "made with another secret: set it again"
	codeOfOthers    = "made while the meeting space was another organization's: set it again"
	codeNotFit      = "the door cannot be opened now"
	codeWrongLength = "not 4 to 10 digits"
)

// WhyNot says why a code does not open its door now; empty: it does.
func (cs *Codes) WhyNot(c Code) string {
	door, err := cs.o.Door(c.SpaceID)
	if err != nil {
		return codeUnknown
	}
	one := cs.of(c.SpaceID).find(func(x *storedCode) bool { return x.ID == c.ID })
	if one == nil {
		return codeUnknown
	}
	return cs.verdict(door, one, cs.o.Clock.Now())
}

// verdict says why a code does not hold at a moment; empty: it does. A code
// without a time and without a booking always does. A code with a time
// or a booking does not hold while the clock is not trusted: a clock that says anything
// could make a code of last year valid.
// One that was set for an organization holds as long as the space is its own.
func (cs *Codes) verdict(door Door, c *storedCode, now time.Time) string {
	switch {
	case c.Mark != cs.mark():
		return codeForeign
	case c.Of != "" && !cs.isOwner(c.Of, c.SpaceID):
		return codeOfOthers
	case c.From.IsZero() && c.Until.IsZero() && c.BookingID == "":
		return ""
	case cs.o.Clock.Trust() != clock.Trusted:
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
	case booked.Unsigned && !cs.o.UnsignedAllowed() && !c.vouched(booked, door.Room.Rules().Opens, now):
		return codeUnsigned
	}
	return ""
}

func (cs *Codes) isOwner(organization, spaceID string) bool {
	owner, err := cs.o.Owner(spaceID)
	return err == nil && owner == organization
}

// vouched says whether now is in the time that a booking had before somebody moved it whose word opens no door, or else
// when the code was set for it.
func (c *storedCode) vouched(b booking.Booking, opens time.Duration, now time.Time) bool {
	w := cmp.Or(b.Vouched, c.Window)
	return !now.Before(w.Start.Add(-opens)) && now.Before(w.End)
}

// over says whether a code will never hold again, even if the clock is set back
// as far as a trusted one can be.
func (cs *Codes) over(door Door, c *storedCode) bool {
	why := cs.verdict(door, c, cs.o.Clock.Now().Add(-clock.MaxStep))
	return why == codeLate || why == codeNoBooking
}

// use opens the door for a code that is right. That it was used is stored first.
func (cs *Codes) use(ctx context.Context, door Door, one *storedCode) error {
	if !door.Lock.Live().Enabled {
		return device.ErrDisabled()
	}
	if err := cs.noteUse(ctx, door, one); err != nil {
		return err
	}
	c := device.Command{Space: door.spaceID(), DeviceType: drivers.TypeLock, Action: drivers.ActOpen, TTL: openTTL, Via: device.ViaKeypad, By: one.Name}
	if staysOpen(door.Lock) {
		if r, _ := door.Lock.Reading(""); !r.Offline() && r.Value == drivers.Open {
			return nil // it is open for others, who shall not find it locked after us
		}
		c.Value = []byte(openFor)
	}
	_, err := cs.o.Commands.Accept(ctx, c)
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
func (cs *Codes) noteUse(ctx context.Context, door Door, one *storedCode) error {
	cs.turn.Lock()
	defer cs.turn.Unlock()
	all := cs.of(door.spaceID())
	if all.find(func(x *storedCode) bool { return x == one }) == nil {
		return errors.New("the code has just been changed")
	}
	used := *one
	used.LastUsed = cs.o.Clock.Now().UTC().Truncate(time.Millisecond)
	put := func(tx *store.Tx) error { return codeRows.Put(tx, used.key(), used) }
	later := func(tx *store.Tx) error { // unless it was deleted or replaced by then
		stored, err := codeRows.Get(tx, used.key())
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		stored.LastUsed = used.LastUsed
		return errors.Join(err, codeRows.Put(tx, used.key(), stored))
	}
	show := func() { cs.show(door.spaceID(), all.with(one, &used)) }
	accepted := door.Lock.Event(eventAccepted, "", time.Now(), used.details())
	err := cs.o.Events.Update(ctx, func(tx *store.Tx) error { return errors.Join(put(tx), cs.o.Events.Push(tx, accepted)) }, show)
	if !store.Unstored(err) {
		return err
	}
	show() // the door opens by what is known, and this is written when it can be
	cs.o.Events.Add(eventlog.Change{Rows: []eventlog.Row{accepted}, Key: "unlock/" + used.key(), Latest: later})
	return nil
}
