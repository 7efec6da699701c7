package store

import (
	"context"
	"log/slog"
	"math"
	"time"
)

// Defaults of Options.
const (
	DefaultMaxSize       = 256 << 20 // bytes
	DefaultSnapshots     = 3
	DefaultSnapshotEvery = time.Hour
)

// Options say how Open checks, bounds and migrates a database. The zero value is usable.
type Options struct {
	// Check judges the file before it is opened; nil runs Verify in this process. An error that wraps ErrDamaged
	// quarantines the file; any other error means that the check could not be done, and Verify decides.
	Check func(ctx context.Context, path string) error
	// Schema is the version of the rows this program writes, from 1, default 1. A newer file is refused.
	Schema int
	// Migrations lead from older schemas to Schema, in any order.
	Migrations []Migration
	// MaxSize bounds the file in bytes, default DefaultMaxSize, at least 4 MiB, at most 1 GiB on 32 bits. The last sixteenth is kept for
	// transactions that free more than they add.
	MaxSize int64
	// Snapshots is how many are kept, default DefaultSnapshots.
	Snapshots int
	// SnapshotEvery is the time between the snapshots of Run, default DefaultSnapshotEvery.
	SnapshotEvery time.Duration
	// Log receives a line when something was repaired or failed; nil discards it.
	Log *slog.Logger
}

// Migration moves the rows of all older schemas to schema To. Up runs in one transaction together with the change
// of the stored version.
type Migration struct {
	To int
	Up func(*Tx) error
}

// Report says what Open had to do.
type Report struct {
	Created     bool   // no file was there, an empty one was made
	Quarantined string // where the damaged file was put, empty if none
	Restored    string // the snapshot that was restored, empty if none
	Migrated    int    // the schema before migrating, 0 if nothing was migrated
	Compacted   int64  // bytes given back to the disk
}

const minMaxSize = 4 << 20

func (o Options) withDefaults() Options {
	if o.MaxSize <= 0 {
		o.MaxSize = DefaultMaxSize
	}
	o.MaxSize = min(max(o.MaxSize, minMaxSize), math.MaxInt/2)
	o.Schema = max(o.Schema, 1)
	if o.Snapshots <= 0 {
		o.Snapshots = DefaultSnapshots
	}
	if o.SnapshotEvery <= 0 {
		o.SnapshotEvery = DefaultSnapshotEvery
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
