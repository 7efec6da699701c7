package roomcontrol

import (
	"time"

	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// light is a light or a fan that is on while people meet.
//
// On: once for each meeting, when it checks in or walks up; where nobody has to
// check in, when it runs and the room is not seen empty. Who switches it off
// during the meeting, for a film, keeps it off. A device that is offline then is
// switched on when it is back. After a restart during a meeting it is on again
// if it was on before, and left off if somebody had it off.
//
// Off: never while a meeting is checked in, for people sit still and sensors
// miss them. Else
//
//   - in a room that is seen empty for offAfter, no matter who switched it on: nobody
//     is there to need it, and that is what people expect of a room that
//     watches. The time starts again when it is switched on or somebody gives it
//     a command, so that neither a cloud that prepares a room nor a person that
//     the sensor misses has to fight;
//   - in a room of which nothing is known, without a sensor or with one that is
//     silent, offAfter the end, and only if the schedule switched it on and
//     nobody has commanded it since: without a witness nobody is left in the dark
//     but by the schedule that has lit the room.
type light struct {
	device   *device.Device
	offAfter time.Duration

	served string    // the meeting for which it was switched on, or left as it is
	on     time.Time // since when it is seen on; zero: it is off
	free   time.Time // since when nobody is here; zero: somebody is
	ours   bool      // the schedule switched it on, and nobody has commanded it since

	last  *device.Stored // the last command to it
	other time.Time      // when somebody else was seen to have commanded it
}

func (l *light) observe(v view, r device.Reading) {
	here := v.here()
	switch {
	case here != nil:
		l.free = time.Time{}
	case l.free.IsZero():
		l.free = v.now
	}
	if v.first && here != nil {
		l.resume(here.ID)
	}
	if r.Offline() {
		return // what it was last is not what it is
	}
	switch {
	case r.Value != drivers.On:
		l.on, l.ours = time.Time{}, false
	case l.on.IsZero():
		l.on = v.now
	}
	if last := l.device.Last(); last != l.last {
		l.last = last
		if last.Command.Via != device.ViaSchedule && last.Receipt.State != device.Rejected {
			l.other, l.ours = v.now, false
		}
	}
}

// resume goes on with a meeting that was under way when the process ended, from
// what the device was then: by now it may have been opened, which switches it
// off.
func (l *light) resume(id string) {
	if l.ours = l.device.Before() == drivers.On; !l.ours {
		l.served = id
	}
}

func (l *light) intend(v view, r device.Reading) intent {
	if here := v.here(); here != nil {
		if r.Value == drivers.On {
			l.served = here.ID
		}
		if l.served == here.ID {
			return intent{}
		}
		return intent{action: drivers.ActOn, goal: here.ID}
	}
	since, due := l.idleSince(v)
	if r.Value != drivers.On || !due || v.now.Sub(since) < l.offAfter {
		return intent{}
	}
	return intent{action: drivers.ActOff, goal: "off since " + since.String()}
}

// idleSince is since when nobody needs it; false if that cannot be told.
func (l *light) idleSince(v view) (since time.Time, ok bool) {
	switch v.presence {
	case schedule.Vacant:
		return latest(v.since, l.on, l.other), true
	case schedule.Unknown:
		return latest(v.since, l.free), l.ours
	}
	return since, false
}

func (l *light) fulfilled(i intent, at time.Time) {
	if i.action == drivers.ActOn {
		l.served, l.ours, l.on = i.goal, true, at
		return
	}
	l.served = "" // where nobody checks in, it is on again for who comes back
	l.on, l.ours = time.Time{}, false
}

func (l *light) lost() {}
