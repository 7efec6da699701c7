package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/agent/rule/doubt"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// commandLife is how long a command of a rule is valid.
	commandLife = 30 * time.Second
	// causeTime is how long after a command of a rule what happens to its device
	// counts as caused by it.
	causeTime = 5 * time.Second
	// maxTraces bounds the devices of which that is remembered.
	maxTraces = 1000
)

// unlocks says whether an action lets people in.
func unlocks(act rule.Action) bool {
	return device.Unlocks(act.DeviceType, act.Action)
}

// InWords is an action as the log shows it.
func InWords(act rule.Action) string {
	switch {
	case act.Event != "":
		return "event " + rule.OwnEvent + act.Event
	case !act.To.Nobody():
		return "message " + strconv.Quote(act.Message) + " to " + act.To.String()
	case act.Message != "":
		return "message " + strconv.Quote(act.Message)
	}
	return strings.TrimSpace(cmp.Or(act.SubDevice, act.DeviceType) + " " + act.Action + " " + string(act.Value))
}

// commandFor is the command that an action stands for.
func commandFor(act rule.Action, spaceID string) device.Command {
	c := device.Command{Space: spaceID, DeviceType: act.DeviceType, SubDevice: drivers.Canonical(act.SubDevice), Action: act.Action, Value: act.Value,
		TTL: commandLife, Via: device.ViaRule}
	if act.Message != "" {
		c.DeviceType, c.Action = drivers.TypeDisplay, drivers.ActMessage
		c.Value, _ = json.Marshal(act.Message) // a string always can be
	}
	return c
}

// CommandOf is the command that an action gives, without its meeting space; false: it gives none.
func CommandOf(act rule.Action) (device.Command, bool) {
	return commandFor(act, act.SpaceID), act.Event == "" && act.To.Nobody()
}

// parseAction says whether the device of a space takes an action. One that was
// not opened yet is believed to.
func parseAction(act rule.Action, s *Space) (*device.Device, error) {
	c := commandFor(act, s.ID)
	d, err := s.Device(c.DeviceType)
	if err != nil || !d.Opened() {
		return d, err
	}
	_, err = d.Parse(c)
	return d, err
}

// doorRefusal says why a rule may not open a door now; nil: it may.
func (o *Options) doorRefusal(r rule.Rule, act rule.Action, late time.Duration) error {
	switch {
	case !unlocks(act):
		return nil
	case !r.AllowDoor:
		return problem.New(problem.Forbidden, "", "the rule may open no door: set allow_door if that is meant")
	case o.Clock.Trust() != clock.Trusted:
		return problem.New(problem.Forbidden, "", "a rule opens no door while the clock is not trusted")
	case late > doorLate:
		return problem.New(problem.Expired, "", "the trigger was seen %v late, too late to open a door", late.Round(time.Second))
	}
	return nil
}

// foreignRefusal says why a rule gives no command in a space: it is of another organization
// than the rule, by now; nil: it may.
func (o *Options) foreignRefusal(r rule.Rule, spaceID string) error {
	if r.OrganizationID == "" || spaceID == "" {
		return nil
	}
	if owner, err := o.Owner(spaceID); err != nil || owner != r.OrganizationID {
		return problem.New(problem.Forbidden, "", "this rule belongs to an organization that no longer owns this meeting space: have somebody who manages the space create it again")
	}
	return nil
}

// chainRefusal says why a rule opens no door in a space: a rule of another organization has led to it; nil: none has. A deleted
// rule counts as one of another.
func (e *Engine) chainRefusal(act rule.Action, spaceID string, chain []string) error {
	if !unlocks(act) {
		return nil
	}
	for _, id := range chain {
		if doubt.IsWord(id) {
			continue
		}
		h, err := e.find(id)
		if err != nil || e.o.foreignRefusal(h.Rule, spaceID) != nil {
			return problem.New(problem.Forbidden, "", "a rule of another organization started this one, or one that is deleted, so it cannot open the door of this meeting space: send the command from a rule of this organization")
		}
	}
	return nil
}

// giveCommands gives the commands of a run, in their order, and waits for none of
// them.
func (e *Engine) giveCommands(ctx context.Context, j job) {
	for i, act := range j.rule.Actions {
		if i >= len(j.run.Actions) || j.run.Actions[i].State != rule.Accepted {
			continue
		}
		where := cmp.Or(act.SpaceID, j.run.SpaceID)
		c := commandFor(act, where)
		c.ID, c.By, c.Doubted = j.run.Actions[i].CommandID, j.rule.ID, doubt.Began(j.run.Chain)
		err := cmp.Or(e.o.doorRefusal(j.rule.Rule, act, j.late), e.o.unsignedRefusal(act, j.run.Chain), e.chainRefusal(act, where, j.run.Chain), e.o.foreignRefusal(j.rule.Rule, where))
		if where == "" {
			err = problem.New(problem.Invalid, "meeting_space_id", "is missing: the trigger is in no meeting space")
		}
		if err == nil {
			e.traces.leave(c, append(slices.Clone(j.run.Chain), j.rule.ID))
			var p *device.Pending
			if p, err = e.o.Commands.Begin(ctx, c); err == nil {
				e.commands.Go(func() { e.awaitCommand(ctx, j, i, p) })
				continue
			}
			e.traces.ended(c)
		}
		if ctx.Err() != nil {
			return // the next start does it
		}
		state, _, reason := device.Outcome(err)
		e.settleAction(j, i, string(state), reason, time.Now())
	}
}

