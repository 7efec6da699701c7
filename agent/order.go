package agent

import (
	"bytes"
	"context"
	"errors"
	"sync"
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
	receipt  Receipt   // final once done is closed
	deadline time.Time // with a monotonic reading: a stepped clock cannot revive it
	received time.Time
	err      error // the outcome could not be stored
	done     chan struct{}
}

// inflight finds the orders that are under way, by command id.
type inflight struct {
	mu     sync.Mutex
	orders map[string]*order
}

// claim registers o, or returns the order that has its id already.
func (f *inflight) claim(o *order) (other *order, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.orders[o.command.ID]; other != nil {
		return other, false
	}
	if f.orders == nil {
		f.orders = map[string]*order{}
	}
	f.orders[o.command.ID] = o
	return nil, true
}

func (f *inflight) release(o *order) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.orders, o.command.ID)
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
	if c.ID == "" {
		c.ID = ulid.Make().String()
	}
	if len(c.ID) > maxCommandID {
		return nil, false, refuse(Invalid, "id", "is longer than %d characters", maxCommandID)
	}
	c.SubDevice = drivers.Canonical(c.SubDevice)
	o = &order{command: c, received: time.Now().UTC(), done: make(chan struct{})}
	if other, mine := a.inflight.claim(o); !mine {
		return other, false, other.command.same(c)
	}
	known, err := a.admit(ctx, o)
	if known || err != nil {
		o.err = err // also for those who came with the same id meanwhile
		a.inflight.release(o)
		close(o.done)
	}
	return o, !known, err
}

// admit recalls an order from an earlier time, or lets it into the lane.
func (a *Agent) admit(ctx context.Context, o *order) (known bool, err error) {
	if known, err = a.recall(o); known || err != nil {
		return known, err
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

// check finds the device, parses the value and judges the expiry.
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
	if o.args, err = d.parse(*c); err != nil {
		return nil, err
	}
	o.deadline = a.deadline(*c, now)
	if !now.Before(o.deadline) {
		return nil, refuse(Expired, "", "the command was no longer valid when it arrived")
	}
	return d, nil
}

// deadline is until when a command may be carried out. By wall clock if the
// clock is trusted; else by the time since it arrived, which a replayed
// message cannot stretch beyond the life its sender gave it.
func (a *Agent) deadline(c Command, now time.Time) time.Time {
	life := c.TTL
	if life <= 0 && c.ExpiresAt.IsZero() {
		life = a.config.Cloud.CommandTTL
	}
	sent := c.SentAt
	if sent.IsZero() || sent.After(now) {
		sent = now
	}
	if a.clock.Trust() == Trusted {
		end := now.Add(life - now.Sub(sent))
		if life <= 0 || !c.ExpiresAt.IsZero() && c.ExpiresAt.Before(end) {
			end = now.Add(c.ExpiresAt.Sub(now))
		}
		return end
	}
	if c.SentAt.IsZero() && !c.ExpiresAt.IsZero() && c.ExpiresAt.Before(now) {
		return c.ExpiresAt // a clock that nobody set is late, so this is past by any clock
	}
	if !c.ExpiresAt.IsZero() && !c.SentAt.IsZero() {
		if given := c.ExpiresAt.Sub(c.SentAt); life <= 0 || given < life {
			return now.Add(given)
		}
	}
	if life <= 0 { // an expiry by a clock that we cannot compare with ours
		life = a.config.Cloud.CommandTTL
	}
	return now.Add(life)
}

// parse checks sub-device, action and value against the device.
func (d *device) parse(c Command) (drivers.Args, error) {
	description := d.description.Load()
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
	if err := a.db.Update(ctx, func(tx *store.Tx) error { return a.storeAccepted(tx, o) }); err != nil {
		return err
	}
	a.logGrown()
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
	if err := a.forgetOldest(tx); err != nil {
		return err
	}
	if _, err := commandAges.Push(tx, o.command.ID); err != nil {
		return err
	}
	if err := openCommands.Put(tx, o.command.ID, true); err != nil {
		return err
	}
	if err := commands.Put(tx, o.command.ID, storedCommand{o.command, o.receipt}); err != nil {
		return err
	}
	return a.pushReceipt(tx, o.command, o.receipt)
}

// forgetOldest keeps the memory of commands within its budget.
func (a *Agent) forgetOldest(tx *store.Tx) error {
	if commandAges.Len(tx) < maxCommands {
		return nil
	}
	oldest, err := commandAges.After(tx, 0, 1)
	if err != nil || len(oldest) == 0 {
		return err
	}
	if err := commands.Delete(tx, oldest[0].Value); err != nil {
		return err
	}
	_, err = commandAges.Trim(tx, oldest[0].Seq)
	return err
}
