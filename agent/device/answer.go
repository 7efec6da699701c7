package device

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Take carries out a command of the cloud, once, and answers it with receipts in
// the log. An error means that nothing was stored: it has to come again. Each
// refusal goes through Refuse, where the id is looked up first. What else is to
// be stored with a new id is also; its refusal refuses the command.
func (b *Commands) Take(ctx context.Context, c Command, also ...func(*store.Tx) error) error {
	p, _, err := b.accept(ctx, c, also...)
	refusal := AsError(err)
	switch {
	case err == nil:
		return b.answerAgain(ctx, p)
	case refusal.Code == problem.Full, refusal.Code == problem.Internal:
		return err // not stored, so not acknowledged
	}
	return b.Refuse(ctx, c, refusal)
}

// answerAgain sends the receipt of a command that was finished before.
func (b *Commands) answerAgain(ctx context.Context, p *Pending) error {
	if !p.ended() {
		return nil // its receipts are on their way
	}
	return b.o.Events.Update(ctx, func(tx *store.Tx) error {
		return b.PushReceipt(tx, Command{Via: ViaMQTT, Space: p.command.Space, DeviceType: p.command.DeviceType, SubDevice: p.command.SubDevice}, p.receipt)
	})
}

// Refuse stores that a message of the cloud was refused, so that the same id
// gets the same answer, and tells the sender. An id that is known has its answer
// already, and only that is sent. A command without an action stands for a
// message that is no command. What else is to be stored with it is also. Of very
// many in a row only some are stored and answered, see refusalBurst.
func (b *Commands) Refuse(ctx context.Context, c Command, why *problem.Error, also ...func(*store.Tx) error) error {
	if !b.refusals.Allow() {
		b.o.Log.Warn("the cloud has sent too much that was refused, more of it is acknowledged without a receipt", "reason", clipped(why.Error(), refusedText))
		return nil
	}
	c = refused(c)
	r := refusedReceipt(c.ID, why)
	b.o.Log.Info("a message from the cloud was refused", "id", c.ID, "state", r.State, "reason", r.Reason)
	return b.o.Events.Update(ctx, func(tx *store.Tx) error {
		for _, write := range also {
			if err := write(tx); err != nil {
				return err
			}
		}
		known, err := commands.Get(tx, c.ID)
		if err == nil {
			return b.pushKnown(tx, c, known, r)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return errors.Join(err, b.PushReceipt(tx, c, r))
		}
		if err := b.remember(tx, fromCloud, c, r); err != nil && AsError(err).Code != problem.Busy {
			return err
		}
		return b.PushReceipt(tx, c, r)
	})
}

// refusedReceipt is the receipt of what was never accepted.
func refusedReceipt(id string, why *problem.Error) Receipt {
	now := time.Now().UTC()
	r := Receipt{CommandID: id, ReceivedAt: now, FinishedAt: now}
	r.State, r.Code, r.Reason = Outcome(why)
	r.Reason = clipped(r.Reason, 5*refusedText)
	if r.State == Failed {
		r.State = Rejected
	}
	return r
}

// pushKnown answers a message that was refused and has the id of an earlier one.
// A command has one outcome, and if it is still under way its receipts will
// come. A message that is no command, as a schedule, is judged each time.
func (b *Commands) pushKnown(tx *store.Tx, c Command, known Stored, r Receipt) error {
	switch {
	case !known.Receipt.State.Final():
		return nil
	case known.Command.Action == "" && known.Receipt.State == Rejected:
		return b.PushReceipt(tx, c, r)
	}
	return b.PushReceipt(tx, c, known.Receipt)
}

// storeFinal stores the outcome of a command that was accepted.
func (b *Commands) storeFinal(tx *store.Tx, c Command, r Receipt) error {
	if err := b.write(tx, c, r); err != nil {
		return err
	}
	if err := openCommands.Delete(tx, c.ID); err != nil {
		return err
	}
	return b.PushReceipt(tx, c, r)
}

// PushReceipt puts a receipt into the log if the command came from the cloud.
func (b *Commands) PushReceipt(tx *store.Tx, c Command, r Receipt) error {
	if c.Via != ViaMQTT {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return b.o.Events.Push(tx, b.o.Events.Row(eventlog.LevelReceipt, time.Now(), c.Space, c.DeviceType, c.SubDevice, data))
}

// CloseInterrupted ends the commands that were under way when the process
// ended. Whether they took effect is unknown, so they are not carried out
// again; the next poll tells the state of the device.
func (b *Commands) CloseInterrupted(ctx context.Context) error {
	return b.o.DB.Update(ctx, func(tx *store.Tx) error {
		var ids []string
		for id := range openCommands.All(tx) {
			ids = append(ids, id)
		}
		for _, id := range ids {
			if err := b.closeInterrupted(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Commands) closeInterrupted(tx *store.Tx, id string) error {
	s, err := commands.Get(tx, id)
	if err != nil {
		return err
	}
	r := s.Receipt
	r.State, r.Code, r.FinishedAt = Failed, problem.Internal, time.Now().UTC()
	r.Reason = "the gateway stopped while the command was under way, it is not known whether it took effect"
	if err := b.storeFinal(tx, s.Command, r); err != nil {
		return err
	}
	d, err := b.o.Find(s.Command.Space, s.Command.DeviceType)
	if err != nil {
		return nil // it is not part of the building any more
	}
	return b.o.Events.Push(tx, d.completed(s.Command, r))
}
