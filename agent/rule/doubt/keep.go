package doubt

import (
	"context"
	"errors"
	"strings"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
	"roomgate/store"
)

// A mark is stored in the transaction that stores its command, before the device moves, as the cloud can bring about a
// restart. It is deleted once it is over, and no command that could make it again is under way. A start finds those that
// are not over; where it cannot know them, see unknown, it marks all devices that the cloud could have moved.

// rows hold which parts of devices are marked, by their space, type and name; and kept.
var rows = store.NewTable[string]("doubted-devices")

// kept is the key beside the marks of a row that says whether all of them are stored, with one of the values below.
const kept = "kept"

// The values of rows: of a part alone, and of one that puts all of its device in doubt.
const (
	partMarked  = "part"
	wholeMarked = "whole"
	marksLost   = "lost"
)

// allKept is so long that bbolt gives the table a page of its own. A smaller one would be in the page of all tables, and
// that, which each change of the building writes, has no room for it.
var allKept = strings.Repeat(".", 1100)

// Buckets names what this package has in the store.
func Buckets() []string { return []string{rows.Bucket()} }

// All lets the next start mark all devices, for a database that comes from a backup: what the cloud has moved since then
// is not in it.
func All(tx *store.Tx) error { return rows.Put(tx, kept, marksLost) }

// Mend does the same after a repair that may have lost marks.
func Mend(tx *store.Tx, r store.Repair) error {
	if !r.Doubtful(rows.Bucket()) {
		return nil
	}
	return All(tx)
}

func row(whole bool) string {
	if whole {
		return wholeMarked
	}
	return partMarked
}

// Stored hears of a command in the transaction that stores that it was accepted, or how it ended.
func (m *Marks) Stored(tx *store.Tx, c device.Command, over bool) error {
	p, whole, doubted := PartOf(c), wholly(c), m.suspects(c)
	was, err := rows.Get(tx, p.key())
	known := !errors.Is(err, store.ErrNotFound)
	if over {
		doubted = m.live(p)
	} else if doubted { // also one that comes too late for its device
		m.put(p, whole, time.Now())
	}
	switch {
	case doubted && known && (was == wholeMarked || over || !whole):
	case doubted && !known && rows.Len(tx) > maxMarks:
		return rows.Put(tx, kept, marksLost)
	case doubted:
		return rows.Put(tx, p.key(), row(whole))
	case over && known && !p.underWay(tx):
		return rows.Delete(tx, p.key())
	}
	return nil
}

// load reads the marks of the run before this one.
func (m *Marks) load(tx *store.Tx) {
	now := time.Now()
	for key, row := range rows.All(tx) {
		if p, ok := partAt(key); ok {
			m.put(p, row == wholeMarked, now)
		}
	}
	if m.unknown(tx) || tx.Err() != nil {
		m.all, m.lost = map[Part]*marked{}, true
	}
}

// unknown says whether an earlier run may have had marks that are not stored: one of a version that stored none, one of another
// life of the database, one whose disk did not take all, or one with too many.
func (m *Marks) unknown(tx *store.Tx) bool {
	all, err := rows.Get(tx, kept)
	if errors.Is(err, store.ErrNotFound) {
		m.stale.Store(true)
		return device.Any(tx)
	}
	return all != allKept || m.o.Unsure()
}

// MarkUnknown marks what the cloud could have moved, where that is not known.
func (m *Marks) MarkUnknown() {
	if !m.found() {
		return
	}
	m.stale.Store(true)
	for _, d := range m.o.Devices() {
		for _, sub := range append([]string{""}, drivers.SubDevices(d.Type)...) {
			if sub != drivers.SubTemperature && sub != drivers.SubOccupancy { // they take no commands
				m.put(Part{d.SpaceID, d.Type, sub}, true, time.Now())
			}
		}
	}
}

// Save stores the marks as they are, if some may be stored that are over, or not stored. While the disk does not take
// that, the next call tries it again.
func (m *Marks) Save(ctx context.Context) error {
	if !m.stale.Swap(false) {
		return nil
	}
	err := m.o.DB.Update(ctx, m.write)
	if err != nil {
		m.stale.Store(true)
	}
	if store.Unstored(err) {
		return nil // the rules go on
	}
	return err
}

func (m *Marks) write(tx *store.Tx) error {
	open, complete := m.open()
	var over []string
	for key := range rows.All(tx) {
		if p, ok := partAt(key); ok && !m.live(p) && !p.underWay(tx) {
			over = append(over, key)
		}
	}
	for _, key := range over {
		if err := rows.Delete(tx, key); err != nil {
			return err
		}
	}
	for p, whole := range open {
		if was, err := rows.Get(tx, p.key()); err != nil || whole && was != wholeMarked {
			if err := rows.Put(tx, p.key(), row(whole)); err != nil {
				return err
			}
		}
	}
	if complete {
		return rows.Put(tx, kept, allKept)
	}
	return All(tx)
}
