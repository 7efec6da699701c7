package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"roomgate/agent/device/refusal"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Take carries out a command of the cloud, once, and answers it with receipts in
// the log. An error means that nothing was stored: it has to come again. Each
// refusal goes through Refuse, where the id is looked up first.
func (cs *Commands) Take(ctx context.Context, c Command) error {
	p, fresh, err := cs.accept(ctx, c)
	why := AsError(err)
	switch {
	case err == nil && p.unstored():
		return errUnstored // nor acknowledged
	case err == nil:
		return cs.answerAgain(ctx, p, fresh)
	case why.Code.Unstored():
		return err // not stored, so not acknowledged as it is
	}
	return cs.Refuse(ctx, c, why)
}

// errUnstored says that a command was taken, and that only memory knows.
var errUnstored = fmt.Errorf("the command is kept in memory only: %w", store.ErrFailed)

// unstored says that only memory knows of the command.
func (p *Pending) unstored() bool { return p.kept != nil && !p.kept.durable }

// answerAgain sends the receipt of a command that was finished before it came. A fresh one may be finished by now all the same.
func (cs *Commands) answerAgain(ctx context.Context, p *Pending, fresh bool) error {
	if fresh || !p.ended() {
		return nil // its receipts are on their way
	}
	err := cs.Repeat(ctx, Command{ID: p.command.ID, Via: ViaMQTT, Space: p.command.Space, DeviceType: p.command.DeviceType, SubDevice: p.command.SubDevice}, p.receipt)
	if errors.Is(err, store.ErrFull) {
		cs.kept.tellRefused(cs.kept.mark(p.receipt))
		return nil
	}
	cs.tellRefused(p.command, p.receipt, err)
	return err
}

// Refuse stores that a message of the cloud was refused, so that the same id
// gets the same answer, and tells the sender. An id that is known has its answer
// already, and only that is sent; one that is reserved is not used. A command without an action stands for a
// message that is no command. It also runs the writes of its caller. Of very
// many in a row only some are stored, see refusal.Burst: the others are answered as those are for which the disk has no room, with
// a receipt that may be lost. Nothing was done that had to be remembered.
func (cs *Commands) Refuse(ctx context.Context, c Command, why *problem.Error, also ...func(*store.Tx) error) error {
	c = refused(c)
	r := RefusedReceipt(c.ID, why)
	if !cs.refusals.Allow() {
		cs.o.Log.Warn("the cloud has sent too much that was refused, more of it is answered without being stored", "reason", refusal.Text(why.Error()))
		answerUnstored(cs, c, r, true)
		return nil
	}
	cs.o.Log.Info("a message from the cloud was refused", "id", c.ID, "state", r.State, "reason", r.Reason)
	err := cs.o.Events.Update(ctx, func(tx *store.Tx) error {
		for _, write := range also {
			if err := write(tx); err != nil {
				return err
			}
		}
		if reserved(c) {
			return cs.PushReceipt(tx, c, r)
		}
		known, err := cs.known(tx, c.ID)
		if err == nil {
			return cs.pushKnown(tx, c, known, r)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return errors.Join(err, cs.PushReceipt(tx, c, r))
		}
		if err := putOver(tx, &cs.refused, refusalRow(c, r, cs.now())); err != nil {
			return err
		}
		return cs.PushReceipt(tx, c, r)
	})
	if errors.Is(err, store.ErrFull) {
		answerUnstored(cs, c, r, false)
		return nil
	}
	cs.tellRefused(c, r, err)
	return err
}

// known is a command that the database has, or memory and the reserve.
func (cs *Commands) known(tx *store.Tx, id string) (Stored, error) {
	if s, ok := cs.kept.find(id); ok {
		return s, nil
	}
	return cs.find(tx, id)
}

// RefusedReceipt is the receipt of what was never accepted.
func RefusedReceipt(id string, why *problem.Error) Receipt {
	now := time.Now().UTC()
	r := Receipt{CommandID: id, ReceivedAt: now, FinishedAt: now}
	r.State, r.Code, r.Reason = Outcome(why)
	r.Reason = refusal.Reason(r.Reason)
	if r.State == Failed {
		r.State = Rejected
	}
	return r
}

