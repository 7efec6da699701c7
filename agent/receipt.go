package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/drivers"
	"roomgate/store"
)

// finishTimeout bounds how long the outcome of an order may wait for the disk.
const finishTimeout = 5 * time.Second

// obey carries one order out and reads it back.
func (d *device) obey(ctx context.Context, driver drivers.Driver, o *order) {
	if !time.Now().Before(o.deadline) {
		d.finish(o, nil, refuse(Expired, "", "the command waited longer than it was valid"))
		return
	}
	if o.args == nil { // it came before the device was opened
		var err error
		if o.args, err = d.parse(o.command); err != nil {
			d.finish(o, nil, err)
			return
		}
	}
	command, began := drivers.Command{Sub: o.command.SubDevice, Action: o.command.Action, Args: o.args}, time.Now()
	status, err := call(ctx, d, max(d.Timeout, orderTimeout), func(ctx context.Context) (drivers.Status, error) {
		return driver.Do(ctx, command)
	})
	if err == nil {
		err = unproven(status, began)
	}
	if err != nil {
		d.finish(o, nil, err)
	} else {
		d.finish(o, &status, nil)
	}
	d.kick.Wake() // see what else the command has changed
}

// unproven is why a status is no evidence of a command that began then.
func unproven(s drivers.Status, began time.Time) error {
	switch {
	case s.Err != nil:
		return &deviceError{fmt.Errorf("%w: %w", drivers.ErrNotConfirmed, s.Err)}
	case s.ObservedAt.Before(began):
		return &deviceError{fmt.Errorf("%w: what it said of itself is older than the command", drivers.ErrNotConfirmed)}
	}
	return nil
}

// finish writes the outcome of an order, and whatever changed with it, in one
// transaction, and only then tells.
func (d *device) finish(o *order, proof *drivers.Status, failure error) {
	a := d.agent
	c := eventlog.Change{}
	if proof != nil {
		c = d.prove(*proof)
	}
	r := o.receipt
	r.FinishedAt = time.Now().UTC()
	r.State, r.Code, r.Reason = outcome(failure)
	if proof != nil {
		r.Evidence = d.evidence(*proof)
	}
	c.Rows = append(c.Rows, d.completed(o.command, r))
	c.Also = func(tx *store.Tx) error { return a.storeFinal(tx, o.command, r) }
	ctx, cancel := context.WithTimeout(context.Background(), finishTimeout)
	defer cancel()
	if err := a.Events.Write(ctx, c); err != nil {
		o.err = AsError(err)
		d.log.Error("an order's outcome cannot be stored, it waits in memory", "command", o.command.ID, "state", r.State, "error", err)
	}
	o.receipt = r
	d.last.Store(&storedCommand{Command: o.command, Receipt: r})
	a.commands.release(o)
	close(o.done)
}

// prove shows the read-back at once.
func (d *device) prove(s drivers.Status) eventlog.Change {
	if s.Picture != nil {
		d.picture.Store(&takenPicture{s.Picture, s.ObservedAt})
		s.Details = nil // they are of the picture, not of the device
	}
	c := d.view.prove(s)
	d.show(d.view.snapshot(time.Now().Add(strikes*(d.live().Poll+d.Timeout)+orderTimeout), ""))
	d.space.changed()
	return c
}

func (d *device) evidence(s drivers.Status) *Evidence {
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

// outcome names the state that a failure leads to.
func outcome(failure error) (State, Code, string) {
	if failure == nil {
		return Done, "", ""
	}
	e := AsError(failure)
	switch e.Code {
	case Expired:
		return ExpiredUnused, e.Code, e.Error()
	case Invalid, NotFound, Conflict, Forbidden, NotNow:
		return Rejected, e.Code, e.Error()
	}
	return Failed, e.Code, e.Error()
}

// completed is the event that tells everybody else of an order.
func (d *device) completed(c Command, r Receipt) eventlog.Row {
	details := map[string]any{"command_id": c.ID, "action": c.Action, "state": r.State, "via": c.Via}
	if r.Reason != "" {
		details["reason"] = r.Reason
	}
	if r.Evidence != nil {
		details["value"] = r.Evidence.Value
	}
	return d.event("commandCompleted", c.SubDevice, r.FinishedAt, details)
}

func (a *Agent) storeFinal(tx *store.Tx, c Command, r Receipt) error {
	if err := a.commands.write(tx, c, r); err != nil {
		return err
	}
	if err := openCommands.Delete(tx, c.ID); err != nil {
		return err
	}
	return a.pushReceipt(tx, c, r)
}

// pushReceipt puts a receipt into the log if the command came from the cloud.
func (a *Agent) pushReceipt(tx *store.Tx, c Command, r Receipt) error {
	if c.Via != ViaMQTT {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return a.Events.Push(tx, a.Events.Row(eventlog.LevelReceipt, time.Now(), c.Space, c.DeviceType, c.SubDevice, data))
}

// failInterrupted ends the commands that were under way when the process
// ended. Whether they took effect is unknown, so they are not carried out
// again; the next poll tells the state of the device.
func (a *Agent) failInterrupted(ctx context.Context) error {
	return a.db.Update(ctx, func(tx *store.Tx) error {
		var ids []string
		for id := range openCommands.All(tx) {
			ids = append(ids, id)
		}
		for _, id := range ids {
			s, err := commands.Get(tx, id)
			if err != nil {
				return err
			}
			r := s.Receipt
			r.State, r.Code, r.FinishedAt = Failed, Internal, time.Now().UTC()
			r.Reason = "the gateway stopped while the command was under way, it is not known whether it took effect"
			if err := a.storeFinal(tx, s.Command, r); err != nil {
				return err
			}
			d, err := a.device(s.Command.Space, s.Command.DeviceType)
			if err != nil {
				continue // it is not part of the building any more
			}
			if err := a.Events.Push(tx, d.completed(s.Command, r)); err != nil {
				return err
			}
		}
		return nil
	})
}

// LastReceipt returns the last command to a device since the start, and its
// receipt.
func (a *Agent) LastReceipt(spaceID, deviceType, sub string) (Command, Receipt, bool) {
	d, err := a.device(spaceID, deviceType)
	if err != nil {
		return Command{}, Receipt{}, false
	}
	s := d.last.Load()
	if s == nil || sub != "" && s.Command.SubDevice != drivers.Canonical(sub) {
		return Command{}, Receipt{}, false
	}
	return s.Command, s.Receipt, true
}

// Picture returns the last snapshot of a camera or screenshot of a display.
// It is kept in memory only.
func (a *Agent) Picture(spaceID, deviceType string) (*drivers.Picture, time.Time, bool) {
	d, err := a.device(spaceID, deviceType)
	if err != nil {
		return nil, time.Time{}, false
	}
	taken := d.picture.Load()
	if taken == nil {
		return nil, time.Time{}, false
	}
	return taken.picture, taken.at, true
}
