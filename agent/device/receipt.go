package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// obey carries one command out and reads it back.
func (d *Device) obey(ctx context.Context, driver drivers.Driver, p *Pending) {
	if !time.Now().Before(p.deadline) {
		d.finish(p, nil, problem.New(problem.Expired, "", "the command waited longer than it was valid"))
		return
	}
	if p.args == nil { // it came before the device was opened
		var err error
		if p.args, err = d.Parse(p.command); err != nil {
			d.finish(p, nil, err)
			return
		}
	}
	if starting := d.commands.o.Starting; starting != nil {
		starting(p.command)
	}
	command, began := drivers.Command{Sub: p.command.SubDevice, Action: p.command.Action, Args: p.args}, time.Now()
	status, err := call(ctx, d, max(d.Timeout, commandTimeout), func(ctx context.Context) (drivers.Status, error) {
		return driver.Do(ctx, command)
	})
	if err == nil {
		err = unproven(d.Type, command, status, began)
	}
	if err != nil {
		d.finish(p, nil, err)
	} else {
		if done := d.commands.o.Done; done != nil {
			done(p.command, began)
		}
		d.finish(p, &status, nil)
	}
	d.kick.Wake() // see what else the command has changed
}

// unproven is why a status is no evidence of a command that began then.
func unproven(deviceType string, c drivers.Command, s drivers.Status, began time.Time) error {
	err := drivers.Unproven(deviceType, c, s)
	if s.Err == nil && s.ObservedAt.Before(began) {
		err = fmt.Errorf("%w: its last report is older than the command", drivers.ErrNotConfirmed)
	}
	if err != nil {
		return &fault{err}
	}
	return nil
}

// finish writes the outcome of a command, and whatever changed with it, in one
// transaction, and only then tells.
func (d *Device) finish(p *Pending, proof *drivers.Status, failure error) {
	c := eventlog.Change{}
	if proof != nil {
		c = d.prove(*proof)
	}
	r := p.receipt
	r.FinishedAt = time.Now().UTC()
	r.State, r.Code, r.Reason = Outcome(failure)
	if proof != nil {
		r.Evidence = d.evidence(*proof)
	}
	c.Rows = append(c.Rows, d.completed(p.command, r))
	d.storing(&c, p, r)
	ctx, cancel := loop.Last(context.Background())
	defer cancel()
	err := d.events.Write(ctx, c)
	switch {
	case err == nil:
	case p.kept != nil, store.Unstored(err) && d.Type == drivers.TypeLock, errors.Is(err, store.ErrFailed):
		r = d.commands.keepFinal(p, r)
	default:
		p.err = AsError(err)
	}
	if err != nil {
		d.log.Error("cannot store the outcome of a command, keeping it in memory", "command", p.command.ID, "state", r.State, "error", err)
	}
	p.receipt = r
	d.last.Store(&Stored{Command: p.command, Receipt: r})
	d.commands.release(p)
	close(p.done)
}

// storing lets a change store the outcome of a command.
func (d *Device) storing(c *eventlog.Change, p *Pending, r Receipt) {
	c.Also = func(tx *store.Tx) error { return d.commands.storeFinal(tx, p.command, r) }
	if p.kept != nil {
		c.Also = func(tx *store.Tx) error { return d.commands.storeKept(tx, p.kept, r) }
	}
	c.Done = func() {
		p.written.Store(true)
		d.commands.settled(p.command.ID)
	}
}

// prove shows the read-back at once.
func (d *Device) prove(s drivers.Status) eventlog.Change {
	if s.Picture != nil {
		d.picture.Store(&takenPicture{s.Picture, s.ObservedAt})
		s.Details = nil // they are of the picture, not of the device
	}
	c := d.view.prove(s)
	d.show(d.view.snapshot(time.Now().Add(strikes*(d.Live().Poll+d.Timeout)+commandTimeout), ""))
	d.changed()
	return c
}

func (d *Device) evidence(s drivers.Status) *Evidence {
	name := s.Sub
	if name == "" {
		name = d.Type
	}
	status := Online
	if r, ok := d.known.Load().find(s.Sub); ok {
		status = r.Status
	}
	return &Evidence{Record{name, s.Value, status}, s.ObservedAt.UTC(), s.Source, s.Details}
}

// Outcome names the state, code and reason that a failure leads to; nil is Done.
func Outcome(failure error) (State, problem.Code, string) {
	if failure == nil {
		return Done, "", ""
	}
	e := AsError(failure)
	switch e.Code {
	case problem.Expired:
		return ExpiredUnused, e.Code, e.Error()
	case problem.Invalid, problem.NotFound, problem.Conflict, problem.Forbidden, problem.NotNow:
		return Rejected, e.Code, e.Error()
	}
	return Failed, e.Code, e.Error()
}

// completed is the event that tells everybody else of a command.
func (d *Device) completed(c Command, r Receipt) eventlog.Row {
	details := map[string]any{"command_id": c.ID, "action": c.Action, "state": r.State, "via": c.Via}
	if c.Count != nil {
		details["signed_by"] = c.Count.Key
	}
	if r.Reason != "" {
		details["reason"] = r.Reason
	}
	if r.Evidence != nil {
		details["value"] = r.Evidence.Value
	}
	return d.Event(EventCommandCompleted, c.SubDevice, r.FinishedAt, details)
}
