package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/rule"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// doorLate is the same for a rule that opens a door.
	doorLate = 30 * time.Second
	// startLimit is how long rules wait at most, after a start, until every
	// device was observed: before that they know and reach nothing.
	startLimit = 15 * time.Second
	// askPage is how much of the log the rules are asked about at once.
	askPage = 100
)

// trigger is a moment at which rules are asked.
type trigger struct {
	id      string // of the runs, with the rule's: the same after a restart
	words   string
	at      time.Time
	space   *Space // nil: none
	event   rule.Event
	booking string // its id
	chain   []string
	late    time.Duration
	missed  string // why nobody may be asked any more; empty: they may
}

// Run asks the rules about whatever is new in the log, and about the time, until
// ctx ends. It returns nil: what cannot be stored is tried again.
//
// An event is in the log in the transaction that made it true. What a rule
// does about it is stored together with how far the log was asked, before
// anything is done; each command has an id that follows from rule and event. So
// a restart neither skips an action nor repeats one.
func (e *Engine) Run(ctx context.Context) error {
	for end := time.Now().Add(startLimit); e.o.Ready() != nil && time.Now().Before(end) && ctx.Err() == nil; {
		loop.Sleep(ctx, 100*time.Millisecond)
	}
	e.o.Marks.MarkUnknown()
	e.resumeRuns(ctx)
	flushed := time.Now()
	for ctx.Err() == nil {
		grown, due := e.o.Events.Changed(), e.due()
		if err := e.turnOnce(ctx, &flushed); err != nil && ctx.Err() == nil {
			e.o.Log.Error("cannot store what rules do, trying again: free space on the disk", "error", err)
			grown, due = nil, time.After(10*time.Second)
		}
		select {
		case <-ctx.Done():
		case <-grown:
		case <-e.changed:
		case <-due:
		}
	}
	e.commands.Wait()
	last, cancel := loop.Last(ctx)
	defer cancel()
	_ = e.turn.Lock(context.Background()) // never refused: this context does not end
	defer e.turn.Unlock()
	if err := e.save(last, true); err != nil {
		e.o.Log.Warn("cannot store the last runs of rules", "error", err)
	}
	return nil
}

// turnOnce asks once.
func (e *Engine) turnOnce(ctx context.Context, flushed *time.Time) error {
	if err := e.turn.Lock(ctx); err != nil {
		return nil // the building ends
	}
	defer e.turn.Unlock()
	defer e.giveAll(ctx)
	if err := e.askLog(ctx); err != nil {
		return err
	}
	if err := e.o.Marks.Save(ctx); err != nil {
		return err
	}
	if err := e.askTime(ctx); err != nil {
		return err
	}
	if time.Since(*flushed) < runFlush {
		return nil
	}
	*flushed = time.Now()
	return e.save(ctx, false)
}

// giveAll gives the commands of the runs that were stored. The caller has the
// turn.
func (e *Engine) giveAll(ctx context.Context) {
	jobs := e.jobs
	e.jobs = nil
	for _, j := range jobs {
		e.giveCommands(ctx, j)
	}
}

// askLog goes to the end of the log, and without rules does not read it. The
// caller has the turn.
func (e *Engine) askLog(ctx context.Context) error {
	if len(e.set.Load().byID) == 0 {
		last, err := e.o.Events.Last()
		if err == nil {
			e.asked.seq = last
		}
		return err
	}
	for {
		page, err := e.o.Events.Page(e.asked.seq, askPage)
		if err != nil || len(page) == 0 {
			return err
		}
		v := newVerdicts()
		for _, item := range page {
			if err := e.askRow(v, item); err != nil {
				return err
			}
		}
		if err := e.decide(ctx, v, position{page[len(page)-1].Seq, e.asked.at}); err != nil {
			return err
		}
	}
}

// askRow asks the rules that an event of the log triggers.
func (e *Engine) askRow(v *verdicts, item store.Item[eventlog.Row]) error {
	r := item.Value
	kind := r.Kind()
	switch kind {
	case "": // it is no event
		return nil
	case device.EventStatusChanged:
		e.o.Marks.Changed(partIn(r), r.Time())
	}
	all := e.set.Load().byEvent[kind]
	var t *trigger
	for _, h := range all {
		if !hears(h.Rule, r) {
			continue
		}
		if t == nil {
			t = e.triggerOf(item)
		}
		if err := e.ask(v, h, t); err != nil {
			return err
		}
	}
	return nil
}

