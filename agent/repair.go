package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/device"
	"roomgate/agent/health"
	"roomgate/agent/rule/engine"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/store"
)

// A repaired database may lack rows, or have older ones. What the building does about it follows from what each table is
// for: no command is carried out twice, no rule acts on what is long over, and the cloud is asked to say again what is
// its to say. People are told until one of them has looked.

// mendRepaired does what a repair leaves to do before anything is loaded, as it changes rows.
func mendRepaired(ctx context.Context, a *Agent) error {
	return a.db.Update(ctx, func(tx *store.Tx) error {
		r, err := store.LastRepair(tx)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			a.Commands.Repaired(r)
		}
		if err != nil || r.Told {
			return err
		}
		return errors.Join(device.Mend(tx, r), engine.Mend(tx, r), mendConfig(tx, r))
	})
}

// tellRepaired tells of a repair once, and does what it leaves to do while the building is loaded.
func tellRepaired(ctx context.Context, a *Agent) error {
	return a.db.Update(ctx, func(tx *store.Tx) error {
		r, err := store.LastRepair(tx)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil || r.Told {
			return err
		}
		r.Told = true
		return errors.Join(tellRepair(tx, a.Health, r), a.Bookings.Mend(tx, r), store.PutRepair(tx, r))
	})
}

// mendConfig lets the configuration of the cloud, which its broker keeps, be applied once more as it is.
func mendConfig(tx *store.Tx, r store.Repair) error {
	doubtful := false
	for _, name := range []string{cloudConfigs.Bucket(), access.KeyBucket(), unlock.CodeBucket(), engine.RuleBucket(), site.OverrideBucket(), device.SettingsBucket(), access.UserBucket()} {
		doubtful = doubtful || r.Doubtful(name)
	}
	c, err := cloudConfigs.Get(tx, currentConfig)
	if !doubtful || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c.Again = true
	return cloudConfigs.Put(tx, currentConfig, c)
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
	return m.Tell(tx, "storeRepaired", map[string]any{"cause": r.Cause, "set_aside": r.SetAside, "snapshot": r.Snapshot,
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
