package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/rule"
	"roomgate/agent/rule/doubt"
)

const (
	// longestPause is the longest that rules sleep: a clock that was set is noticed after
	// so long.
	longestPause = 10 * time.Second
	// missedLimit is how far back triggers by time are looked for that were
	// missed, to note them.
	missedLimit = 24 * time.Hour
	// aheadLimit is how far a clock that was set back may be behind the last
	// trigger until it is believed that it had been wrong before.
	aheadLimit = time.Hour
)

const missedByTime = "the gateway was off, or its clock not trusted, at that time"

// due is when the rules have to be asked though nobody wakes them: never while
// there are none.
func (e *Engine) due() <-chan time.Time {
	set := e.set.Load()
	if len(set.byID) == 0 {
		return nil
	}
	return time.After(set.pause(e.o.Clock.Now()))
}

// pause is how long rules can sleep.
func (s *ruleSet) pause(now time.Time) time.Duration {
	if len(s.byPlan) > 0 {
		return min(longestPause, now.Truncate(time.Second).Add(time.Second).Sub(now))
	}
	if len(s.byTime) > 0 {
		return min(longestPause, now.Truncate(time.Minute).Add(time.Minute).Sub(now))
	}
	return longestPause
}

// askTime asks the rules whose time has come since the last time. Nothing
// comes while the clock is not trusted; what came meanwhile is taken late if it
// is not too late, and else only noted. Each minute on the wall of a space
// comes once, see [rule.Walls]. The caller has the turn.
func (e *Engine) askTime(ctx context.Context) error {
	now := e.o.moment()
	if e.o.Clock.Trust() != clock.Trusted {
		return nil
	}
	set, last := e.set.Load(), e.asked.at
	switch {
	case last.IsZero(), last.Sub(now) > aheadLimit, !set.timed() && now.After(last):
		e.asked.at = now
		return nil
	case !now.After(last):
		return nil
	}
	from := last
	if now.Sub(from) > missedLimit {
		from = now.Add(-missedLimit)
	}
	v := newVerdicts()
	if err := e.askMinutes(v, set, from, now); err != nil {
		return err
	}
	if err := e.askPlans(v, set, from, now); err != nil {
		return err
	}
	return e.decide(ctx, v, position{e.asked.seq, now})
}

// askMinutes asks the rules with a time of day, for each minute that has begun.
func (e *Engine) askMinutes(v *verdicts, set *ruleSet, from, now time.Time) error {
	if len(set.byTime) == 0 {
		return nil
	}
	for m := from.Truncate(time.Minute).Add(time.Minute); !m.After(now); m = m.Add(time.Minute) {
		walls := map[*time.Location][]time.Time{}
		for _, s := range e.o.Site().order {
			zone := s.Rules().Zone
			if _, known := walls[zone]; !known {
				walls[zone] = rule.Walls(m, zone)
			}
			for _, h := range set.byTime {
				if h.SpaceID != "" && h.SpaceID != s.ID {
					continue
				}
				wall, ok := firstMatch(h.times, walls[zone])
				if !ok {
					continue
				}
				t := momentOf("t"+wall.Format("20060102T1504")+"-"+s.ID, "time "+wall.Format("15:04"), s, m, now)
				if err := e.ask(v, h, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func firstMatch(t rule.Times, walls []time.Time) (time.Time, bool) {
	for _, w := range walls {
		if t.Match(w) {
			return w, true
		}
	}
	return time.Time{}, false
}

// momentOf is a trigger that no event is.
func momentOf(id, words string, s *Space, at, now time.Time) *trigger {
	t := &trigger{id: id, words: words, at: at, space: s, late: now.Sub(at), event: rule.NewEnv().Event}
	if t.late > rule.LateLimit {
		t.missed = missedByTime
	}
	return t
}

// askPlans asks the rules before and after bookings.
func (e *Engine) askPlans(v *verdicts, set *ruleSet, from, now time.Time) error {
	for _, h := range set.byPlan {
		offset, words := time.Duration(h.Trigger.After), h.Trigger.After.String()+" after "
		if h.Trigger.Before != 0 {
			offset, words = -time.Duration(h.Trigger.Before), h.Trigger.Before.String()+" before "
		}
		for _, s := range e.o.Site().order {
			if h.SpaceID != "" && h.SpaceID != s.ID {
				continue
			}
			for _, b := range bookingsAt(s.Bookings(), h.Trigger, from.Add(-offset), now.Add(-offset)) {
				at := momentIn(b, h.Trigger).Add(offset)
				t := momentOf("b"+short(b.ID)+"-"+strconv.FormatInt(at.UnixMilli(), 36), words+h.Trigger.Booking, s, at, now)
				t.booking, t.event.Type = b.ID, h.Trigger.Booking
				if e.o.doubtful(b.ID) {
					t.chain = doubt.Chain()
				}
				if err := e.ask(v, h, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bookingsAt are the bookings whose start or end is in (from, to]. Only after
// an end that counts which are over; a start or an end that never came does
// not.
func bookingsAt(all *booking.Schedule, t rule.Trigger, from, to time.Time) (out []booking.Booking) {
	within := func(at time.Time) bool { return at.After(from) && !at.After(to) }
	if t.Booking == rule.BookingEnd && t.After != 0 {
		for _, b := range all.All(from, to.Add(time.Millisecond)) {
			if b.State == booking.Ended && within(b.End) {
				out = append(out, b)
			}
		}
		return out
	}
	all.Walk(func(b *booking.Booking) bool {
		if within(momentIn(*b, t)) {
			out = append(out, *b)
		}
		return !b.Start.After(to)
	})
	return out
}

func momentIn(b booking.Booking, t rule.Trigger) time.Time {
	if t.Booking == rule.BookingEnd {
		return b.End
	}
	return b.Start
}

// short is a booking's id in 16 characters: some are long.
func short(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
