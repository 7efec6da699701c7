package device

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/time/rate"

	"roomgate/agent/clock"
	"roomgate/agent/device/refusal"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
	"roomgate/store/disk"
)

// maxCommandID bounds the id of a command, in bytes.
const maxCommandID = 200

// CommandsOptions are what the commands of a building stand on.
type CommandsOptions struct {
	DB     *store.DB
	Events *eventlog.Log
	Clock  *clock.Clock
	Log    *slog.Logger
	TTL    time.Duration // how long a command is valid that does not say
	// Find returns the device of that type in a meeting space, or refuses with
	// the field at fault. It is asked at run time only.
	Find func(spaceID, deviceType string) (*Device, error)
	// Starting hears of a command before a device carries it out; nil: nobody does. It must not wait.
	Starting func(Command)
	// Done hears of one that a device has carried out, as its read-back proves, and when that began, before the log does;
	// nil: nobody does. It must not wait.
	Done func(c Command, began time.Time)
	// Stored hears of a command in the transaction that stores that it was accepted, or how it ended; nil: nobody does.
	Stored func(tx *store.Tx, c Command, over bool) error
	// Counters are those of signed commands. It is asked at run time only.
	Counters func() Counters
}

// Commands knows the commands that are under way and the ids of those that
// were. An id that came from outside is forgotten by its age only, and the age
// is time that a gateway has lived through: neither a jump of the clock nor a
// time without power makes an old command new. When maxCommands ids of an
// origin are younger than that, a new command is refused, so the cloud cannot
// use up what the building needs.
type Commands struct {
	o CommandsOptions

	refusals *rate.Limiter // of the cloud's messages
	repeats  *rate.Limiter // of answers that were given before
	refused  refusal.IDs
	unstored refusal.Unstored

	mu      sync.Mutex
	pending map[string]*Pending // under way, by command id
	// forgotten is until when commands were sent whose receipts a repair may have lost; zero: none were.
	forgotten time.Time
	doubt     doubt     // of a process before this one
	began     time.Time // with a monotonic reading
	kept      *kept     // what the disk does not take
	unsure    bool      // the disk did not take all of the process before this one
}

// NewCommands prepares the commands; CloseInterrupted ends those of the process
// before this one.
func NewCommands(o CommandsOptions) *Commands {
	return &Commands{o: o, refusals: refusal.NewLimiter(), repeats: refusal.NewLimiter(), pending: map[string]*Pending{}, began: time.Now(), kept: newKept()}
}

// Do carries a command out and returns its final receipt; if ctx ends first,
// the receipt that it was accepted. A command that cannot be accepted is a
// *problem.Error, and nothing was stored or done. The same id again gets the
// same receipt, and nothing is done twice.
func (cs *Commands) Do(ctx context.Context, c Command) (Receipt, error) {
	p, err := cs.Begin(ctx, c)
	if err != nil {
		return Receipt{}, err
	}
	select {
	case <-p.Done():
		return p.Result()
	case <-ctx.Done():
		return p.accepted(), nil
	}
}

// Accept is Do for a caller who does not wait: it returns the receipt that the
// command was accepted, once that is stored, or the final one of a command
// that was finished before.
func (cs *Commands) Accept(ctx context.Context, c Command) (Receipt, error) {
	p, fresh, err := cs.accept(ctx, c)
	if err != nil {
		return Receipt{}, err
	}
	if !fresh && p.ended() {
		return p.Result()
	}
	return p.accepted(), nil
}

// Begin is Accept for a caller who waits later. A command that is known already
// comes back as it is.
func (cs *Commands) Begin(ctx context.Context, c Command) (*Pending, error) {
	p, _, err := cs.accept(ctx, c)
	return p, err
}

// Find returns the receipt of a command that was accepted or refused, also
// before a restart. The error is store.ErrNotFound if its id is not known.
func (cs *Commands) Find(id string) (Receipt, error) {
	if s, ok := cs.kept.find(id); ok {
		return s.Receipt, nil
	}
	s, err := cs.stored(id)
	return s.Receipt, err
}

