package engine

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

// marksKept is the key beside the marks of a row that says whether all of them are stored, with one of the values below.
const marksKept = "kept"

// The values of rows: of a part alone, and of one that puts all of its device in doubt.
const (
	partMarked  = "part"
	wholeMarked = "whole"
	marksLost   = "lost"
)

// allKept is so long that bbolt gives the table a page of its own. A smaller one would be in the page of all tables, and
// that, which each change of the building writes, has no room for it.
var allKept = strings.Repeat(".", 1100)

func markRow(whole bool) string {
	if whole {
		return wholeMarked
	}
	return partMarked
}

func markKey(c device.Command) string { return c.Space + "/" + c.DeviceType + "/" + c.SubDevice }

// markedBy is the part of a device that a key stands for.
func markedBy(key string) (c device.Command, ok bool) {
	rest, sub, _ := cutLast(key)
	space, deviceType, ok := cutLast(rest)
	return device.Command{Space: space, DeviceType: deviceType, SubDevice: sub}, ok
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// NoteStored hears of a command in the transaction that stores that it was accepted, or how it ended.
func NoteStored(e *Engine, tx *store.Tx, c device.Command, over bool) error {
	key, doubted := markKey(c), inDoubt(e, c)
	was, err := markRows.Get(tx, key)
	known := !errors.Is(err, store.ErrNotFound)
	if over {
		doubted = e.marks.live(c)
	} else if doubted { // also one that comes too late for its device
		e.marks.put(c, c.Via != device.ViaSchedule, time.Now())
	}
	whole := c.Via != device.ViaSchedule
	switch {
	case doubted && known && (was == wholeMarked || over || !whole):
	case doubted && !known && markRows.Len(tx) > maxMarks:
		return markRows.Put(tx, marksKept, marksLost)
	case doubted:
		return markRows.Put(tx, key, markRow(whole))
	case over && known && !device.UnderWay(tx, c):
		return markRows.Delete(tx, key)
	}
	return nil
}

// loadMarks reads the marks of the run before this one.
func loadMarks(e *Engine, tx *store.Tx) {
	now := time.Now()
	for key, row := range markRows.All(tx) {
		if c, ok := markedBy(key); ok {
			e.marks.put(c, row == wholeMarked, now)
		}
	}
	if unknown(e, tx) || tx.Err() != nil {
		e.marks = newMarks()
		e.marks.lost = true
	}
}

// unknown says whether an earlier run may have had marks that are not stored: one of a version that stored none, one of another
// life of the database, one whose disk did not take all, or one with too many.
func unknown(e *Engine, tx *store.Tx) bool {
	kept, err := markRows.Get(tx, marksKept)
	if errors.Is(err, store.ErrNotFound) {
		e.marks.stale.Store(true)
		return device.Any(tx)
	}
	return kept != allKept || e.o.Commands.Unsure()
}

// DoubtAll lets the next start mark all devices, for a database that comes from a backup: what the cloud has moved since then
// is not in it.
func DoubtAll(tx *store.Tx) error { return markRows.Put(tx, marksKept, marksLost) }

// markAll marks what the cloud could have moved, where that is not known.
func markAll(e *Engine) {
	if !e.marks.found() {
		return
	}
	e.marks.stale.Store(true)
	for _, s := range e.o.Site().order {
		for _, d := range s.Devices {
			for _, sub := range append([]string{""}, drivers.SubDevices(d.Type)...) {
				if sub != drivers.SubTemperature && sub != drivers.SubOccupancy { // they take no commands
					e.marks.put(device.Command{Space: s.ID, DeviceType: d.Type, SubDevice: sub}, true, time.Now())
				}
			}
		}
	}
}

// storeMarks stores the marks as they are, if some may be stored that are over, or not stored. While the disk does not take
// that, it is tried again. The caller has the turn.
func storeMarks(ctx context.Context, e *Engine) error {
	if !e.marks.stale.Swap(false) {
		return nil
	}
	err := e.o.DB.Update(ctx, func(tx *store.Tx) error {
		all, whole := e.marks.rows()
		var over []string
		for key := range markRows.All(tx) {
			if c, ok := markedBy(key); ok && !e.marks.live(c) && !device.UnderWay(tx, c) {
				over = append(over, key)
			}
		}
		for _, key := range over {
			if err := markRows.Delete(tx, key); err != nil {
				return err
			}
		}
		for key, told := range all {
			if was, err := markRows.Get(tx, key); err != nil || told && was != wholeMarked {
				if err := markRows.Put(tx, key, markRow(told)); err != nil {
					return err
				}
			}
		}
		if whole {
			return markRows.Put(tx, marksKept, allKept)
		}
		return markRows.Put(tx, marksKept, marksLost)
	})
	if err != nil {
		e.marks.stale.Store(true)
	}
	if store.Unstored(err) {
		return nil // the rules go on
	}
	return err
}
