package device

import (
	"context"
	"errors"
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
	also     []func(*store.Tx) error // stored with the id
	err      error                   // the outcome could not be stored
	done     chan struct{}
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
	return Receipt{CommandID: p.command.ID, State: Accepted, ReceivedAt: p.received}
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
	if names := actionNames(*description, c.SubDevice); !ok && len(names) == 0 {
		return nil, problem.New(problem.Invalid, "action", "is not known: this device only reports, and takes no commands")
	}
	if !ok {
		return nil, problem.New(problem.Invalid, "action", "is not known: want one of %s", problem.List(actionNames(*description, c.SubDevice)))
	}
	return action.Parse(c.Value)
}

func actionNames(d drivers.Description, sub string) []string {
	actions := d.Actions
	for _, s := range d.Subs {
		if s.Name == sub {
			actions = s.Actions
		}
	}
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = a.Name
	}
	return names
}

// enqueue stores the command as accepted and only then lets the device at it.
func (d *Device) enqueue(ctx context.Context, p *Pending) error {
	if len(d.lane) == cap(d.lane) {
		return problem.New(problem.Unavailable, "", "%d commands wait for this device already: try again later", laneLength)
	}
	if err := d.events.Update(ctx, func(tx *store.Tx) error { return d.commands.storeAccepted(tx, p) }); err != nil {
		return err
	}
	select {
	case d.lane <- p:
		if d.gone.Load() {
			d.turnAway()
		}
	default: // others were faster: it is accepted, and now has to be failed
		d.finish(p, nil, problem.New(problem.Unavailable, "", "too many commands wait for this device: try again later"))
	}
	return nil
}

func (b *Commands) storeAccepted(tx *store.Tx, p *Pending) error {
	for _, write := range p.also {
		if err := write(tx); err != nil {
			return err
		}
	}
	if err := openCommands.Put(tx, p.command.ID, true); err != nil {
		return err
	}
	if err := b.remember(tx, p.from, p.command, p.receipt); err != nil {
		return err
	}
	return b.PushReceipt(tx, p.command, p.receipt)
}
