package store

import (
	"os"
	"time"

	"roomgate/store/disk"
	"roomgate/store/pages"
)

// Stats describe the database since Open.
type Stats struct {
	SizeBytes    int64 // the file
	FreeBytes    int64 // of it, pages that can be used again
	Commits      int64 // transactions written to disk, two syncs each
	Updates      int64 // Update calls that succeeded
	BytesWritten int64 // handed to the disk by commits, without snapshots
	BytesCopied  int64 // handed to the disk by snapshots
	BytesDay     int64 // both, in the last 24 hours, or since Open
	DamagedReads int64 // rows whose checksum did not match when they were read
	LastCommit   time.Time
	LastSnapshot time.Time
	LastError    error // the last failed commit, snapshot or damaged row; nil if none
}

type counters struct {
	commits, updates, damaged, copied int64
	committed, snapshot               time.Time
	day                               disk.Day
	alloc                             int64 // the count of bytes of bbolt at the last commit
	err                               error
	full, unread                      error // nil: there is room, the file could be read
	fullSince, unreadSince            time.Time
}

// Stats are cheap to read.
func (db *DB) Stats() Stats {
	db.mu.Lock()
	c, inDay := db.count, db.count.day.Sum()
	db.mu.Unlock()
	s := Stats{
		Commits: c.commits, Updates: c.updates, DamagedReads: c.damaged,
		LastCommit: c.committed, LastSnapshot: c.snapshot, LastError: c.err, BytesCopied: c.copied, BytesDay: inDay,
	}
	b := db.bolt.Stats()
	s.FreeBytes = int64(b.FreePageN+b.PendingPageN) * pages.PageSize
	s.BytesWritten = b.TxStats.GetPageAlloc() + c.commits*pages.PageSize
	if info, err := os.Stat(db.path); err == nil {
		s.SizeBytes = info.Size()
	}
	return s
}

// noteDamaged counts a damaged row and logs the first of this process; the caller gets the error as well.
func (db *DB) noteDamaged(err error) {
	db.mu.Lock()
	db.count.damaged++
	first := db.count.damaged == 1
	db.count.err = err
	db.mu.Unlock()
	db.doubt.raise(err)
	if first {
		db.log.Error("stored row is damaged", "error", err)
	}
}
