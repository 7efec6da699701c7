package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	rules "roomgate/agent/rule"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// ruleOrderLife is how long an order of a rule is valid.
	ruleOrderLife = 30 * time.Second
	// causeTime is how long after an order of a rule what happens to its device
	// counts as caused by it.
	causeTime = 5 * time.Second
	// maxTouched bounds the devices of which it is remembered.
	maxTouched = 1000
)

// touchKey is a device or sub-device that rules have given an order to.
type touchKey struct{ space, device, sub string }

// touch is what an event of such a device was caused by.
type touch struct {
	chain []string
	until time.Time
}

// opensDoor says whether an action lets people in.
func opensDoor(act rules.Action) bool {
	return device.Unlocks(act.DeviceType, act.Action)
}

// inWords is an action as the log shows it.
func inWords(act rules.Action) string {
	switch {
	case act.Event != "":
		return "event " + rules.OwnEvent + act.Event
	case !act.To.Nobody():
		return "message " + strconv.Quote(act.Message) + " to " + act.To.String()
	case act.Message != "":
		return "message " + strconv.Quote(act.Message)
	}
	return strings.TrimSpace(cmp.Or(act.SubDevice, act.DeviceType) + " " + act.Action + " " + string(act.Value))
}

// orderFor is the order that an action stands for.
func orderFor(act rules.Action, spaceID string) device.Command {
	c := device.Command{Space: spaceID, DeviceType: act.DeviceType, SubDevice: drivers.Canonical(act.SubDevice), Action: act.Action, Value: act.Value,
		TTL: ruleOrderLife, Via: device.ViaRule}
	if act.Message != "" {
		c.DeviceType, c.Action, c.Value = drivers.TypeDisplay, drivers.ActMessage, device.Value(act.Message)
	}
	return c
}

// parseAction says whether the device of a space takes an action. One that was
// not opened yet is believed to.
func (a *Agent) parseAction(act rules.Action, s *space) (*device.Device, error) {
	c := orderFor(act, s.ID)
	d, err := a.Device(c.Space, c.DeviceType)
	if err != nil || !d.Opened() {
		return d, err
	}
	_, err = d.Parse(c)
	return d, err
}

// doorRefusal says why a rule may not open a door now; nil: it may.
func (a *Agent) doorRefusal(r rules.Rule, act rules.Action, late time.Duration) error {
	switch {
	case !opensDoor(act):
		return nil
	case !r.AllowDoor:
		return refuse(Forbidden, "", "the rule may open no door: set allow_door if that is meant")
	case a.clock.Trust() != Trusted:
		return refuse(Forbidden, "", "a rule opens no door while the clock is not trusted")
	case late > doorLate:
		return refuse(Expired, "", "the trigger was seen %v late, too late to open a door", late.Round(time.Second))
	}
	return nil
}

// giveOrders gives the orders of a run, in their order, and waits for none of
// them.
func (a *Agent) giveOrders(ctx context.Context, j job) {
	for i, act := range j.rule.Actions {
		if i >= len(j.run.Actions) || j.run.Actions[i].State != rules.Accepted {
			continue
		}
		where := cmp.Or(act.SpaceID, j.run.SpaceID)
		c := orderFor(act, where)
		c.ID, c.By = j.run.Actions[i].CommandID, j.rule.ID
		err := a.doorRefusal(j.rule.Rule, act, j.late)
		if where == "" {
			err = refuse(Invalid, "meeting_space_id", "is missing: the trigger is in no meeting space")
		}
		if err == nil {
			a.touch(c, append(slices.Clone(j.run.Chain), j.rule.ID), ruleOrderLife)
			var p *device.Pending
			if p, err = a.Commands.Begin(ctx, c); err == nil {
				a.rules.orders.Go(func() { a.awaitOrder(ctx, j, i, p) })
				continue
			}
		}
		if ctx.Err() != nil {
			return // the next start does it
		}
		state, _, reason := device.Outcome(err)
		a.settleAction(j, i, string(state), reason, time.Now())
	}
}

// awaitOrder notes how an order ended. One that is still under way when the
// building ends is settled at the next start.
func (a *Agent) awaitOrder(ctx context.Context, j job, i int, p *device.Pending) {
	select {
	case <-p.Done():
	case <-ctx.Done():
		return
	}
	a.touch(p.Command(), append(slices.Clone(j.run.Chain), j.rule.ID), causeTime)
	r, err := p.Result()
	if err != nil && r.State == "" {
		state, _, reason := device.Outcome(err)
		a.settleAction(j, i, string(state), reason, time.Now())
		return
	}
	a.settleAction(j, i, string(r.State), r.Reason, r.FinishedAt)
}

