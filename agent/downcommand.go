package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

// downCommand is the data of down/command. The times are read apart, so that
// one of the wrong kind is told by its name.
type downCommand struct {
	Space      string          `json:"meeting_space_id"`
	DeviceType string          `json:"device_type"`
	SubDevice  string          `json:"sub_device"`
	Action     string          `json:"action"`
	Value      json.RawMessage `json:"value"`
	ExpiresAt  json.RawMessage `json:"expires_at"`
	TTL        json.RawMessage `json:"ttl_s"`
}

// readCommand is the command of a message. The error is an *Error that names
// the field.
func readCommand(e cloud.Envelope) (c Command, err error) {
	var d downCommand
	if err := e.DataInto(&d); err != nil {
		return c, AsError(err)
	}
	c = Command{ID: e.ID, Space: d.Space, DeviceType: d.DeviceType, SubDevice: d.SubDevice, Action: d.Action,
		Value: d.Value, SentAt: e.Time, Via: ViaMQTT, By: e.Source}
	if c.ExpiresAt, err = readExpiry(d.ExpiresAt); err != nil {
		return c, err
	}
	c.TTL, err = readTTL(d.TTL)
	return c, err
}

// readExpiry reads a time that was said; nil: none. A null is one that the
// sender could not work out, as JavaScript writes it.
func readExpiry(raw json.RawMessage) (at time.Time, err error) {
	if raw == nil {
		return at, nil
	}
	if raw[0] != '"' || json.Unmarshal(raw, &at) != nil {
		return time.Time{}, refuse(Invalid, "expires_at", "is not a time like 2026-11-21T09:30:00Z")
	}
	if at.IsZero() || !eventlog.Storable(at) {
		return time.Time{}, refuse(Invalid, "expires_at", "is out of range: want a year from 1970 to 9999")
	}
	return at, nil
}

// readTTL reads a number of seconds that was said; nil: none.
func readTTL(raw json.RawMessage) (time.Duration, error) {
	if raw == nil {
		return 0, nil
	}
	var seconds *float64
	if err := json.Unmarshal(raw, &seconds); err != nil || seconds == nil {
		return 0, refuse(Invalid, "ttl_s", "is not a number of seconds: want 0.001 to %d", int(longestLife.Seconds()))
	}
	if *seconds < time.Millisecond.Seconds() || *seconds > longestLife.Seconds() {
		return 0, refuse(Invalid, "ttl_s", "is out of range: want 0.001 to %d seconds", int(longestLife.Seconds()))
	}
	return time.Duration(*seconds * float64(time.Second)), nil
}

// takeCommand carries out a command of the cloud, once. Each refusal goes through
// refuseCommand, where the id is looked up first.
func (a *Agent) takeCommand(ctx context.Context, e cloud.Envelope) error {
	c, err := readCommand(e)
	if err != nil {
		return a.refuseUnread(ctx, e, AsError(err))
	}
	if e.Retained {
		return a.refuseCommand(ctx, c, refuse(Invalid, "", "a retained command is never carried out: publish it without retain"))
	}
	o, _, err := a.accept(ctx, c)
	refusal := AsError(err)
	switch {
	case err == nil:
		return a.answerAgain(ctx, o)
	case refusal.Code == Full, refusal.Code == Internal:
		return err // not stored, so not acknowledged
	}
	return a.refuseCommand(ctx, c, refusal)
}

// answerAgain sends the receipt of a command that was finished before.
func (a *Agent) answerAgain(ctx context.Context, o *order) error {
	if !o.ended() {
		return nil // its receipts are on their way
	}
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		return a.pushReceipt(tx, Command{Via: ViaMQTT, Space: o.command.Space, DeviceType: o.command.DeviceType, SubDevice: o.command.SubDevice}, o.receipt)
	})
}

// unread is the action of a command that could not be read.
const unread = "unread"

// refuseUnread answers a command that could not be read. Its id is used: the same
// one has no other outcome, whatever comes with it later.
func (a *Agent) refuseUnread(ctx context.Context, e cloud.Envelope, why *Error) error {
	return a.refuseCommand(ctx, Command{ID: e.ID, Action: unread, Via: ViaMQTT, SentAt: e.Time, By: e.Source}, why)
}

// refuseMessage answers a message that is no command with a receipt.
func (a *Agent) refuseMessage(ctx context.Context, e cloud.Envelope, why *Error, also ...func(*store.Tx) error) error {
	return a.refuseCommand(ctx, Command{ID: e.ID, Via: ViaMQTT, SentAt: e.Time, By: e.Source}, why, also...)
}

// refuseCommand stores that a command was refused, so that the same id gets
// the same answer, and tells the sender. An id that is known has its answer
// already, and only that is sent. What else is to be stored with it is also.
func (a *Agent) refuseCommand(ctx context.Context, c Command, why *Error, also ...func(*store.Tx) error) error {
	r := refusedReceipt(c.ID, why)
	a.log.Info("a message from the cloud was refused", "id", c.ID, "state", r.State, "reason", r.Reason)
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		for _, write := range also {
			if err := write(tx); err != nil {
				return err
			}
		}
		known, err := commands.Get(tx, c.ID)
		if err == nil {
			return a.pushKnown(tx, c, known, r)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return errors.Join(err, a.pushReceipt(tx, c, r))
		}
		if err := a.commands.remember(tx, fromCloud, c, r); err != nil && AsError(err).Code != Busy {
			return err
		}
		return a.pushReceipt(tx, c, r)
	})
}

// refusedReceipt is the receipt of what was never accepted.
func refusedReceipt(id string, why *Error) Receipt {
	now := time.Now().UTC()
	r := Receipt{CommandID: id, ReceivedAt: now, FinishedAt: now}
	r.State, r.Code, r.Reason = outcome(why)
	if r.State == Failed {
		r.State = Rejected
	}
	return r
}

// pushKnown answers a message that was refused and has the id of an earlier one.
// A command has one outcome, and if it is still under way its receipts will
// come. A message that is no command, as a schedule, is judged each time.
func (a *Agent) pushKnown(tx *store.Tx, c Command, known storedCommand, r Receipt) error {
	switch {
	case !known.Receipt.State.Final():
		return nil
	case known.Command.Action == "" && known.Receipt.State == Rejected:
		return a.pushReceipt(tx, c, r)
	}
	return a.pushReceipt(tx, c, known.Receipt)
}
