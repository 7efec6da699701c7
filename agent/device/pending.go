package device

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// Pending is a command on its way through its device's lane.
type Pending struct {
	command  Command
	args     drivers.Args
	receipt  Receipt // final once done is closed
	from     origin
	deadline time.Time // with a monotonic reading: a stepped clock cannot revive it
	received time.Time
	err      error // the outcome could not be stored
	done     chan struct{}
	kept     *keptCommand // the disk did not take it; nil: it is stored
	written  atomic.Bool  // with its outcome
}

// Command is the command, with its id.
func (p *Pending) Command() Command { return p.command }

// Done is closed once the receipt is final.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Result is the final receipt, once Done is closed. An error says that the
// outcome could not be stored, and a receipt without a state that there is none.
func (p *Pending) Result() (Receipt, error) { return p.receipt, p.err }

// accepted is the receipt of a command that is under way.
func (p *Pending) accepted() Receipt {
	r := Receipt{CommandID: p.command.ID, State: Accepted, ReceivedAt: p.received}
	if p.kept != nil {
		return p.kept.mark(r)
	}
	return r
}

// ended says whether the receipt is final.
func (p *Pending) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// errNotOpened says that nobody has tried yet to open a device.
var errNotOpened = errors.New("device is not opened yet")

// Parse checks sub-device, action and value against the device.
func (d *Device) Parse(c Command) (drivers.Args, error) {
	description := d.description.Load()
	if description == nil && !d.tried.Load() {
		return nil, errNotOpened
	}
	if description == nil {
		return nil, problem.New(problem.Unavailable, "", "device is not opened: %s", d.known.Load().readings[0].Reason)
	}
	action, known, ok := description.Action(c.SubDevice, c.Action)
	if !known {
		return nil, problem.New(problem.NotFound, "sub_device", "is not known: %s has %s", d.Type, problem.List(drivers.SubDevices(d.Type)))
	}
	if names := description.ActionNames(c.SubDevice); !ok && len(names) == 0 {
		return nil, problem.New(problem.Invalid, "action", "is not known: this device only reports, and takes no commands")
	}
	if !ok {
		return nil, problem.New(problem.Invalid, "action", "is not known: want one of %s", problem.List(description.ActionNames(c.SubDevice)))
	}
	return action.Parse(c.Value)
}

// enqueue stores the command as accepted and only then lets the device at it.
func (d *Device) enqueue(ctx context.Context, p *Pending) error {
	of := p.command.giver()
	if err := d.lane.enter(of); err != nil {
		return err
	}
	err := d.events.Update(ctx, func(tx *store.Tx) error { return d.commands.storeAccepted(tx, p) })
	if store.Unstored(err) {
		err = d.commands.withoutDisk(p, err)
	}
	if err != nil {
		d.lane.leave(of)
		return err
	}
	d.lane.put(p)
	if d.gone.Load() {
		d.turnAway()
	}
	return nil
}

func (cs *Commands) storeAccepted(tx *store.Tx, p *Pending) error {
	if p.command.Count != nil {
		if err := cs.o.Counters().Use(tx, *p.command.Count); err != nil {
			return err
		}
	}
	if err := cs.remember(tx, p.from, p.command, p.receipt); err != nil {
		return err
	}
	if err := cs.told(tx, p.command, false); err != nil {
		return err
	}
	return cs.PushReceipt(tx, p.command, p.receipt)
}

// told lets others store with a command what they have to.
func (cs *Commands) told(tx *store.Tx, c Command, over bool) error {
	if cs.o.Stored == nil {
		return nil
	}
	return cs.o.Stored(tx, c, over)
}
