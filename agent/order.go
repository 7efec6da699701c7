package agent

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/drivers"
	"roomgate/store"
)

// maxCommandID bounds the id of a command, in bytes.
const maxCommandID = 200

// order is an accepted command on its way through a device's lane.
type order struct {
	command  Command
	args     drivers.Args
	receipt  Receipt // final once done is closed
	from     origin
	deadline time.Time // with a monotonic reading: a stepped clock cannot revive it
	received time.Time
	err      error // the outcome could not be stored
	done     chan struct{}
}

// Do carries a command out and returns its final receipt; if ctx ends first,
// the receipt that it was accepted. A command that cannot be accepted is an
// *Error, and nothing was stored or done. The same id again gets the same
// receipt, and nothing is done twice.
func (a *Agent) Do(ctx context.Context, c Command) (Receipt, error) {
	o, _, err := a.accept(ctx, c)
	if err != nil {
		return Receipt{}, err
	}
	select {
	case <-o.done:
		return o.receipt, o.err
	case <-ctx.Done():
		return o.accepted(), nil
	}
}

// Accept is Do for a caller who does not wait: it returns the receipt that the
// command was accepted, once that is stored, or the final one of a command
// that was finished before.
func (a *Agent) Accept(ctx context.Context, c Command) (Receipt, error) {
	o, fresh, err := a.accept(ctx, c)
	if err != nil {
		return Receipt{}, err
	}
	if !fresh && o.ended() {
		return o.receipt, o.err
	}
	return o.accepted(), nil
}

// accepted is the receipt of an order that is under way.
func (o *order) accepted() Receipt {
	return Receipt{CommandID: o.command.ID, State: Accepted, ReceivedAt: o.received}
}

// ended says whether the receipt is final.
func (o *order) ended() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// accept checks a command, stores its id before any effect, and puts it into
// its device's lane. A command that is known already, and so not fresh, comes
// back as it is.
func (a *Agent) accept(ctx context.Context, c Command) (o *order, fresh bool, err error) {
	from := originOf(c)
	if c.ID == "" {
		c.ID = ulid.Make().String()
	}
	if len(c.ID) > maxCommandID {
		return nil, false, refuse(Invalid, "id", "is longer than %d characters", maxCommandID)
	}
	c.SubDevice = drivers.Canonical(c.SubDevice)
	o = &order{command: c, from: from, received: time.Now().UTC(), done: make(chan struct{})}
	if other, mine := a.commands.claim(o); !mine {
		return other, false, other.command.same(c)
	}
	known, err := a.admit(ctx, o)
	if known || err != nil {
		o.err = err // also for those who came with the same id meanwhile
		a.commands.release(o)
		close(o.done)
	}
	return o, !known, err
}

// admit recalls an order from an earlier time, or lets it into the lane.
func (a *Agent) admit(ctx context.Context, o *order) (known bool, err error) {
	if known, err = a.recall(o); known || err != nil {
		return known, err
	}
	if err := a.commands.forgot(o.command); err != nil {
		return false, err
	}
	d, err := a.check(o)
	if err != nil {
		return false, err
	}
	return false, d.enqueue(ctx, o)
}

// recall takes the receipt of a command that was finished before.
func (a *Agent) recall(o *order) (known bool, err error) {
	var s storedCommand
	err = a.db.View(func(tx *store.Tx) (err error) { s, err = commands.Get(tx, o.command.ID); return err })
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	o.receipt = s.Receipt
	return true, s.Command.same(o.command)
}

// same refuses an id that comes back with another content.
func (c Command) same(again Command) error {
	if c.Space != again.Space || c.DeviceType != again.DeviceType || c.SubDevice != again.SubDevice ||
		c.Action != again.Action || !bytes.Equal(c.Value, again.Value) {
		return refuse(Conflict, "id", "was used before for another command: choose a new one")
	}
	return nil
}

// check finds the device, parses the value and judges the expiry. The value for a
// device that was not opened yet is parsed once it is.
func (a *Agent) check(o *order) (*device, error) {
	c := &o.command
	now := time.Now()
	o.receipt = o.accepted()
	d, err := a.device(c.Space, c.DeviceType)
	if err != nil {
		return nil, err
	}
	if !d.live().Enabled {
		return nil, errDisabled()
	}
	if o.args, err = d.parse(*c); err != nil && !errors.Is(err, errNotOpened) {
		return nil, err
	}
	j := judge{now, a.clock.Trust() == Trusted, a.config.Cloud.CommandTTL}
	if o.deadline, err = j.deadline(*c); err != nil {
		return nil, err
	}
	return d, nil
}

// errNotOpened says that nobody has tried yet to open a device.
var errNotOpened = errors.New("device is not opened yet")

// parse checks sub-device, action and value against the device.
func (d *device) parse(c Command) (drivers.Args, error) {
	description := d.description.Load()
	if description == nil && !d.tried.Load() {
		return nil, errNotOpened
	}
	if description == nil {
		return nil, refuse(Unavailable, "", "device is not opened: %s", d.known.Load().readings[0].Reason)
	}
	action, known, ok := description.Action(c.SubDevice, c.Action)
	if !known {
		return nil, refuse(NotFound, "sub_device", "is not known: %s has %s", d.Type, listed(drivers.SubDevices(d.Type)))
	}
	if names := actionNames(*description, c.SubDevice); !ok && len(names) == 0 {
		return nil, refuse(Invalid, "action", "is not known: this device only tells, and takes no orders")
	}
	if !ok {
		return nil, refuse(Invalid, "action", "is not known: want one of %s", listed(actionNames(*description, c.SubDevice)))
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
func (d *device) enqueue(ctx context.Context, o *order) error {
	if len(d.lane) == cap(d.lane) {
		return refuse(Unavailable, "", "%d orders wait for this device already: try again later", laneLength)
	}
	a := d.agent
	if err := a.Events.Update(ctx, func(tx *store.Tx) error { return a.storeAccepted(tx, o) }); err != nil {
		return err
	}
	select {
	case d.lane <- o:
		if d.gone.Load() {
			d.turnAway()
		}
	default: // others were faster: it is accepted, and now has to be failed
		d.finish(o, nil, refuse(Unavailable, "", "too many orders wait for this device: try again later"))
	}
	return nil
}

func (a *Agent) storeAccepted(tx *store.Tx, o *order) error {
	if err := openCommands.Put(tx, o.command.ID, true); err != nil {
		return err
	}
	if err := a.commands.remember(tx, o.from, o.command, o.receipt); err != nil {
		return err
	}
	return a.pushReceipt(tx, o.command, o.receipt)
}
