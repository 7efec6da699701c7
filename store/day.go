package store

import (
	"os"

	"roomgate/store/pages"
)

// noteCommit counts what a commit has written: its pages, and one of the two headers. The caller has db.mu.
func (db *DB) noteCommit() {
	s := db.bolt.Stats()
	alloc := s.TxStats.GetPageAlloc()
	db.count.day.Add(alloc - db.count.alloc + pages.PageSize)
	db.count.alloc = alloc
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
	db.count.day.Add(info.Size())
}
