package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	rules "roomgate/agent/rule"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// ruleLate is how old a trigger may be when a rule is asked: what happened
	// while the gateway was off longer than that is noted and not acted upon.
	ruleLate = 5 * time.Minute
	// doorLate is the same for a rule that opens a door.
	doorLate = 30 * time.Second
	// ruleStart is how long rules wait at most, after a start, until every
	// device was observed: before that they know and reach nothing.
	ruleStart = 15 * time.Second
	// askPage is how much of the log the rules are asked about at once.
	askPage = 100
)

// trigger is a moment at which rules are asked.
type trigger struct {
	id      string // of the runs, with the rule's: the same after a restart
	words   string
	at      time.Time
	space   *space // nil: none
	event   rules.Event
	booking string // its id
	chain   []string
	late    time.Duration
	missed  string // why nobody may be asked any more; empty: they may
}

// runRules asks the rules about whatever is new in the log, and about the
// time, until ctx ends.
//
// An event is in the log in the transaction that made it true. What a rule
// does about it is stored together with how far the log was asked, before
// anything is done; each order has an id that follows from rule and event. So
// a restart neither skips an action nor repeats one.
func (a *Agent) runRules(ctx context.Context) {
	b := a.rules
	for end := time.Now().Add(ruleStart); a.Ready() != nil && time.Now().Before(end) && ctx.Err() == nil; {
		loop.Sleep(ctx, 100*time.Millisecond)
	}
	a.resumeRuns(ctx)
	flushed := time.Now()
	for ctx.Err() == nil {
		grown, pause := a.Events.Changed(), a.untilRules()
		if err := a.turnRules(ctx, &flushed); err != nil && ctx.Err() == nil {
			a.log.Error("what rules do cannot be stored, this is tried again: free space on the disk", "error", err)
			grown, pause = nil, 10*time.Second
		}
		select {
		case <-ctx.Done():
		case <-grown:
		case <-b.changed:
		case <-time.After(pause):
		}
	}
	b.orders.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	_ = b.turn.Lock(context.Background()) // never refused: this context does not end
	defer b.turn.Unlock()
	if err := a.saveRules(last, true); err != nil {
		a.log.Warn("the last runs of rules cannot be stored", "error", err)
	}
}

// turnRules asks once.
func (a *Agent) turnRules(ctx context.Context, flushed *time.Time) error {
	if err := a.rules.turn.Lock(ctx); err != nil {
		return nil // the building ends
	}
	defer a.rules.turn.Unlock()
	defer a.giveAll(ctx)
	if err := a.askRules(ctx); err != nil {
		return err
	}
	if err := a.askTime(ctx); err != nil {
		return err
	}
	if time.Since(*flushed) < ruleFlush {
		return nil
	}
	*flushed = time.Now()
	return a.saveRules(ctx, false)
}

// giveAll gives the orders of the runs that were stored. The caller has the
// turn.
func (a *Agent) giveAll(ctx context.Context) {
	jobs := a.rules.jobs
	a.rules.jobs = nil
	for _, j := range jobs {
		a.giveOrders(ctx, j)
	}
}

// askRules goes to the end of the log. The caller has the turn.
func (a *Agent) askRules(ctx context.Context) error {
	b := a.rules
	for {
		page, err := a.Events.Page(b.cursor, askPage)
		if err != nil || len(page) == 0 {
			return err
		}
		v := a.newVerdicts()
		for _, item := range page {
			if err := a.askRow(v, item); err != nil {
				return err
			}
		}
		if err := a.rule(ctx, v, page[len(page)-1].Seq, b.clock); err != nil {
			return err
		}
	}
}

// askRow asks the rules that an event of the log triggers.
func (a *Agent) askRow(v *verdicts, item store.Item[eventlog.Row]) error {
	r := item.Value
	if r.Level() != eventlog.LevelEvent {
		return nil
	}
	all := a.rules.set.Load().byEvent[r.Type[len(eventlog.LevelEvent)+1:]]
	var t *trigger
	for _, h := range all {
		if !hears(h.Rule, r) {
			continue
		}
		if t == nil {
			t = a.triggerOf(item)
		}
		if err := a.ask(v, h, t); err != nil {
			return err
		}
	}
	return nil
}

