package timekeeper

import (
	"errors"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/store"
)

// rows holds what the clock needs to know after a restart, in one row under key.
var rows = store.NewTable[clock.Memory]("clock")

const key = "clock"

// Buckets names the table of the clock.
func Buckets() []string { return []string{rows.Bucket()} }

// memory reads what is stored of the clock. Earlier versions stored nothing: then
// the time of the newest row in the log counts, if the clock was trusted when it was
// written.
func memory(db *store.DB) (kept clock.Memory, err error) {
	err = db.View(func(tx *store.Tx) error {
		kept, err = rows.Get(tx, key)
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		return kept, err
	}
	last, ok, err := eventlog.Newest(db)
	if ok && !last.Untrusted {
		kept.Wall = last.Milli
	}
	return kept, err
}
