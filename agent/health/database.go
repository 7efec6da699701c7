package health

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"roomgate/store"
	disks "roomgate/store/disk"
)

// Database is what others may know of the building's database, and do about it.
type Database struct{ db *store.DB }

// provedFor is how long a building goes on after its database has turned out to be damaged. The loops end at once; one
// that hangs in a damaged page is ended by the watchdog.
const provedFor = 20 * time.Second

// Sound is nil unless the database may be damaged. A disk that says of itself that it fails is no reason: the building goes on
// with what can be read, see Degraded.
func (d Database) Sound() error {
	s := d.db.Suspect()
	switch {
	case s.Cause == nil:
		return nil
	case s.Proved:
		return fmt.Errorf("the database is damaged, the gateway starts again and repairs it: %w", s.Cause)
	case disks.Blamed(s.Cause):
		return nil
	}
	return fmt.Errorf("the database may be damaged and is checked: %w", s.Cause)
}

// hangs is an error once the process should have ended and did not.
func (d Database) hangs(now time.Time) error {
	if s := d.db.Suspect(); s.Proved && now.Sub(s.Since) > provedFor {
		return errors.New("the database is damaged, and the gateway did not end")
	}
	return nil
}

// Repair is what the last repair has found, nil if there was none or somebody has looked at it.
func (d Database) Repair() *store.Repair {
	var r store.Repair
	err := d.db.View(func(tx *store.Tx) (err error) { r, err = store.LastRepair(tx); return err })
	if err != nil || !r.Seen.IsZero() {
		return nil
	}
	return &r
}

// Confirm notes that somebody has looked at what the last repair has found.
func (d Database) Confirm(ctx context.Context) error {
	err := d.db.Update(ctx, func(tx *store.Tx) error {
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

// Repair is what a heartbeat says of a repair that nobody has looked at.
type Repair struct {
	At       time.Time `json:"at"` // by a clock that may have been wrong
	SetAside string    `json:"set_aside,omitempty"`
	Rows     int       `json:"rows"`              // that are as they were
	Older    int       `json:"older"`             // that come from an earlier state
	Lost     int       `json:"lost"`              // that cannot be read
	Unknown  int       `json:"unknown"`           // stretches in which nobody knows whether there were rows
	Headless bool      `json:"headless"`          // the last changes may be missing anywhere
	Tables   []string  `json:"tables"`            // in which rows may be missing or out of date, as "bookings"
	Pending  bool      `json:"pending,omitempty"` // the file is as it was: what can be read of it is in memory
}

// RepairOf is what a heartbeat says of a repair; nil of none.
func RepairOf(r *store.Repair) *Repair {
	if r == nil {
		return nil
	}
	sum := r.Sum()
	return &Repair{r.At, r.SetAside, sum.Kept + sum.Found, sum.Earlier + sum.Snapshot, sum.Lost, sum.Holes, r.Headless || r.Unlisted, doubtfulTables(r), r.Pending}
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