// awaitCommand notes how a command ended. One that is still under way when the
// building ends is settled at the next start.
func (e *Engine) awaitCommand(ctx context.Context, j job, i int, p *device.Pending) {
	select {
	case <-p.Done():
	case <-ctx.Done():
		return
	}
	e.traces.ended(p.Command())
	r, err := p.Result()
	if err != nil && r.State == "" {
		state, _, reason := device.Outcome(err)
		e.settleAction(j, i, string(state), reason, time.Now())
		return
	}
	e.settleAction(j, i, string(r.State), r.Reason, r.FinishedAt)
}

// settleAction notes the result of an action.
func (e *Engine) settleAction(j job, i int, state, reason string, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	run := j.rule.past.log.Find(j.run.ID)
	if e.set.Load().byID[j.rule.ID] == nil || run == nil || i >= len(run.Actions) {
		return // it was deleted, or more have run since than the log keeps
	}
	run.Actions = slices.Clone(run.Actions) // others may read it
	result := &run.Actions[i]
	result.State, result.Reason, result.FinishedAt = state, reason, at.UTC()
	key := runKey(j.rule.ID, run.Slot())
	e.unsaved[key] = *run
	if !run.Open() {
		e.closed[key] = true
	}
}

// causeOf are the rules that led to an event: it says so itself, or it is of a
// device that rules have just told to do something.
func (e *Engine) causeOf(r eventlog.Row, d details) []string {
	if len(d.Rules) > 0 {
		return d.Rules
	}
	return e.traces.of(partIn(r), r.Time())
}

// resumeRuns ends what was under way when the process ended: a command that was
// accepted has its receipt, by its id, and one that was not is given now, if
// that is not too late. A door is not opened any more.
func (e *Engine) resumeRuns(ctx context.Context) {
	var open []string
	err := e.o.DB.View(func(tx *store.Tx) error {
		for key := range openRuns.All(tx) {
			open = append(open, key)
		}
		return nil
	})
	for _, key := range open {
		id, _, _ := strings.Cut(key, "/")
		h, missing := e.find(id)
		if missing != nil {
			continue
		}
		err = errors.Join(err, e.readPast(h))
		e.resumeRun(ctx, h, key)
	}
	if err != nil {
		e.o.Log.Error("cannot read the runs of rules before the restart", "error", err)
	}
}

func (e *Engine) resumeRun(ctx context.Context, h *compiled, key string) {
	e.mu.Lock()
	var found rule.Run
	if h.past.log != nil {
		for _, r := range h.past.log.Runs {
			if runKey(h.ID, r.Slot()) == key {
				found = r
			}
		}
	}
	e.closed[key] = !found.Open()
	if !e.closed[key] {
		delete(e.closed, key)
	}
	e.mu.Unlock()
	if !found.Open() {
		return
	}
	late := min(time.Since(found.At).Abs(), e.o.Clock.Now().Sub(found.At).Abs())
	j := job{h, found, late}
	j.run.Actions = slices.Clone(found.Actions)
	for i, result := range found.Actions {
		if result.State != rule.Accepted {
			continue
		}
		state, reason, at := e.afterRestart(h, i, result, late)
		if state == rule.Accepted {
			continue
		}
		e.settleAction(j, i, state, reason, at)
		j.run.Actions[i].State = state
	}
	e.giveCommands(ctx, j)
}

// afterRestart is the outcome of a command: its receipt, if it was accepted
// before the restart. If not it may still be given, unless that is too late.
func (e *Engine) afterRestart(h *compiled, i int, result rule.Result, late time.Duration) (state, reason string, at time.Time) {
	r, err := e.o.Commands.Find(result.CommandID)
	switch {
	case err == nil:
		return string(r.State), r.Reason, r.FinishedAt
	case late > time.Minute || e.o.Clock.Trust() != clock.Trusted || i >= len(h.Actions) || InWords(h.Actions[i]) != result.Action || unlocks(h.Actions[i]):
		return string(device.ExpiredUnused), "the gateway was restarted before the command was given", time.Now()
	}
	return rule.Accepted, "", at
}
