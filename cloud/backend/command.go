package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"roomgate/cloud"
)

// ErrNoReceipt says that a gateway has not answered in time: nobody knows whether the
// command was carried out. Its receipt may still come to the handler of Consume.
var ErrNoReceipt = errors.New("no receipt came")

// ErrBusy says that too many commands wait for a gateway.
var ErrBusy = errors.New("too many commands wait for this gateway")

// maxWaiting is how many commands may wait for the receipt of one gateway.
const maxWaiting = 50

// usualLife is how long a command is wanted that does not say, lateReceipt how long after
// that a receipt may take to come.
const (
	usualLife   = 30 * time.Second
	lateReceipt = 15 * time.Second
)

// Command asks a device of a gateway for an action.
type Command struct {
	MeetingSpaceID string          `json:"meeting_space_id"`
	DeviceType     string          `json:"device_type"`
	SubDevice      string          `json:"sub_device,omitempty"`
	Action         string          `json:"action"`
	Value          json.RawMessage `json:"value,omitempty"`
	ExpiresAt      time.Time       `json:"expires_at,omitzero"`
	// TTL is in seconds from the message's time, 0.001 to 86400; 0: the gateway's
	// usual. What unlocks may be at most a minute ahead, by either.
	TTL float64 `json:"ttl_s,omitempty"`
}

// until is when the command is not wanted any more.
func (c Command) until(now time.Time) time.Time {
	switch {
	case !c.ExpiresAt.IsZero():
		return c.ExpiresAt
	case c.TTL > 0:
		return now.Add(time.Duration(c.TTL * float64(time.Second)))
	}
	return now.Add(usualLife)
}

// dated is a command that says until when it is wanted by a clock: one that counts
// from its arrival would be as fresh whenever it comes.
func (c Command) dated(now time.Time) Command {
	c.ExpiresAt, c.TTL = c.until(now).UTC(), 0
	return c
}

// The states of a Receipt.
const (
	Accepted = "accepted" // stored; another receipt comes
	Done     = "done"
	Failed   = "failed"   // the device did not follow
	Rejected = "rejected" // it was not tried
	Expired  = "expired"  // it came too late
)

// Receipt is what a gateway answers; asyncapi.yaml has every field.
type Receipt struct {
	CommandID  string          `json:"command_id"`
	State      string          `json:"state"`
	Code       string          `json:"code,omitempty"` // of a problem, as "invalid"
	Reason     string          `json:"reason,omitempty"`
	Evidence   json.RawMessage `json:"evidence,omitempty"` // what the device says afterwards
	ReceivedAt time.Time       `json:"received_at"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`
	Durable    *bool           `json:"durable,omitempty"` // false: a restart of the gateway forgets it
}

// waiter is a command without its final receipt.
type waiter struct {
	gateway string
	last    Receipt
	final   chan Receipt // holds one
}

// Command sends a command and waits for the final receipt: whatever that says is no
// error. It waits until ctx ends, or 15 s longer than the command is wanted (half a minute
// if it does not say), and then returns ErrNoReceipt with the last receipt that came,
// accepted or empty: none is made up. At most 50 commands wait for one gateway, another one is
// ErrBusy. Consume has to run, as it hears the receipts. With a Signer the command is
// signed and says until when it is wanted.
func (b *Backend) Command(ctx context.Context, gateway string, c Command) (Receipt, error) {
	m, id, err := b.commandMessage(gateway, c)
	if err != nil {
		return Receipt{}, err
	}
	w, err := b.wait(gateway, id)
	if err != nil {
		return Receipt{}, fmt.Errorf("command %s for %s: %w", id, gateway, err)
	}
	defer b.forget(id)
	ctx, cancel := context.WithDeadline(ctx, c.until(time.Now()).Add(lateReceipt))
	defer cancel()
	if err := b.deliver(ctx, gateway, cloud.LevelCommand, m); err != nil {
		return Receipt{CommandID: id}, err
	}
	select {
	case r := <-w.final:
		return r, nil
	case <-ctx.Done():
		return b.last(id), fmt.Errorf("command %s for %s: %w: %w", id, gateway, ErrNoReceipt, context.Cause(ctx))
	}
}

// Send sends a command as Command does and returns its id, under which receipts come to
// the handler of Consume.
func (b *Backend) Send(ctx context.Context, gateway string, c Command) (id string, err error) {
	m, id, err := b.commandMessage(gateway, c)
	if err == nil {
		err = b.deliver(ctx, gateway, cloud.LevelCommand, m)
	}
	return id, err
}

// commandMessage makes the message that carries a command.
func (b *Backend) commandMessage(gateway string, c Command) (m cloud.Message, id string, err error) {
	if b.o.Signer != nil {
		c = c.dated(time.Now())
	}
	return b.message(gateway, cloud.LevelCommand, cloud.Topics{Gateway: gateway}.Down(cloud.LevelCommand), c)
}

// wait enters a command among those that wait.
func (b *Backend) wait(gateway, id string) (*waiter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != nil && !b.consumes {
		return nil, errors.New("nobody hears the receipt: run Consume instead of Run")
	}
	n := 0
	for _, w := range b.waiting {
		if w.gateway == gateway {
			n++
		}
	}
	if n >= maxWaiting {
		return nil, ErrBusy
	}
	w := &waiter{gateway: gateway, final: make(chan Receipt, 1)}
	w.last.CommandID = id
	b.waiting[id] = w
	return w, nil
}

func (b *Backend) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, id)
}

func (b *Backend) last(id string) Receipt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting[id].last
}

// answer settles with a receipt that is no row, which waits for nothing: no ledger has it.
func (b *Backend) answer(j job) {
	if j.row || j.Level != cloud.LevelReceipt || b.o.Source != nil { // the session has heard it
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(j.Gateway, j.Data)
}

// settle hands a receipt to whoever waits for it. Only the gateway itself answers. The
// caller has the lock.
func (b *Backend) settle(gateway string, data json.RawMessage) {
	var r Receipt
	if json.Unmarshal(data, &r) != nil {
		return
	}
	w := b.waiting[r.CommandID]
	if w == nil || w.gateway != gateway {
		return
	}
	if w.last = r; r.State == Accepted {
		return
	}
	select {
	case w.final <- r:
	default: // it was answered
	}
}
