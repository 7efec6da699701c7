package roomcontrol

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

const (
	// doorLife is how old a check-in may be, and how long a lock that is away is
	// waited for, until the door stays locked: who checked in a minute ago may
	// have gone.
	doorLife = time.Minute
	// doorTries is how often a lock is told to open.
	doorTries = 3
	// doorMemory is how long a check-in is remembered beyond its meeting.
	doorMemory = time.Hour
)

// door unlocks for the meeting that is checked in, and locks behind it.
//
// It opens once for each check-in, and only if all of this is so: the check-in
// was made in the building, not for the cloud, whose orders to a door are signed; it
// came under the eyes of this run of the process, not more than doorLife after
// it was made by its own time; the clock is trusted; it is its turn, from the
// start minus the time that check-in opens before until the end, with no other
// meeting in the room; and the space is not disabled. So no replayed or late
// message opens it, and no restart, not even in the middle of a meeting. A
// failed command is repeated for doorLife at the most.
//
// What "open" does is the lock's own: one that pulses locks by itself and gets
// its one pulse, one that holds stays open.
//
// It locks an open door when the meeting is over, no matter who opened it meanwhile, and whatever later end the cloud
// has said without the signature that is wanted; when
// the room is seen empty for closeAfter during it; when the space is disabled,
// and when the clock is not trusted any more. It is not opened again for that
// meeting: a sensor lets nobody in, a code or the phone does. It also locks what
// it finds open after a start and nobody may use, for it may be the one who
// opened it. Locking is tried until the lock says that it is locked. Other
// doors that people open outside of meetings are theirs.
type door struct {
	closeAfter time.Duration

	seen   map[string]*checkIn // by booking
	open   time.Time           // since when it is seen open; zero: it is not
	guards bool                // it has to be locked when nobody may come in
}

// checkIn is one that was judged.
type checkIn struct {
	last  time.Time // it was seen
	due   bool      // the door is to be opened for it
	until time.Time // then it is not due any more; zero: its turn has not come
	end   time.Time // of the meeting, by a word that may let somebody in
}

func newDoor(offAfter time.Duration) *door {
	return &door{closeAfter: max(offAfter, doorLife), seen: map[string]*checkIn{}}
}

func (d *door) observe(v view, r device.Reading) {
	switch {
	case r.Offline():
	case r.Value != drivers.Open:
		d.open = time.Time{}
	case d.open.IsZero():
		d.open = v.now
	}
	d.judge(v)
	meeting := d.admitted(v)
	d.guards = d.guards || v.first || meeting != nil
	if meeting == nil {
		return
	}
	c := d.seen[meeting.ID]
	if c.until.IsZero() {
		c.until = v.now.Add(doorLife)
	}
	if v.now.After(c.until) {
		c.due = false
	}
}

// judge takes the check-ins that are new.
func (d *door) judge(v view) {
	for _, b := range v.checkedIn() {
		c := d.seen[b.ID]
		if c == nil {
			age := v.now.Sub(b.CheckedInAt)
			c = &checkIn{due: !v.first && age.Abs() <= doorLife && b.CheckedInBy != booking.Cloud}
			d.seen[b.ID] = c
		}
		c.last = v.now
		c.end = v.endOf(b, c.end)
		c.due = c.due && v.mayOpen() // it is refused, not put off
	}
	for id, c := range d.seen {
		if v.now.Sub(c.last) > doorMemory {
			delete(d.seen, id)
		}
	}
}

// mayOpen says whether the door may be open for anybody.
func (v view) mayOpen() bool { return v.trusted && v.state.Status != booking.Disabled }

// endOf is the end of a meeting that is checked in, as far as that may keep a door open: a word of the cloud that is
// not signed makes it no later than it was when they came. Only who may change the booking does, not who stands at the door.
func (v view) endOf(b *booking.Booking, was time.Time) time.Time {
	switch {
	case v.unsignedAllowed, !b.Unsigned, was.IsZero():
		return b.End
	}
	return was
}

// admitted is the meeting for which the door may be open now.
func (d *door) admitted(v view) *booking.Booking {
	b := v.admitted()
	if b == nil || !v.now.Before(d.seen[b.ID].end) {
		return nil
	}
	return b
}

// admitted is the meeting that may use the room now.
func (v view) admitted() *booking.Booking {
	if !v.mayOpen() {
		return nil
	}
	b := v.state.Current
	if b == nil {
		b = v.state.Next // they came early
	}
	if b == nil || b.State != booking.CheckedIn || v.now.Before(b.Start.Add(-v.rules.Opens)) || !v.now.Before(b.End) {
		return nil
	}
	return b
}

func (d *door) intend(v view, r device.Reading) intent {
	meeting := d.admitted(v)
	isOpen := r.Value == drivers.Open
	switch {
	case meeting == nil && d.guards && isOpen:
		return intent{action: drivers.ActClose, goal: "nobody's", always: true}
	case meeting == nil:
		d.guards = false // it is locked
	case d.seen[meeting.ID].due && isOpen:
		d.seen[meeting.ID].due = false
	case d.seen[meeting.ID].due:
		return intent{action: drivers.ActOpen, goal: meeting.ID, tries: doorTries}
	case isOpen && v.presence == schedule.Vacant:
		if since := latest(v.since, d.open, meeting.Start); v.now.Sub(since) >= d.closeAfter {
			return intent{action: drivers.ActClose, goal: "empty", always: true}
		}
	}
	return intent{}
}

func (d *door) fulfilled(i intent, at time.Time) {
	if i.action == drivers.ActOpen {
		d.open = at
		if c := d.seen[i.goal]; c != nil {
			c.due = false
		}
	}
}

func (d *door) lost() {}
