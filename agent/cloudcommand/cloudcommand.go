// Package cloudcommand takes the commands of the cloud: it reads them strictly,
// judges their signatures, hands them to the devices, and answers in any case.
package cloudcommand

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"roomgate/agent/cloudkey"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
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

// read is the command of a message. The error is a *problem.Error that names
// the field.
func read(e cloud.Envelope) (c device.Command, err error) {
	var d downCommand
	if err := e.DataInto(&d); err != nil {
		return c, AsError(err)
	}
	c = device.Command{ID: e.ID, Space: d.Space, DeviceType: d.DeviceType, SubDevice: d.SubDevice, Action: d.Action,
		Value: d.Value, SentAt: e.Time, Via: device.ViaMQTT, By: e.Source}
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
		return time.Time{}, problem.New(problem.Invalid, "expires_at", "is not a time like 2026-11-21T09:30:00Z")
	}
	if at.IsZero() || !eventlog.Storable(at) {
		return time.Time{}, problem.New(problem.Invalid, "expires_at", "is out of range: want a year from 1970 to 9999")
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
		return 0, problem.New(problem.Invalid, "ttl_s", "is not a number of seconds: want 0.001 to %d", int(device.LongestLife.Seconds()))
	}
	if *seconds < time.Millisecond.Seconds() || *seconds > device.LongestLife.Seconds() {
		return 0, problem.New(problem.Invalid, "ttl_s", "is out of range: want 0.001 to %d seconds", int(device.LongestLife.Seconds()))
	}
	return time.Duration(*seconds * float64(time.Second)), nil
}

// Take carries out a command of the cloud, once, and answers it. An error means
// that nothing was stored: it has to come again.
func Take(ctx context.Context, commands *device.Commands, signers *cloudkey.Signers, budget *Budget, e cloud.Envelope) error {
	c, err := read(e)
	if err != nil {
		return RefuseUnread(ctx, commands, e, AsError(err))
	}
	if e.Retained {
		return commands.Refuse(ctx, c, problem.New(problem.Invalid, "", "a retained command is never carried out: publish it without retain"))
	}
	if c.Count, err = signers.Judge(e, c); err != nil {
		return commands.Refuse(ctx, c, AsError(err))
	}
	if refusal := budget.Take(e); refusal != nil {
		return commands.Refuse(ctx, c, refusal)
	}
	return commands.Take(ctx, c)
}

// unread is the action of a command that could not be read.
const unread = "unread"

// RefuseUnread answers a command that could not be read. Its id is used: the same
// one has no other outcome, whatever comes with it later.
func RefuseUnread(ctx context.Context, commands *device.Commands, e cloud.Envelope, why *problem.Error) error {
	return commands.Refuse(ctx, device.Command{ID: e.ID, Action: unread, Via: device.ViaMQTT, SentAt: e.Time, By: e.Source}, why)
}

// RefuseMessage answers a message that is no command with a receipt, and so each part of it.
func RefuseMessage(ctx context.Context, commands *device.Commands, e cloud.Envelope, why *problem.Error, also ...func(*store.Tx) error) error {
	stored := len(e.Parts) == 0
	also = append(also, func(tx *store.Tx) error {
		stored = true
		return push(tx, commands, "", e.Parts, device.RefusedReceipt("", why))
	})
	err := commands.Refuse(ctx, device.Command{ID: e.ID, Via: device.ViaMQTT, SentAt: e.Time, By: e.Source}, why, also...)
	if err == nil && !stored {
		commands.AnswerUnstored(e.Parts, device.RefusedReceipt("", why))
	}
	return err
}

// Done is the receipt of a message that was carried out at once.
func Done(id string) device.Receipt {
	now := time.Now().UTC()
	return device.Receipt{CommandID: id, State: device.Done, ReceivedAt: now, FinishedAt: now}
}

// AsError sorts an error into the codes of a problem: of an envelope it names the
// attribute, of a device or the store it is device.AsError.
func AsError(err error) *problem.Error {
	var envelope *cloud.EnvelopeError
	if problem.As(err) == nil && errors.As(err, &envelope) {
		return &problem.Error{Code: problem.Invalid, Field: envelope.Field, Message: envelope.Problem}
	}
	return device.AsError(err)
}

// PushDone answers a message that was carried out at once, and so each part of it.
func PushDone(tx *store.Tx, commands *device.Commands, spaceID string, e cloud.Envelope) error {
	return push(tx, commands, spaceID, append([]string{e.ID}, e.Parts...), Done(""))
}

// Again answers a message that was carried out before, and so each part of it. On a full
// disk the first answer has to do.
func Again(ctx context.Context, commands *device.Commands, spaceID string, e cloud.Envelope) error {
	receipts := make([]device.Receipt, 0, 1+len(e.Parts))
	for _, id := range append([]string{e.ID}, e.Parts...) {
		receipts = append(receipts, Done(id))
	}
	err := commands.Repeat(ctx, device.Command{ID: e.ID, Via: device.ViaMQTT, Space: spaceID}, receipts...)
	if errors.Is(err, store.ErrFull) {
		return nil
	}
	return err
}

// push sends one receipt for several messages.
func push(tx *store.Tx, commands *device.Commands, spaceID string, ids []string, r device.Receipt) error {
	for _, r.CommandID = range ids {
		if err := commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT, Space: spaceID}, r); err != nil {
			return err
		}
	}
	return nil
}
