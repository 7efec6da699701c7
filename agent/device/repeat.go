package device

import (
	"context"

	"roomgate/agent/device/refusal"
	"roomgate/store"
)

// Repeat answers once more what was answered before, as messages come twice after a connection was lost. Each costs
// pages of the card, so of very many in a row only some are in the log: of the others the cloud hears past it.
func (cs *Commands) Repeat(ctx context.Context, c Command, receipts ...Receipt) error {
	if !cs.repeats.Allow() {
		cs.o.Log.Warn("the cloud has sent too much that was answered before, it is answered without a row in the log", "id", refusal.Text(c.ID))
		for _, r := range receipts {
			cs.kept.tellRefused(cs.kept.mark(r))
		}
		return nil
	}
	return cs.o.Events.Update(ctx, func(tx *store.Tx) error {
		for _, r := range receipts {
			if err := cs.PushReceipt(tx, c, r); err != nil {
				return err
			}
		}
		return nil
	})
}