// hears says whether a rule is about that event.
func hears(r rule.Rule, line eventlog.Row) bool {
	t := r.Trigger
	return (r.SpaceID == "" || r.SpaceID == line.Space) && (t.DeviceType == "" || t.DeviceType == line.Device) &&
		(t.SubDevice == "" || t.SubDevice == line.Sub)
}

// details is what rules read of an event's details.
type details struct {
	Value     any      `json:"value"`
	Previous  any      `json:"previous"`
	Status    string   `json:"status"`
	Reason    string   `json:"reason"`
	Device    string   `json:"device"`
	BookingID string   `json:"booking_id"`
	CommandID string   `json:"command_id"`
	Via       string   `json:"via"`
	SignedBy  string   `json:"signed_by"`
	Rules     []string `json:"rules"`
}

// triggerOf reads an event of the log.
func (e *Engine) triggerOf(item store.Item[eventlog.Row]) *trigger {
	r := item.Value
	var record struct {
		Details json.RawMessage `json:"details"`
	}
	var d details
	all := map[string]any{}
	err := errors.Join(json.Unmarshal(r.Data, &record), json.Unmarshal(record.Details, &d), json.Unmarshal(record.Details, &all))
	kind := r.Kind()
	t := &trigger{id: r.ID(item.Seq), at: r.Time(), space: e.o.Site().byID[r.Space], booking: d.BookingID, words: "event " + kind,
		event: eventFor(kind, d, all, r)}
	if err != nil {
		t.missed = "the event cannot be read"
		return t
	}
	if t.event.Value != "" {
		t.words += " " + t.event.Device + " " + t.event.Value
	}
	about := d.Via == device.ViaMQTT && d.SignedBy == "" || r.Boot != e.o.Events.Boot() && !e.o.UnsignedAllowed() // who moved what then is not known
	t.chain = e.causeOf(r, d)
	if about || e.o.Marks.Caused(partIn(r), r.Time()) || e.o.doubtful(t.booking) {
		t.chain = doubt.Chain(t.chain...)
	}
	t.late, t.missed = e.o.lateness(r)
	return t
}

// partIn is the part of a device that an event is about.
func partIn(r eventlog.Row) doubt.Part {
	return doubt.Part{Space: r.Space, Device: r.Device, Sub: r.Sub}
}

