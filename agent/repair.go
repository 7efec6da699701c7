package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"roomgate/agent/cloudconfig"
	"roomgate/agent/device"
	"roomgate/agent/health"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/store"
)

// A repaired database may lack rows, or have older ones. What the building does about it follows from what each table is
// for: no command is carried out twice, no rule acts on what is long over, and the cloud is asked to say again what is
// its to say. People are told until one of them has looked.

// mendRepaired does what a repair leaves to do before anything is loaded, as it changes rows.
func mendRepaired(ctx context.Context, db *store.DB, commands *device.Commands, log *slog.Logger) error {
	return updateUntold(ctx, db, commands, log, func(tx *store.Tx, r store.Repair) error {
		return errors.Join(device.Mend(tx, r), engine.Mend(tx, r), doubt.Mend(tx, r), cloudconfig.Mend(tx, r))
	})
}

// updateUntold changes what a repair leaves to change, unless that was done. It writes nothing where there is nothing to
// do, so that a disk that takes nothing is no hindrance; where there is, the next start does it.
func updateUntold(ctx context.Context, db *store.DB, commands *device.Commands, log *slog.Logger, change func(*store.Tx, store.Repair) error) error {
	var r store.Repair
	err := db.View(func(tx *store.Tx) (err error) { r, err = store.LastRepair(tx); return err })
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	commands.Repaired(r)
	if r.Told {
		return nil
	}
	err = db.Update(ctx, func(tx *store.Tx) error { return change(tx, r) })
	if store.Unstored(err) {
		log.Error("cannot finish the repair of the database, the next start tries again: see roomgate doctor", "error", err)
		return nil
	}
	return err
}

// tellRepaired tells of a repair once, and does what it leaves to do while the building is loaded.
func tellRepaired(ctx context.Context, db *store.DB, commands *device.Commands, log *slog.Logger, m *health.Monitor, bookings *schedule.Book) error {
	return updateUntold(ctx, db, commands, log, func(tx *store.Tx, r store.Repair) error {
		r.Told = true
		return errors.Join(tellRepair(tx, m, r), bookings.Mend(tx, r), store.PutRepair(tx, r))
	})
}

// tellRepair writes the event.
func tellRepair(tx *store.Tx, m *health.Monitor, r store.Repair) error {
	tables := map[string]any{}
	for _, t := range r.Tables {
		if !t.Whole() {
			tables[t.Name] = t
		}
	}
	h := health.RepairOf(&r)
	return m.Tell(tx, eventRepaired, map[string]any{"cause": r.Cause, "set_aside": r.SetAside, "snapshot": r.Snapshot,
		"rows": h.Rows, "older": h.Older, "lost": h.Lost, "unknown": h.Unknown, "headless": h.Headless, "tables": tables})
}

// rowAge is when a row says that it was written, 0 if it does not: a repair chooses the younger of two.
func rowAge(_ string, raw []byte) int64 {
	var number int64
	if json.Unmarshal(raw, &number) == nil {
		return number
	}
	var row struct {
		UpdatedAt  time.Time `json:"updated_at"`
		FinishedAt time.Time `json:"finished_at"`
		Receipt    struct {
			ReceivedAt time.Time `json:"received_at"`
			FinishedAt time.Time `json:"finished_at"`
		} `json:"receipt"`
	}
	if json.Unmarshal(raw, &row) != nil {
		return 0
	}
	age := int64(0)
	for _, t := range []time.Time{row.UpdatedAt, row.FinishedAt, row.Receipt.ReceivedAt, row.Receipt.FinishedAt} {
		if !t.IsZero() {
			age = max(age, t.UnixNano())
		}
	}
	return age
}