// pushKnown answers a message that was refused and has the id of an earlier one. If
// that is still under way its receipts will come.
func (cs *Commands) pushKnown(tx *store.Tx, c Command, known Stored, r Receipt) error {
	if !known.Receipt.State.Final() {
		return nil
	}
	return cs.PushReceipt(tx, c, known.answer(r))
}

// answer is what a message hears that has the id of this one, and r else. A command
// has one outcome. A message that is no command, as a schedule, is judged each time.
func (s Stored) answer(r Receipt) Receipt {
	if s.Command.Action == "" && s.Receipt.State == Rejected {
		return r
	}
	return s.Receipt
}

// storeFinal stores the outcome of a command that was accepted.
func (cs *Commands) storeFinal(tx *store.Tx, c Command, r Receipt) error {
	is := Stored{c, r, cs.now()}
	was, err := underWay.Get(tx, c.ID)
	switch {
	case err == nil:
		err = putOver(tx, &cs.refused, recent{Stored: is, From: was.From})
	case errors.Is(err, store.ErrDamaged):
		err = putOver(tx, &cs.refused, recent{Stored: is, From: fromCloud}) // whose ids are kept longest
	case errors.Is(err, store.ErrNotFound): // an earlier version accepted it, and it has its age
		err = commands.Put(tx, c.ID, is)
	}
	if err = errors.Join(err, forgetOpen(tx, c.ID)); err == nil {
		err = cs.told(tx, c, true)
	}
	if err != nil {
		return err
	}
	return cs.PushReceipt(tx, c, r)
}

// forgetOpen notes that a command is not under way any more.
func forgetOpen(tx *store.Tx, id string) error {
	return errors.Join(underWay.Delete(tx, id), openCommands.Delete(tx, id))
}

// PushReceipt puts a receipt into the log if the command came from the cloud.
func (cs *Commands) PushReceipt(tx *store.Tx, c Command, r Receipt) error {
	if c.Via != ViaMQTT {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return cs.o.Events.Push(tx, cs.o.Events.Row(eventlog.LevelReceipt, time.Now(), c.Space, c.DeviceType, c.SubDevice, data))
}

// CloseInterrupted ends the commands that were under way when the process
// ended. Nobody knows whether they took effect, so they are not carried out
// again; the next poll tells the state of the device. Those that are
// over go where an earlier version looks for their ids, as one may follow after
// the power was cut again.
func (cs *Commands) CloseInterrupted(ctx context.Context) error {
	cs.recallReserve()
	return cs.o.DB.Update(ctx, func(tx *store.Tx) error {
		if err := moveOpen(tx); err != nil {
			return err
		}
		var ids []string
		for id := range openCommands.All(tx) {
			ids = append(ids, id)
		}
		for id := range underWay.All(tx) {
			ids = append(ids, id)
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { _, ok := cs.kept.find(id); return ok }) // the reserve has the outcome
		for _, id := range ids {
			if err := cs.closeInterrupted(tx, id); err != nil {
				return err
			}
		}
		return errors.Join(settleOver(tx), cs.refused.Recall(tx))
	})
}

// interrupted is the outcome of a command whose process ended.
func interrupted(r Receipt) Receipt {
	r.State, r.Code, r.FinishedAt = Failed, problem.Internal, time.Now().UTC()
	r.Reason = "the gateway stopped while the command was under way, it is not known whether it took effect"
	return r
}

func (cs *Commands) closeInterrupted(tx *store.Tx, id string) error {
	s, err := find(tx, id)
	if old, lost := commands.Get(tx, id); lost == nil && old.Receipt.State.Final() {
		s, err = old, nil // the mark comes from an earlier state, by a repair
	}
	if err == nil && s.Receipt.State.Final() || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return forgetOpen(tx, id) // a repair may have left the mark alone
	}
	if err != nil {
		return err
	}
	r := interrupted(s.Receipt)
	if err := cs.storeFinal(tx, s.Command, r); err != nil {
		return err
	}
	d, err := cs.o.Find(s.Command.Space, s.Command.DeviceType)
	if err != nil {
		return nil // it is not part of the building any more
	}
	return cs.o.Events.Push(tx, d.completed(s.Command, r))
}
