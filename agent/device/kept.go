package device

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// A command is stored before it is obeyed. Where the disk does not take it, it may be obeyed all the same: somebody may
// stand at a door. Its outcome is kept in memory, so that it is carried out once, and written when it can be.
//
//   - A full disk: what moves a lock, by any way. Its record goes into the reserve of the store, which has room, with the
//     counter of a signed one. Everything else is refused, and the cloud hears of it without the log.
//   - A disk that takes nothing: all that somebody in the building wants. What the cloud wants only if it cannot have
//     been carried out before the start, by a clock that is trusted, and what unlocks only if it is signed: its counter
//     is used in memory. It is not acknowledged, and its receipts say that they are not durable.
//
// Kept commands go into the reserve, too, as soon as the disk takes them, see KeepOver, HandOver and doubt.

const (
	// Reserve is how much of the disk is taken beforehand for the records of doors, in bytes.
	Reserve = 64 << 10
	// maxKept bounds what is kept in memory, in bytes of JSON.
	maxKept = 4 << 20
	// maxUnsent is how many receipts wait for the cloud that cannot be stored.
	maxUnsent = 1000
	// skew is how far the clock of a cloud may be ahead of ours while the disk takes nothing. What was sent less than that
	// after the start may have come before it.
	skew = 5 * time.Second
)

// kept is what the disk does not have.
type kept struct {
	reserving sync.Mutex // of who puts into the reserve, until it is kept, and of who clears it
	mu        sync.Mutex
	byID      map[string]*keptCommand
	order     []string // of byID, the oldest first
	bytes     int
	unsent    []Receipt // that the log does not have, for the cloud
	refused   []Receipt // the same of what was refused, which come after those
	woken     loop.Signal
	grown     loop.Signal // of KeepOver
}

// keptCommand is a command, its receipt, and who chose its id.
type keptCommand struct {
	Stored
	From    origin `json:"from"`
	Count   *Count `json:"count,omitempty"` // that of Command; nil: it is not signed
	durable bool   // it is in the reserve; set before others see it
	bytes   int
}

func newKept() *kept {
	return &kept{byID: map[string]*keptCommand{}, woken: loop.NewSignal(), grown: loop.NewSignal()}
}

// withoutDisk decides about a command that could not be stored, as err says. It is the one place that does.
func (cs *Commands) withoutDisk(p *Pending, err error) error {
	k := &keptCommand{Stored: Stored{p.command, p.receipt, cs.now()}, From: p.from, Count: p.command.Count}
	switch {
	case errors.Is(err, store.ErrFailed):
		if why := cs.mayTrust(p.command); why != nil {
			return why
		}
	case !errors.Is(err, store.ErrFull) || p.command.DeviceType != drivers.TypeLock:
		return err
	}
	if why := cs.hold(p.command.Count, func() error { return cs.keep(k, err) }); why != nil {
		return why
	}
	p.kept = k
	cs.o.Log.Warn("carrying out a command that the disk cannot store", "command", p.command.ID, "via", p.command.Via, "durable", k.durable, "error", err)
	p.receipt = k.mark(p.receipt)
	cs.tellUnstored(k, p.receipt)
	return nil
}

// keep keeps a command that the disk does not take, as err says.
func (cs *Commands) keep(k *keptCommand, err error) error {
	cs.kept.reserving.Lock()
	defer cs.kept.reserving.Unlock()
	if errors.Is(err, store.ErrFull) && cs.reserve(k) != nil && k.Command.Via == ViaMQTT {
		return err // the cloud is told
	}
	if !cs.kept.put(k, cs.now()) && k.From == fromCloud { // what the building wants is obeyed, and not remembered
		return problem.New(problem.Busy, "", "too many commands wait for the disk of the gateway: see roomgate doctor")
	}
	return nil
}

// mayTrust refuses what the cloud wants while the disk takes nothing, unless it is sure that it was not carried out
// before: by what is in memory, which begins with this process.
func (cs *Commands) mayTrust(c Command) error {
	now := time.Now()
	switch {
	case c.Via != ViaMQTT:
		return nil
	case c.Count == nil && Unlocks(c.DeviceType, c.Action):
		return problem.New(problem.NotNow, "", "the gateway's storage cannot be written, so it takes a command that unlocks only with the signature of a key that it holds: sign it, or open the door in the building, and see roomgate doctor")
	case cs.o.Clock.Trust() != clock.Trusted:
		return problem.New(problem.NotNow, "", "the gateway's storage cannot be written and its clock is not trusted, so it cannot tell whether the command was carried out before: set the clock")
	case c.SentAt.IsZero():
		return problem.New(problem.NotNow, "time", "is missing: while the gateway's storage cannot be written it takes only commands that say when they were sent")
	case c.SentAt.Before(cs.start(now).Add(skew)):
		return problem.New(problem.NotNow, "time", "is before the start of the gateway, or less than %v after it, and the storage cannot be written: the command may have been carried out, send it again with a new id", skew)
	case c.SentAt.After(now.Add(skew)):
		return problem.New(problem.NotNow, "time", "is more than %v ahead of the gateway's clock: while its storage cannot be written it has to know what was sent before its start, set the clock of the sender", skew)
	}
	return nil
}

