package store

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/store/disk"
)

// TestBytesOfADay counts what commits and snapshots give to the disk, for 24 hours.
func TestBytesOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := start(t, tempPath(t), Options{})
		defer db.Close()
		write := func(value string) (bytes int64) {
			before := db.Stats().BytesWritten
			update(t, db, func(tx *Tx) error { return records.Put(tx, "key", record{value, 1}) })
			return db.Stats().BytesWritten - before
		}
		want := func(when string, bytes int64) {
			t.Helper()
			if got := db.Stats().BytesDay; got != bytes {
				t.Errorf("%s: %d bytes in a day, want %d", when, got, bytes)
			}
		}
		first := db.Stats().BytesWritten
		want("at the start", first)
		a := write("a")
		want("a change", first+a)
		time.Sleep(12 * time.Hour)
		if err := db.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		copied := db.Stats().BytesCopied
		made, err := disk.Siblings(db.path, kindSnapshot)
		if err != nil || len(made) != 1 {
			t.Fatalf("%d snapshots, %v", len(made), err)
		}
		if info, err := os.Stat(made[0].Name); err != nil || copied != info.Size() {
			t.Errorf("a snapshot of %d bytes counts %d, %v", info.Size(), copied, err)
		}
		b := write("b")
		want("half a day later", first+a+b+copied)
		time.Sleep(11*time.Hour + 59*time.Minute)
		want("just before a day is over", first+a+b+copied)
		time.Sleep(time.Minute)
		want("after a day", b+copied)
		time.Sleep(1000 * time.Hour)
		want("much later", 0)
	})
}