// hears says whether a rule is about that event.
func hears(r rules.Rule, line eventlog.Row) bool {
	t := r.Trigger
	return (r.SpaceID == "" || r.SpaceID == line.Space) && (t.DeviceType == "" || t.DeviceType == line.Device) &&
		(t.SubDevice == "" || t.SubDevice == line.Sub)
}

// ruleDetails is what rules read of an event's details.
type ruleDetails struct {
	Value     any      `json:"value"`
	Previous  any      `json:"previous"`
	Status    string   `json:"status"`
	Reason    string   `json:"reason"`
	Device    string   `json:"device"`
	BookingID string   `json:"booking_id"`
	CommandID string   `json:"command_id"`
	Rules     []string `json:"rules"`
}

// triggerOf reads an event of the log.
func (a *Agent) triggerOf(item store.Item[eventlog.Row]) *trigger {
	r := item.Value
	var record struct {
		Details json.RawMessage `json:"details"`
	}
	var d ruleDetails
	all := map[string]any{}
	err := errors.Join(json.Unmarshal(r.Data, &record), json.Unmarshal(record.Details, &d), json.Unmarshal(record.Details, &all))
	kind := r.Type[len(eventlog.LevelEvent)+1:]
	t := &trigger{id: r.ID(item.Seq), at: r.Time(), space: a.find(r.Space), booking: d.BookingID, words: "event " + kind,
		event: eventFor(kind, d, all, r)}
	if err != nil {
		t.missed = "the event cannot be read"
		return t
	}
	if t.event.Value != "" {
		t.words += " " + t.event.Device + " " + t.event.Value
	}
	t.chain = a.causeOf(r, d)
	t.late, t.missed = a.lateness(r)
	return t
}

func eventFor(kind string, d ruleDetails, all map[string]any, r eventlog.Row) rules.Event {
	e := rules.Event{Type: kind, Device: d.Device, SubDevice: r.Sub, Value: asText(d.Value), Previous: asText(d.Previous),
		Status: d.Status, Reason: d.Reason, Details: all}
	e.Clip()
	e.Number = numberIn(e.Value)
	return e
}

// asText is a detail as a text; what is none is empty.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// lateness is how long ago an event was, and why it is too long.
func (a *Agent) lateness(r eventlog.Row) (late time.Duration, missed string) {
	if r.Boot == a.Events.Boot() {
		// of two clocks, as a simulated building is ahead with its bookings only
		late = max(0, min(time.Since(r.Time()), a.Now().Sub(r.Time())))
		if r.Untrusted {
			late = 0
		}
	} else {
		if r.Untrusted || a.clock.Trust() != Trusted {
			return 0, "it was before the restart, and how long ago cannot be told without a clock"
		}
		late = min(time.Since(r.Time()).Abs(), a.Now().Sub(r.Time()).Abs())
	}
	if late > ruleLate {
		return late, fmt.Sprintf("it was seen more than %v late", ruleLate)
	}
	return late, ""
}

// ask asks one rule, and adds the verdict.
func (a *Agent) ask(v *verdicts, h *heldRule, t *trigger) error {
	if v.stopped[h.ID] != nil {
		return nil
	}
	if err := a.readPast(h); err != nil {
		return err
	}
	run := rules.Run{ID: h.ID + "-" + t.id, At: t.at, Trigger: t.words, SpaceID: spaceID(t.space)}
	held, reason := false, t.missed
	if reason == "" {
		held, reason = a.holds(h, v.sight(a, t))
	}
	switch {
	case t.missed != "":
		run.Outcome, run.Reason = rules.Skipped, t.missed
	case !held:
		run.Outcome, run.Reason = rules.NotHeld, reason
	default:
		return a.conclude(v, h, t, run)
	}
	v.quiet = append(v.quiet, quietRun{h, run})
	return nil
}

