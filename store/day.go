package store

import (
	"os"
	"time"

	"roomgate/store/pages"
)

// day counts the bytes that were given to the disk in the last 24 hours, by the hour, in time that passes whatever the
// clock shows.
type day struct {
	began time.Time // with a monotonic reading
	hours [24]int64
	hour  int64 // since began, of the last bytes
	alloc int64 // bbolt's count of bytes at the last commit
}

// turn empties the hours that have passed since bytes were last counted.
func (d *day) turn() {
	now := int64(time.Since(d.began) / time.Hour)
	for ; d.hour < now; d.hour++ {
		if now-d.hour > int64(len(d.hours)) {
			d.hour = now - int64(len(d.hours))
		}
		d.hours[(d.hour+1)%int64(len(d.hours))] = 0
	}
}

func (d *day) add(n int64) {
	d.turn()
	d.hours[d.hour%int64(len(d.hours))] += n
}

func (d *day) sum() (n int64) {
	d.turn()
	for _, h := range d.hours {
		n += h
	}
	return n
}

// noteCommit counts what a commit has written: its pages, and one of the two headers. The caller has db.mu.
func (db *DB) noteCommit() {
	s := db.bolt.Stats()
	alloc := s.TxStats.GetPageAlloc()
	db.count.day.add(alloc - db.count.day.alloc + pages.PageSize)
	db.count.day.alloc = alloc
}

// noteCopy counts what a snapshot has written.
func (db *DB) noteCopy(name string) {
	info, err := os.Stat(name)
	if err != nil {
		return
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.count.copied += info.Size()
	db.count.day.add(info.Size())
}
