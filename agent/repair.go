package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/device"
	"roomgate/agent/rule/engine"
	"roomgate/agent/unlock"
	"roomgate/store"
)

// A repaired database may lack rows, or have older ones. What the building does about it follows from what each table is
// for: no command is carried out twice, no rule acts on what is long over, and the cloud is asked to say again what is
// its to say. People are told until one of them has looked.

// Keeper is what others may know of the database, and do about it.
type Keeper struct{ db *store.DB }

// Store returns the keeper of the building's database.
func (a *Agent) Store() Keeper { return Keeper{a.db} }

// provedFor is how long a building goes on after its database has turned out to be damaged. The loops end at once; one
// that hangs in a damaged page is ended by the watchdog.
const provedFor = 20 * time.Second

// Sound is nil unless the database may be damaged.
func (k Keeper) Sound() error {
	s := k.db.Suspect()
	switch {
	case s.Cause == nil:
		return nil
	case s.Proved:
		return fmt.Errorf("the database is damaged, the gateway starts again and repairs it: %w", s.Cause)
	}
	return fmt.Errorf("the database may be damaged and is checked: %w", s.Cause)
}

// hangs is an error once the process should have ended and did not.
func (k Keeper) hangs(now time.Time) error {
	if s := k.db.Suspect(); s.Proved && now.Sub(s.Since) > provedFor {
		return errors.New("the database is damaged, and the gateway did not end")
	}
	return nil
}

// Repair is what the last repair has found, nil if there was none or somebody has looked at it.
func (k Keeper) Repair() *store.Repair {
	var r store.Repair
	err := k.db.View(func(tx *store.Tx) (err error) { r, err = store.LastRepair(tx); return err })
	if err != nil || !r.Seen.IsZero() {
		return nil
	}
	return &r
}

// Confirm notes that somebody has looked at what the last repair has found.
func (k Keeper) Confirm(ctx context.Context) error {
	err := k.db.Update(ctx, func(tx *store.Tx) error {
		r, err := store.LastRepair(tx)
		if err != nil || !r.Seen.IsZero() {
			return err
		}
		r.Seen = time.Now().UTC()
		return store.PutRepair(tx, r)
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// HealthRepair is what a heartbeat says of a repair that nobody has looked at.
type HealthRepair struct {
	At       time.Time `json:"at"` // by a clock that may have been wrong
	SetAside string    `json:"set_aside,omitempty"`
	Rows     int       `json:"rows"`     // that are as they were
	Older    int       `json:"older"`    // that come from an earlier state
	Lost     int       `json:"lost"`     // that cannot be read
	Unknown  int       `json:"unknown"`  // stretches in which nobody knows whether there were rows
	Headless bool      `json:"headless"` // the last changes may be missing anywhere
	Tables   []string  `json:"tables"`   // in which rows may be missing or out of date, as "bookings"
}

func healthRepair(r *store.Repair) *HealthRepair {
	if r == nil {
		return nil
	}
	sum := r.Sum()
	return &HealthRepair{r.At, r.SetAside, sum.Kept + sum.Found, sum.Earlier + sum.Snapshot, sum.Lost, sum.Holes, r.Headless || r.Unlisted, doubtfulTables(r)}
}

// doubtfulTables names the tables and queues that are not whole, without the kind
// before their names.
func doubtfulTables(r *store.Repair) []string {
	names := []string{}
	for _, t := range r.Tables {
		if _, name, _ := strings.Cut(t.Name, ":"); !t.Whole() {
			names = append(names, name)
		}
	}
	return names
}

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
		return errors.Join(a.tellRepair(tx, r), a.Bookings.Mend(tx, r), store.PutRepair(tx, r))
	})
}

// mendConfig lets the configuration of the cloud, which its broker keeps, be applied once more as it is.
func mendConfig(tx *store.Tx, r store.Repair) error {
	doubtful := false
	for _, name := range []string{cloudConfigs.Bucket(), access.KeyBucket(), unlock.CodeBucket(), engine.RuleBucket(), additions.Bucket(), device.SettingsBucket(), access.UserBucket()} {
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
func (a *Agent) tellRepair(tx *store.Tx, r store.Repair) error {
	tables := map[string]any{}
	for _, t := range r.Tables {
		if !t.Whole() {
			tables[t.Name] = t
		}
	}
	h := healthRepair(&r)
	return a.tellGateway(tx, "storeRepaired", map[string]any{"cause": r.Cause, "set_aside": r.SetAside, "snapshot": r.Snapshot,
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
