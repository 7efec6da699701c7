//go:build integration && faults

package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/store"
)

// TestSlowDiskOfAGateway: a worn card takes over 30 s for a sound database of 26 MB. Nothing of it is taken for damaged.
func TestSlowDiskOfAGateway(t *testing.T) {
	disk := newEmulatedDisk(t, 128)
	d := openBadDisk(t, disk.dir, special{})
	d.book(20)
	d.kill()
	d.grow(26 << 20)
	disk.unplug()
	disk.become(slowDisk)
	disk.mount()
	d.start()
	if d.longest < 25*time.Second {
		t.Errorf("the start took %v: the disk was not slow", d.longest)
	}
	d.nothingAside()
	if got := d.degraded(); got != "" {
		t.Errorf("readyz says %q", got)
	}
	d.door("with a slow disk", true)
	d.intact(1)
}

// grow adds rows to the database until it has that size.
func (d *badDisk) grow(size int64) {
	d.t.Helper()
	db, _, err := store.Open(d.t.Context(), d.database(), store.Options{Schema: agent.Schema})
	if err != nil {
		d.t.Fatal(err)
	}
	large, text := store.NewTable[string]("large"), strings.Repeat("large ", 500)
	for n := 0; err == nil && sizeOf(d.t, d.database()) < size; {
		err = db.Update(d.t.Context(), func(tx *store.Tx) (err error) {
			for range 200 {
				n++
				err = errors.Join(err, large.Put(tx, fmt.Sprintf("%06d", n), text))
			}
			return err
		})
	}
	if err = errors.Join(err, db.Close()); err != nil {
		d.t.Fatal(err)
	}
}
