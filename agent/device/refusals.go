package device

import (
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/device/refusal"
	"roomgate/store"
)

// refused is what is kept of a command that was refused. What it wanted is of no use any more, and may be as large as a message.
func refused(c Command) Command {
	c.Value = nil
	for _, text := range []*string{&c.Space, &c.DeviceType, &c.SubDevice, &c.Action, &c.By} {
		*text = refusal.Text(*text)
	}
	return c
}

// refusalRow is what is stored of a message that was refused, whose id is new.
func refusalRow(c Command, r Receipt, now clock.Lived) recent {
	return recent{From: fromCloud, Refused: &refusal.Row{ID: c.ID, Space: c.Space, Type: c.DeviceType, Sub: c.SubDevice, Action: c.Action,
		State: string(r.State), Code: r.Code, Reason: r.Reason, Milli: r.ReceivedAt.UnixMilli(), Lived: now}}
}

// whole has a refusal in the form of all others.
func (r recent) whole() recent {
	if row := r.Refused; row != nil {
		at := time.UnixMilli(row.Milli).UTC()
		r.Command = Command{ID: row.ID, Space: row.Space, DeviceType: row.Type, SubDevice: row.Sub, Action: row.Action, Via: ViaMQTT}
		r.Receipt = Receipt{CommandID: row.ID, State: State(row.State), Code: row.Code, Reason: row.Reason, ReceivedAt: at, FinishedAt: at}
		r.Lived = row.Lived
	}
	return r
}

// find returns a command that the database remembers, or that was refused.
func (cs *Commands) find(tx *store.Tx, id string) (Stored, error) {
	if row, ok := cs.unstored.Find(id); ok {
		return recent{Refused: &row}.whole().Stored, nil
	}
	if row, ok, err := cs.refused.Find(tx, id); ok {
		return recent{Refused: &row}.whole().Stored, err
	}
	return find(tx, id)
}

// answerUnstored tells the cloud that a message was refused, and stores nothing, as the disk has no room or too many came. A
// message that was known before hears its outcome. One that a full disk refused may come again. In a flood its id is remembered, and
// where memory has no room for it nothing is told.
func answerUnstored(cs *Commands, c Command, r Receipt, flood bool) {
	if row, ok := cs.unstored.Find(c.ID); ok {
		cs.kept.tellRefused((&keptCommand{}).mark(recent{Refused: &row}.whole().answer(r)))
		return
	}
	var known Stored
	err := cs.o.DB.View(func(tx *store.Tx) (err error) { known, err = cs.known(tx, c.ID); return err })
	switch {
	case err == nil && !known.Receipt.State.Final():
		return
	case err == nil && known.answer(r) != r:
		cs.kept.tellRefused(cs.kept.mark(known.Receipt))
	case !flood || reserved(c) || cs.unstored.Add(*refusalRow(c, r, cs.now()).Refused, commandMemory):
		cs.kept.tellRefused((&keptCommand{}).mark(r))
	}
}

// AnswerUnstored tells the cloud that the parts of a message were refused, and stores nothing.
func (cs *Commands) AnswerUnstored(ids []string, r Receipt) {
	for _, r.CommandID = range ids {
		cs.kept.tellRefused((&keptCommand{}).mark(r))
	}
}