func (cs *Commands) stored(id string) (s Stored, err error) {
	err = cs.o.DB.View(func(tx *store.Tx) (err error) { s, err = cs.find(tx, id); return err })
	return s, err
}

// accept checks a command, stores its id before any effect, and puts it into
// its device's lane. A command that is known already, and so not fresh, comes
// back as it is.
func (cs *Commands) accept(ctx context.Context, c Command) (p *Pending, fresh bool, err error) {
	from := originOf(c)
	if c.ID == "" {
		c.ID = ulid.Make().String()
	}
	if len(c.ID) > maxCommandID {
		return nil, false, problem.New(problem.Invalid, "id", "is longer than %d characters", maxCommandID)
	}
	if reserved(c) {
		return nil, false, errReserved()
	}
	c.SubDevice = drivers.Canonical(c.SubDevice)
	p = &Pending{command: c, from: from, received: time.Now().UTC(), done: make(chan struct{})}
	if other, mine := cs.register(p); !mine {
		return other, false, other.command.same(c)
	}
	known, err := cs.admit(ctx, p)
	if known || err != nil {
		p.err = err // also for those who came with the same id meanwhile
		cs.release(p)
		close(p.done)
	}
	return p, !known, err
}

// register notes that p is under way, or returns the command that has its id
// already.
func (cs *Commands) register(p *Pending) (other *Pending, mine bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if other := cs.pending[p.command.ID]; other != nil {
		return other, false
	}
	cs.pending[p.command.ID] = p
	return nil, true
}

func (cs *Commands) release(p *Pending) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.pending, p.command.ID)
}

// admit recalls a command from an earlier time, or lets it into the lane.
func (cs *Commands) admit(ctx context.Context, p *Pending) (known bool, err error) {
	if known, err = cs.recall(p); known || err != nil {
		return known, err
	}
	if err := cs.forgot(p.command); err != nil {
		return false, err
	}
	d, err := cs.check(p)
	if err != nil {
		return false, err
	}
	return false, d.enqueue(ctx, p)
}

// recall takes the receipt of a command that was finished before.
func (cs *Commands) recall(p *Pending) (known bool, err error) {
	s, known := cs.kept.find(p.command.ID)
	if !known {
		s, err = cs.stored(p.command.ID)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil && p.command.Via != ViaMQTT && cs.o.DB.Condition().State != disk.Taking:
		cs.o.Log.Warn("cannot read whether a command was carried out before, treating it as new", "command", p.command.ID, "error", err)
		return false, nil
	case err != nil:
		return false, err
	}
	p.receipt = s.Receipt
	return true, s.Command.same(p.command)
}

// same refuses an id that comes back with another content. It reads what nobody changes any more: c may be under way.
func (c *Command) same(again Command) error {
	if c.Space != again.Space || c.DeviceType != again.DeviceType || c.SubDevice != again.SubDevice ||
		c.Action != again.Action || !bytes.Equal(c.Value, again.Value) {
		return problem.New(problem.Conflict, "id", "was used before for another command: choose a new one")
	}
	return nil
}

// check finds the device, parses the value and judges the expiry. The value for a
// device that was not opened yet is parsed once it is.
func (cs *Commands) check(p *Pending) (*Device, error) {
	c := &p.command
	now := time.Now()
	p.receipt = p.accepted()
	d, err := cs.o.Find(c.Space, c.DeviceType)
	if err != nil {
		return nil, err
	}
	if !d.Live().Enabled {
		return nil, ErrDisabled()
	}
	if p.args, err = d.Parse(*c); err != nil && !errors.Is(err, errNotOpened) {
		return nil, err
	}
	j := judge{now, cs.o.Clock.Trust() == clock.Trusted, cs.o.TTL}
	if p.deadline, err = j.deadline(*c); err != nil {
		return nil, err
	}
	c.Doubted = c.Doubted || c.Via == ViaMQTT && !j.timely(*c, p.deadline)
	return d, nil
}