// holds judges the condition, and says why it does not hold where that is not
// plain.
func (a *Agent) holds(h *heldRule, e *rules.Env) (bool, string) {
	if h.condition.NeedsClock && a.clock.Trust() != Trusted {
		return false, "it depends on the time and the clock is not trusted"
	}
	held, err := h.condition.Holds(e)
	if err != nil {
		return false, err.Error()
	}
	return held, ""
}

// conclude takes the actions of a rule whose condition holds, unless it has to
// be held back.
func (a *Agent) conclude(v *verdicts, h *heldRule, t *trigger, run rules.Run) error {
	past := v.past(a.rules, h)
	if past.log.Find(run.ID) != nil {
		return nil // a clock that was set back
	}
	now := a.Now()
	run.Chain = t.chain
	refusal, storm := past.rate(run.SpaceID).Take(h.Limits, now)
	switch loop := rules.Loop(h.ID, t.chain); {
	case loop != "":
		run.Outcome, run.Reason = rules.Suspended, loop
	case storm:
		run.Outcome, run.Reason = rules.Suspended, "it has been held back by its limit for more than ten minutes: "+refusal
	case refusal != "":
		run.Outcome, run.Reason = rules.Limited, refusal
	default:
		run.Outcome = rules.Held
	}
	switch run.Outcome {
	case rules.Suspended:
		return v.suspend(a, h, t, run)
	case rules.Held:
		return v.take(a, h, t, run)
	}
	v.note(h, past.log.Add(run))
	return nil
}

func spaceID(s *space) string {
	if s == nil {
		return ""
	}
	return s.ID
}

// ruleSight is the space of a trigger as conditions see it.
func (a *Agent) ruleSight(t *trigger) *rules.Env {
	e := rules.NewEnv()
	e.Event = t.event
	s := t.space
	if s == nil {
		return e
	}
	now := a.Now()
	g := s.room.At(now)
	e.Space = rules.Space{ID: s.ID, Name: s.Name, Status: string(g.Status)}
	e.Local = rules.LocalAt(now.In(s.room.Rules().Zone))
	e.Current, e.Next = bookingFor(g.Current, now), bookingFor(g.Next, now)
	if b, ok := s.room.Bookings().Get(t.booking); ok {
		e.Booking = bookingFor(&b, now)
	}
	for _, d := range s.devices {
		for _, r := range d.Readings() {
			if to := deviceIn(e, d.Type, r.SubDevice); to != nil && !r.Offline() {
				*to = rules.Device{Value: r.Value, Number: numberIn(r.Value), Status: r.Status, Online: true}
			}
		}
	}
	return e
}

// deviceIn is where the environment has a device.
func deviceIn(e *rules.Env, deviceType, sub string) *rules.Device {
	name := deviceType
	if sub != "" {
		name = sub
	}
	return map[string]*rules.Device{drivers.TypeLock: &e.Lock, drivers.TypeCamera: &e.Camera, drivers.TypeLight: &e.Light,
		drivers.TypeFan: &e.Fan, drivers.TypeO3: &e.Sensor, drivers.TypeDisplay: &e.Display, drivers.SubTemperature: &e.Temp,
		drivers.SubOccupancy: &e.Occupancy, drivers.SubBuzzer: &e.Buzzer, drivers.SubRing: &e.Ring}[name]
}

func bookingFor(b *booking.Booking, now time.Time) rules.Booking {
	if b == nil {
		return rules.NoBooking()
	}
	return rules.Booking{Exists: true, ID: b.ID, State: string(b.State), Source: string(b.Source),
		ToStart: b.Start.Sub(now).Minutes(), ToEnd: b.End.Sub(now).Minutes(), SinceStart: now.Sub(b.Start).Minutes()}
}