func eventFor(kind string, d details, all map[string]any, r eventlog.Row) rule.Event {
	e := rule.Event{Type: kind, Device: d.Device, SubDevice: r.Sub, Value: asText(d.Value), Previous: asText(d.Previous),
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
func (o *Options) lateness(r eventlog.Row) (late time.Duration, missed string) {
	if r.Boot == o.Events.Boot() {
		// of two clocks, as a simulated building is ahead with its bookings only
		late = max(0, min(time.Since(r.Time()), o.Clock.Now().Sub(r.Time())))
		if r.Untrusted {
			late = 0
		}
	} else {
		if r.Untrusted || o.Clock.Trust() != clock.Trusted {
			return 0, "it was before the restart, and how long ago cannot be told without a clock"
		}
		late = min(time.Since(r.Time()).Abs(), o.Clock.Now().Sub(r.Time()).Abs())
	}
	if late > rule.LateLimit {
		return late, fmt.Sprintf("it was seen more than %v late", rule.LateLimit)
	}
	return late, ""
}

// ask asks one rule, and adds the verdict.
func (e *Engine) ask(v *verdicts, h *compiled, t *trigger) error {
	if v.stopped[h.ID] != nil {
		return nil
	}
	if err := e.readPast(h); err != nil {
		return err
	}
	run := rule.Run{ID: h.ID + "-" + t.id, At: t.at, Trigger: t.words, SpaceID: idOf(t.space)}
	held, reason := false, t.missed
	if reason == "" {
		held, reason = e.o.holds(h, v.view(e, t))
	}
	switch {
	case t.missed != "":
		run.Outcome, run.Reason = rule.Skipped, t.missed
	case !held:
		run.Outcome, run.Reason = rule.NotHeld, reason
	default:
		return e.conclude(v, h, e.doubt(h, t), run)
	}
	v.quiet = append(v.quiet, quietRun{h, run})
	return nil
}

// holds judges the condition, and says why it does not hold where that is not
// plain.
func (o *Options) holds(h *compiled, env *rule.Env) (bool, string) {
	if h.condition.NeedsClock && o.Clock.Trust() != clock.Trusted {
		return false, "it depends on the time and the clock is not trusted"
	}
	held, err := h.condition.Holds(env)
	if err != nil {
		return false, err.Error()
	}
	return held, ""
}

// conclude takes the actions of a rule whose condition holds, unless it has to
// be held back.
func (e *Engine) conclude(v *verdicts, h *compiled, t *trigger, run rule.Run) error {
	past := v.past(e, h)
	if past.log.Find(run.ID) != nil {
		return nil // a clock that was set back
	}
	now := e.o.Clock.Now()
	run.Chain = t.chain
	refusal, storm := past.rate(run.SpaceID).Take(h.Limits, now)
	switch loop := rule.Loop(h.ID, t.chain); {
	case loop != "":
		run.Outcome, run.Reason = rule.Suspended, loop
	case storm:
		run.Outcome, run.Reason = rule.Suspended, "it has been held back by its limit for more than ten minutes: "+refusal
	case refusal != "":
		run.Outcome, run.Reason = rule.Limited, refusal
	default:
		run.Outcome = rule.Held
	}
	switch run.Outcome {
	case rule.Suspended:
		return v.suspend(e, h, t, run)
	case rule.Held:
		return v.take(e, h, t, run)
	}
	v.note(h, past.log.Add(run))
	return nil
}

// look is the space of a trigger as conditions see it, with the bookings as the building itself has them, or all.
func (o *Options) look(t *trigger, vouched bool) *rule.Env {
	env := rule.NewEnv()
	env.Event = t.event
	s := t.space
	if s == nil {
		return env
	}
	now := o.Clock.Now()
	bookings := s.Bookings()
	if vouched {
		bookings = bookings.Vouched()
	}
	g := schedule.AtBy(s.Room, now, bookings)
	env.Space = rule.Space{ID: s.ID, Name: s.Name(), Status: string(g.Status)}
	env.Local = rule.LocalAt(now.In(s.Rules().Zone))
	env.Current, env.Next = bookingFor(g.Current, now), bookingFor(g.Next, now)
	if b, ok := bookings.Get(t.booking); ok {
		env.Booking = bookingFor(&b, now)
	}
	for _, d := range s.Devices {
		for _, r := range d.Readings() {
			if to := deviceIn(env, d.Type, r.SubDevice); to != nil && !r.Offline() {
				*to = rule.Device{Value: r.Value, Number: numberIn(r.Value), Status: r.Status, Online: true}
			}
		}
	}
	return env
}

// deviceIn is where the environment has a device.
func deviceIn(e *rule.Env, deviceType, sub string) *rule.Device {
	return map[string]*rule.Device{"lock": &e.Lock, "camera": &e.Camera, "light": &e.Light,
		"fan": &e.Fan, "sensor": &e.Sensor, "display": &e.Display, "temperature": &e.Temp,
		"occupancy": &e.Occupancy, "buzzer": &e.Buzzer, "ring_light": &e.Ring}[nameIn(deviceType, sub)]
}

// nameIn is what conditions call a device.
func nameIn(deviceType, sub string) string {
	switch name := cmp.Or(sub, deviceType); name {
	case drivers.TypeO3:
		return "sensor"
	case drivers.TypeDisplay:
		return "display"
	case drivers.SubRing:
		return "ring_light"
	default:
		return name
	}
}

func bookingFor(b *booking.Booking, now time.Time) rule.Booking {
	if b == nil {
		return rule.NoBooking()
	}
	return rule.Booking{Exists: true, ID: b.ID, State: string(b.State), Source: string(b.Source),
		ToStart: b.Start.Sub(now).Minutes(), ToEnd: b.End.Sub(now).Minutes(), SinceStart: now.Sub(b.Start).Minutes()}
}
