package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"roomgate/agent/booking"
	rules "roomgate/agent/rule"
)

const (
	// ruleStep is the longest that rules by time sleep: a clock that was set is
	// noticed after so long.
	ruleStep = 10 * time.Second
	// ruleMemory is how far back triggers by time are looked for that were
	// missed, to note them.
	ruleMemory = 24 * time.Hour
	// ruleAhead is how far a clock that was set back may be behind the last
	// trigger until it is believed that it had been wrong before.
	ruleAhead = time.Hour
)

const missedByTime = "the gateway was off, or its clock not trusted, at that time"

// untilRules is how long the rules can sleep.
func (a *Agent) untilRules() time.Duration {
	now, set := a.Now(), a.rules.set.Load()
	if len(set.byPlan) > 0 {
		return min(ruleStep, now.Truncate(time.Second).Add(time.Second).Sub(now))
	}
	if len(set.byTime) > 0 {
		return min(ruleStep, now.Truncate(time.Minute).Add(time.Minute).Sub(now))
	}
	return ruleStep
}

// askTime asks the rules whose time has come since the last time. Nothing
// comes while the clock is not trusted; what came meanwhile is taken late if it
// is not too late, and else only noted. Each minute on the wall of a space
// comes once, see [rules.Walls]. The caller has the turn.
func (a *Agent) askTime(ctx context.Context) error {
	b, now := a.rules, a.Now().UTC().Truncate(time.Millisecond)
	if a.clock.Trust() != Trusted {
		return nil
	}
	set, last := b.set.Load(), b.clock
	switch {
	case last.IsZero(), last.Sub(now) > ruleAhead, len(set.byTime)+len(set.byPlan) == 0 && now.After(last):
		b.clock = now
		return nil
	case !now.After(last):
		return nil
	}
	from := last
	if now.Sub(from) > ruleMemory {
		from = now.Add(-ruleMemory)
	}
	v := a.newVerdicts()
	if err := a.askMinutes(v, set, from, now); err != nil {
		return err
	}
	if err := a.askPlans(v, set, from, now); err != nil {
		return err
	}
	return a.rule(ctx, v, b.cursor, now)
}

// askMinutes asks the rules with a time of day, for each minute that has begun.
func (a *Agent) askMinutes(v *verdicts, set *ruleSet, from, now time.Time) error {
	if len(set.byTime) == 0 {
		return nil
	}
	for m := from.Truncate(time.Minute).Add(time.Minute); !m.After(now); m = m.Add(time.Minute) {
		walls := map[*time.Location][]time.Time{}
		for _, s := range a.spaces() {
			zone := s.room.Rules().Zone
			if _, known := walls[zone]; !known {
				walls[zone] = rules.Walls(m, zone)
			}
			for _, h := range set.byTime {
				if h.SpaceID != "" && h.SpaceID != s.ID {
					continue
				}
				wall, ok := firstMatch(h.times, walls[zone])
				if !ok {
					continue
				}
				t := a.momentOf("t"+wall.Format("20060102T1504")+"-"+s.ID, "time "+wall.Format("15:04"), s, m, now)
				if err := a.ask(v, h, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func firstMatch(t rules.Times, walls []time.Time) (time.Time, bool) {
	for _, w := range walls {
		if t.Match(w) {
			return w, true
		}
	}
	return time.Time{}, false
}

// momentOf is a trigger that no event is.
func (a *Agent) momentOf(id, words string, s *space, at, now time.Time) *trigger {
	t := &trigger{id: id, words: words, at: at, space: s, late: now.Sub(at), event: rules.NewEnv().Event}
	if t.late > ruleLate {
		t.missed = missedByTime
	}
	return t
}

// askPlans asks the rules before and after bookings.
func (a *Agent) askPlans(v *verdicts, set *ruleSet, from, now time.Time) error {
	for _, h := range set.byPlan {
		offset, words := time.Duration(h.Trigger.After), h.Trigger.After.String()+" after "
		if h.Trigger.Before != 0 {
			offset, words = -time.Duration(h.Trigger.Before), h.Trigger.Before.String()+" before "
		}
		for _, s := range a.spaces() {
			if h.SpaceID != "" && h.SpaceID != s.ID {
				continue
			}
			for _, b := range bookingsAt(s.room.Bookings(), h.Trigger, from.Add(-offset), now.Add(-offset)) {
				at := momentIn(b, h.Trigger).Add(offset)
				t := a.momentOf("b"+short(b.ID)+"-"+strconv.FormatInt(at.UnixMilli(), 36), words+h.Trigger.Booking, s, at, now)
				t.booking, t.event.Type = b.ID, h.Trigger.Booking
				if err := a.ask(v, h, t); err != nil {
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
func bookingsAt(all *booking.Schedule, t rules.Trigger, from, to time.Time) (out []booking.Booking) {
	within := func(at time.Time) bool { return at.After(from) && !at.After(to) }
	if t.Booking == rules.BookingEnd && t.After != 0 {
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

func momentIn(b booking.Booking, t rules.Trigger) time.Time {
	if t.Booking == rules.BookingEnd {
		return b.End
	}
	return b.Start
}

// short is a booking's id in 16 characters: some are long.
func short(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
