package device

import (
	"fmt"
	"time"

	"roomgate/agent/problem"
	"roomgate/drivers"
)

const (
	// LongestLife bounds the life of a command, by whatever it says.
	LongestLife = 24 * time.Hour
	// farAhead is how far ahead of a trusted clock a message's time may be. Until
	// then each copy of it is as fresh as the first.
	farAhead = time.Hour
	// LongestDoorLife is how long a command of the cloud may wait that unlocks:
	// who asked for it stands at the door. So far ahead its times may be.
	LongestDoorLife = time.Minute
	// usualDoorLife is the most that such a command has if it does not say. Its
	// sender's clock may be half a minute ahead then.
	usualDoorLife = 30 * time.Second
)

// Unlocks says whether an action of a device lets people in.
func Unlocks(deviceType, action string) bool {
	return deviceType == drivers.TypeLock && action == drivers.ActOpen
}

// judge says until when a command may be carried out. It is as if made for one
// moment.
type judge struct {
	now     time.Time // with a monotonic reading: a stepped clock revives nothing
	trusted bool      // the clock
	usual   time.Duration
}

// deadline is until when a command may be carried out, or why it may not. By
// wall clock if the clock is trusted; else by the time since it arrived, which a
// replayed message cannot stretch beyond the life its sender gave it.
func (j judge) deadline(c Command) (time.Time, error) {
	cloudDoor := c.Via == ViaMQTT && Unlocks(c.DeviceType, c.Action)
	if cloudDoor {
		j.usual = min(j.usual, usualDoorLife)
	}
	end := j.end(c)
	if !j.now.Before(end) {
		return end, problem.New(problem.Expired, "", "the command was no longer valid when it arrived: it had ended %s before", roughly(j.now.Sub(end)))
	}
	if cloudDoor {
		return end, j.mayUnlock(c)
	}
	return end, j.within(c, LongestLife, farAhead, LongestLife+farAhead)
}

// roughly is a length of time as people say it: of seconds, and below a second of
// milliseconds.
func roughly(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// mayUnlock is the one place for what a command of the cloud needs more when it
// Unlocks: it must show that it did not wait, to a clock that can tell.
func (j judge) mayUnlock(c Command) error {
	if c.SentAt.IsZero() && c.ExpiresAt.IsZero() {
		return problem.New(problem.Invalid, "expires_at", "is missing, and so is the time of the message: a command that unlocks needs one of the two")
	}
	if !c.SentAt.IsZero() && c.ExpiresAt.Sub(c.SentAt) > LongestDoorLife {
		return problem.New(problem.Invalid, "expires_at", "is more than %s after the time of the message", inUnits(LongestDoorLife))
	}
	if c.TTL > LongestDoorLife {
		return problem.New(problem.Invalid, "ttl_s", "is out of range: want at most %s for a command that unlocks", inUnits(LongestDoorLife))
	}
	if err := j.within(c, LongestDoorLife, LongestDoorLife, LongestDoorLife); err != nil {
		return err
	}
	if !j.trusted {
		return problem.New(problem.NotNow, "", "the clock of the gateway is not trusted, so it cannot tell for how long a command that unlocks has waited: send it again once the clock is set")
	}
	return nil
}

// timely says whether a broker can hold a command of the cloud back for no longer than one that unlocks, so that it tells what its
// sender wants now.
func (j judge) timely(c Command, end time.Time) bool {
	j.usual = min(j.usual, usualDoorLife)
	return j.mayUnlock(c) == nil && (c.SentAt.IsZero() || end.Sub(c.SentAt) <= LongestDoorLife)
}

// within refuses times that contradict each other, and those that are further
// ahead than they may be: an expiry, a message's time, and the end of a ttl that
// counts from it.
func (j judge) within(c Command, expiry, sent, ttl time.Duration) error {
	given := c.ExpiresAt.Sub(c.SentAt)
	both := !c.ExpiresAt.IsZero() && !c.SentAt.IsZero()
	switch {
	case c.TTL < 0 || c.TTL > LongestLife:
		return problem.New(problem.Invalid, "ttl_s", "is out of range: want at most %s", inUnits(LongestLife))
	case both && given < 0:
		return problem.New(problem.Invalid, "expires_at", "is before the time of the message")
	case !j.trusted && both && given > expiry:
		return problem.New(problem.Invalid, "expires_at", "is more than %s after the time of the message", inUnits(expiry))
	case !j.trusted:
		return nil
	case c.ExpiresAt.Sub(j.now) > expiry:
		return problem.New(problem.Invalid, "expires_at", "is more than %s ahead of the clock of the gateway", inUnits(expiry))
	case c.SentAt.IsZero():
		return nil
	case c.SentAt.Sub(j.now) > sent:
		return problem.New(problem.Invalid, "time", "is more than %s ahead of the clock of the gateway", inUnits(sent))
	case c.TTL > 0 && c.SentAt.Add(c.TTL).Sub(j.now) > ttl:
		return problem.New(problem.Invalid, "ttl_s", "counts from the time of the message and ends more than %s ahead of the clock of the gateway", inUnits(ttl))
	case c.TTL == 0 && c.ExpiresAt.IsZero() && c.SentAt.Add(j.usual).Sub(j.now) > ttl:
		return problem.New(problem.Invalid, "time", "is too far ahead of the clock of the gateway: say expires_at")
	}
	return nil
}

// end is until when a command is valid by what it says.
func (j judge) end(c Command) time.Time {
	life := c.TTL
	if life <= 0 && c.ExpiresAt.IsZero() {
		life = j.usual
	}
	sent := c.SentAt
	if sent.IsZero() || sent.After(j.now) {
		sent = j.now
	}
	if j.trusted {
		end := j.now.Add(life - j.now.Sub(sent))
		if life <= 0 || !c.ExpiresAt.IsZero() && c.ExpiresAt.Before(end) {
			end = j.now.Add(c.ExpiresAt.Sub(j.now))
		}
		return end
	}
	if c.SentAt.IsZero() && !c.ExpiresAt.IsZero() && c.ExpiresAt.Before(j.now) {
		return c.ExpiresAt // a clock that nobody set is late, so this is past by any clock
	}
	if !c.ExpiresAt.IsZero() && !c.SentAt.IsZero() {
		if given := c.ExpiresAt.Sub(c.SentAt); life <= 0 || given < life {
			return j.now.Add(given)
		}
	}
	if life <= 0 { // an expiry by a clock that we cannot compare with ours
		life = j.usual
	}
	return j.now.Add(life)
}

// inUnits writes a whole number of seconds or hours.
func inUnits(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
