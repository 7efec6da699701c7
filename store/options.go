package store

import (
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
	// Progress hears how far the check before opening is, in bytes; nil: nobody does. A slow disk takes as long as it takes.
	Progress Progress
	// Age says when a row was written, in a unit of its table that only rises; 0: it does not tell. It helps a repair
	// to choose between two versions of a row. It need not know queues, and gets the JSON. nil: no row tells.
	Age func(bucket string, row []byte) int64
	// Names are the buckets that the program may have made, as "table:bookings": a repair looks for their rows where
	// the file does not name them any more.
	Names []string
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
	// Reserve is how many bytes of the disk are taken beforehand for what must not wait for room, see DB.Reserve; 0: none.
	Reserve int64
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
	Created     bool    // no file was there, an empty one was made
	Quarantined string  // where the damaged file was put, empty if none
	Restored    string  // the snapshot whose rows fill what the damaged file lacks, empty if none
	Migrated    int     // the schema before migrating, 0 if nothing was migrated
	Compacted   int64   // bytes given back to the disk
	Repair      *Repair // what a repair has found, nil if there was none
	ReadOnly    bool    // the disk cannot be used: the rows that can be read are read, and nothing is written
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