// reserve keeps a command on the disk where there is no room for it.
func (cs *Commands) reserve(k *keptCommand) error {
	raw, err := json.Marshal(k)
	if err == nil {
		err = cs.o.DB.Reserve().Put(raw)
	}
	k.durable = err == nil
	return err
}

// mark says on a receipt that it may be lost.
func (k *keptCommand) mark(r Receipt) Receipt {
	if no := false; !k.durable {
		r.Durable = &no
	}
	return r
}

// put keeps a command. What cannot come again makes room for it: that of the building, and what is too old.
func (l *kept) put(k *keptCommand, now clock.Lived) bool {
	raw, _ := json.Marshal(k) // it was one
	k.bytes = len(raw)
	defer l.grown.Wake()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 0; l.bytes+k.bytes > maxKept && i < len(l.order); {
		if old := l.byID[l.order[i]]; old.From == fromCloud && now.Since(old.Lived) < commandMemory {
			i++
		} else {
			l.drop(i)
		}
	}
	old := l.byID[k.Command.ID]
	if old != nil { // this is its outcome
		l.byID[k.Command.ID], l.bytes = k, l.bytes+k.bytes-old.bytes
		return true
	}
	if l.bytes+k.bytes > maxKept {
		return false
	}
	l.byID[k.Command.ID], l.bytes = k, l.bytes+k.bytes
	l.order = append(l.order, k.Command.ID)
	return true
}

// drop forgets one. The caller has the lock.
func (l *kept) drop(i int) {
	id := l.order[i]
	l.bytes -= l.byID[id].bytes
	delete(l.byID, id)
	l.order = append(l.order[:i], l.order[i+1:]...)
}

// find returns what is kept of a command.
func (l *kept) find(id string) (s Stored, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.byID[id]; k != nil {
		return k.Stored, true
	}
	return s, false
}

// stored forgets a command that the disk has by now. It says whether it was the last.
func (l *kept) stored(id string) (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, at := range l.order {
		if at == id {
			l.drop(i)
			break
		}
	}
	return len(l.order) == 0
}