// settleAction notes what came of an action.
func (a *Agent) settleAction(j job, i int, state, reason string, at time.Time) {
	b := a.rules
	b.mu.Lock()
	defer b.mu.Unlock()
	run := j.rule.past.log.Find(j.run.ID)
	if b.set.Load().byID[j.rule.ID] == nil || run == nil || i >= len(run.Actions) {
		return // it was deleted, or more have run since than the log keeps
	}
	run.Actions = slices.Clone(run.Actions) // others may read it
	result := &run.Actions[i]
	result.State, result.Reason, result.FinishedAt = state, reason, at.UTC()
	key := runKey(j.rule.ID, run.Slot())
	b.unsaved[key] = *run
	if !run.Open() {
		b.closed[key] = true
	}
}

// touch remembers that a device was told to do something by rules.
func (a *Agent) touch(c device.Command, chain []string, life time.Duration) {
	b, now := a.rules, time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.touched) >= maxTouched {
		maps.DeleteFunc(b.touched, func(_ touchKey, t touch) bool { return now.After(t.until) })
	}
	if len(b.touched) < maxTouched {
		b.touched[touchKey{c.Space, c.DeviceType, c.SubDevice}] = touch{chain, now.Add(life)}
	}
}

// causeOf are the rules that led to an event: it says so itself, or it is of a
// device that rules have just told to do something.
func (a *Agent) causeOf(r eventlog.Row, d ruleDetails) []string {
	if len(d.Rules) > 0 {
		return d.Rules
	}
	b := a.rules
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.touched[touchKey{r.Space, r.Device, r.Sub}]; ok && time.Now().Before(t.until) {
		return t.chain
	}
	return nil
}

// resumeRuns ends what was under way when the process ended: an order that was
// accepted has its receipt, by its id, and one that was not is given now, if
// that is not too late. A door is not opened any more.
func (a *Agent) resumeRuns(ctx context.Context) {
	var open []string
	err := a.db.View(func(tx *store.Tx) error {
		for key := range openRuns.All(tx) {
			open = append(open, key)
		}
		return nil
	})
	for _, key := range open {
		id, _, _ := strings.Cut(key, "/")
		h, missing := a.heldRule(id)
		if missing != nil {
			continue
		}
		err = errors.Join(err, a.readPast(h))
		a.resumeRun(ctx, h, key)
	}
	if err != nil {
		a.log.Error("the runs of rules before the restart cannot be read", "error", err)
	}
}

func (a *Agent) resumeRun(ctx context.Context, h *heldRule, key string) {
	b := a.rules
	b.mu.Lock()
	var found rules.Run
	if h.past.log != nil {
		for _, r := range h.past.log.Runs {
			if runKey(h.ID, r.Slot()) == key {
				found = r
			}
		}
	}
	b.closed[key] = !found.Open()
	if !b.closed[key] {
		delete(b.closed, key)
	}
	b.mu.Unlock()
	if !found.Open() {
		return
	}
	late := min(time.Since(found.At).Abs(), a.Now().Sub(found.At).Abs())
	j := job{h, found, late}
	j.run.Actions = slices.Clone(found.Actions)
	for i, result := range found.Actions {
		if result.State != rules.Accepted {
			continue
		}
		state, reason, at := a.afterRestart(h, i, result, late)
		if state == rules.Accepted {
			continue
		}
		a.settleAction(j, i, state, reason, at)
		j.run.Actions[i].State = state
	}
	a.giveOrders(ctx, j)
}

// afterRestart is what became of an order: its receipt, if it was accepted
// before the restart. If not it may still be given, unless that is too late.
func (a *Agent) afterRestart(h *heldRule, i int, result rules.Result, late time.Duration) (state, reason string, at time.Time) {
	r, err := a.Commands.Find(result.CommandID)
	switch {
	case err == nil:
		return string(r.State), r.Reason, r.FinishedAt
	case late > time.Minute || a.clock.Trust() != Trusted || i >= len(h.Actions) || inWords(h.Actions[i]) != result.Action || opensDoor(h.Actions[i]):
		return string(device.ExpiredUnused), "the gateway was restarted before the order was given", time.Now()
	}
	return rules.Accepted, "", at
}
