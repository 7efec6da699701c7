package device

import (
	"time"

	"golang.org/x/time/rate"

	"roomgate/agent/clock"
	"roomgate/agent/printable"
	"roomgate/agent/refusal"
	"roomgate/store"
)

const (
	// refusalBurst is how many refusals of the cloud's messages are stored at once, and refusalEvery how often one more is
	// after that. Whoever may send could else wear the card out with messages that cannot be carried out. Each is one
	// transaction, of 17 kB: two pages that each transaction writes, those of the log for its receipt, and the one by
	// which its id is refused again. So it is 50 MB a day at most.
	refusalBurst = 200
	refusalEvery = 30 * time.Second
	// refusedText bounds each text that is stored of a refused message, in bytes.
	refusedText = 80
)

func newRefusals() *rate.Limiter { return rate.NewLimiter(rate.Every(refusalEvery), refusalBurst) }

// refused is what is kept of a command that was refused. What it wanted is of no use any more, and may be as large as a message.
func refused(c Command) Command {
	c.Value = nil
	for _, text := range []*string{&c.Space, &c.DeviceType, &c.SubDevice, &c.Action, &c.By} {
		*text = printable.Cut(*text, refusedText, "")
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

// find returns a command that the database remembers.
func (cs *Commands) find(tx *store.Tx, id string) (Stored, error) {
	if row, ok, err := cs.refused.Find(tx, id); ok {
		return recent{Refused: &row}.whole().Stored, err
	}
	return find(tx, id)
}