// storeKept writes a command of which the disk has nothing yet.
func (cs *Commands) storeKept(tx *store.Tx, k *keptCommand, r Receipt) error {
	r.Durable = nil // from now on
	if k.Count != nil {
		if err := cs.o.Counters().Settle(tx, *k.Count); err != nil {
			return err
		}
	}
	s, err := find(tx, k.Command.ID)
	switch {
	case err == nil && s.Receipt.State.Final():
		return nil
	case err == nil:
		return cs.storeFinal(tx, k.Command, r)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	first := Receipt{CommandID: r.CommandID, State: Accepted, ReceivedAt: r.ReceivedAt}
	if err := cs.PushReceipt(tx, k.Command, first); err != nil {
		return err
	}
	if err := cs.remember(tx, k.From, k.Command, r); err != nil && AsError(err).Code != problem.Busy {
		return err
	}
	if err := cs.told(tx, k.Command, true); err != nil {
		return err
	}
	return cs.PushReceipt(tx, k.Command, r)
}

// settled follows the writing of a kept command.
func (cs *Commands) settled(id string) {
	cs.kept.reserving.Lock()
	defer cs.kept.reserving.Unlock()
	if !cs.kept.stored(id) {
		return
	}
	err := cs.o.DB.Reserve().Clear()
	if record := cs.doubtRecord(); err == nil && record != nil {
		err = cs.o.DB.Reserve().Put(record)
	}
	if err != nil {
		cs.o.Log.Error("the reserve for doors cannot be cleared", "error", err)
	}
}

// recallReserve takes over what the process before this one has left in the reserve. Where an outcome is missing it
// is not known whether the command took effect.
func (cs *Commands) recallReserve() {
	latest, order := map[string]*keptCommand{}, []string{}
	for _, raw := range cs.o.DB.Reserve().Kept() {
		cs.unsure = true
		if d, ok := doubtOf(raw); ok {
			cs.doubt = d
			continue
		}
		k := &keptCommand{durable: true}
		if err := json.Unmarshal(raw, k); err != nil {
			cs.o.Log.Error("a record in the reserve for doors cannot be read", "error", err)
			continue
		}
		if latest[k.Command.ID] == nil {
			order = append(order, k.Command.ID)
		}
		latest[k.Command.ID] = k
	}
	for _, id := range order {
		k := latest[id]
		k.Command.Count = k.Count
		if k.Receipt.Durable = nil; !k.Receipt.State.Final() {
			k.Receipt = interrupted(k.Receipt)
		}
		cs.kept.put(k, cs.now())
		_ = cs.hold(k.Count, func() error { return nil }) // it is used, or too old to be used again
		c := eventlog.Change{Also: func(tx *store.Tx) error { return cs.storeKept(tx, k, k.Receipt) }, Done: func() { cs.settled(id) }}
		if d, err := cs.o.Find(k.Command.Space, k.Command.DeviceType); err == nil {
			c.Rows = append(c.Rows, d.completed(k.Command, k.Receipt))
		}
		cs.o.Events.Add(c)
	}
}

// keepFinal keeps the outcome of a command that the disk does not take, and returns the receipt to show.
func (cs *Commands) keepFinal(p *Pending, r Receipt) Receipt {
	final := &keptCommand{Stored: Stored{p.command, r, cs.now()}, From: p.from, Count: p.command.Count}
	cs.keepOutcome(final)
	if p.written.Load() { // meanwhile
		cs.settled(p.command.ID)
	}
	r = final.mark(r)
	cs.tellUnstored(final, r)
	return r
}

// keepOutcome keeps the outcome of a command that has its effect.
func (cs *Commands) keepOutcome(final *keptCommand) {
	cs.kept.reserving.Lock()
	defer cs.kept.reserving.Unlock()
	if final.Command.DeviceType == drivers.TypeLock {
		if err := cs.reserve(final); err != nil {
			cs.o.Log.Error("the outcome of a command is in memory only", "command", final.Command.ID, "error", err)
		}
	}
	cs.kept.put(final, cs.now())
}

// tellUnstored hands the receipt of a command of the cloud over that the log does not have.
func (cs *Commands) tellUnstored(k *keptCommand, r Receipt) {
	if k.Command.Via == ViaMQTT {
		cs.kept.tell(r)
	}
}

// tellRefused hands a receipt over that the log has just refused with err.
func (cs *Commands) tellRefused(c Command, r Receipt, err error) {
	if errors.Is(err, store.ErrFailed) && c.Via == ViaMQTT {
		cs.kept.tell((&keptCommand{}).mark(r))
	}
}

// mark says on the receipt of a command if it may be lost.
func (l *kept) mark(r Receipt) Receipt {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.byID[r.CommandID]; k != nil {
		return k.mark(r)
	}
	return r
}

func (l *kept) tell(r Receipt) { l.queue(&l.unsent, r) }

func (l *kept) tellRefused(r Receipt) { l.queue(&l.refused, r) }

func (l *kept) queue(in *[]Receipt, r Receipt) {
	l.mu.Lock()
	*in = append(*in, r)
	*in = (*in)[max(0, len(*in)-maxUnsent):]
	l.mu.Unlock()
	l.woken.Wake()
}

// SendUnstored gives send the receipts that the log cannot take, until ctx ends. Those that a restart forgets say so. What
// send says it has not sent it gets again.
func (cs *Commands) SendUnstored(ctx context.Context, send func(context.Context, Receipt) bool) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-cs.kept.woken:
		}
		for {
			r, ok := cs.kept.next()
			if !ok || ctx.Err() != nil {
				break
			}
			if !send(ctx, r) {
				cs.kept.back(r)
				loop.Sleep(ctx, time.Second)
			}
		}
	}
}

// next takes the oldest receipt. Those of what was refused come last: their number is in the hands of others.
func (l *kept) next() (r Receipt, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, in := range []*[]Receipt{&l.unsent, &l.refused} {
		if len(*in) > 0 {
			r, *in = (*in)[0], (*in)[1:]
			return r, true
		}
	}
	return r, false
}

// back puts it back.
func (l *kept) back(r Receipt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unsent) < maxUnsent {
		l.unsent = append([]Receipt{r}, l.unsent...)
	}
}
