package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/store/layout"

	"go.etcd.io/bbolt"
)

// Every benchmark runs bare bbolt beside the store in turns, so that a busy machine slows both. "ratio" is the
// store's rate by bbolt's: 1 is as fast, the goal is 0.9.

type event struct {
	Space, Device, Type, Value string
	Time                       time.Time
	Details                    string
}

var sample = event{
	Space: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01", Device: "lock", Type: "statusChanged", Value: "open",
	Time: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Details: strings.Repeat("d", 40),
}

var benchOptions = Options{MaxSize: 1 << 30}

const held = 20_000 // rows that are there before the measurement

type rival struct {
	*bbolt.DB
	value func() []byte
}

var rivalBucket = []byte("events")

// startRival fills a bare database. With encode it makes JSON of every event as the store must, else it is given bytes.
func startRival(b *testing.B, encode bool) rival {
	b.Helper()
	o := boltOptions(benchOptions.withDefaults())
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, o)
	if err != nil {
		b.Fatal(err)
	}
	db.AllocSize = 1 << 20
	encoded := func() []byte {
		value, err := json.Marshal(sample)
		if err != nil {
			b.Fatal(err)
		}
		return value
	}
	once := encoded()
	b.Cleanup(func() { _ = db.Close() })
	r := rival{db, func() []byte { return once }}
	if encode {
		r.value = encoded
	}
	r.append(b, held)
	return r
}

func (r rival) append(b *testing.B, n int) {
	err := r.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists(rivalBucket)
		for range n {
			if err != nil {
				break
			}
			var seq uint64
			if seq, err = bucket.NextSequence(); err == nil {
				err = bucket.Put(layout.Key(seq), r.value())
			}
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

var benchQueue = NewQueue[event]("events", 10_000_000, DropOldest)

func appendEvents(b *testing.B, db *DB, q Queue[event], n int) {
	err := db.Update(context.Background(), func(tx *Tx) error {
		for range n {
			if _, err := q.Push(tx, sample); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// race times both in turns and reports medians, since one slow sync of a shared disk outweighs a hundred others. Each
// turn is count things.
func race(b *testing.B, count int, ours, bare func()) {
	var mine, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			mine = append(mine, timed(ours))
			theirs = append(theirs, timed(bare))
		} else {
			theirs = append(theirs, timed(bare))
			mine = append(mine, timed(ours))
		}
	}
	m, t := median(mine), median(theirs)
	b.ReportMetric(t/m, "ratio")
	b.ReportMetric(float64(count)/m, "ours/s")
	b.ReportMetric(float64(count)/t, "bbolt/s")
	b.ReportMetric(0, "ns/op")
}

func timed(fn func()) time.Duration {
	began := time.Now()
	fn()
	return time.Since(began)
}

func median(times []time.Duration) (seconds float64) {
	slices.Sort(times)
	return times[len(times)/2].Seconds()
}

func BenchmarkAppendDurable(b *testing.B) {
	for _, size := range []int{1, 10, 100} {
		for _, encode := range []bool{false, true} {
			b.Run(fmt.Sprintf("group=%d/bbolt-encodes=%t", size, encode), func(b *testing.B) {
				db, bare := start(b, tempPath(b), benchOptions), startRival(b, encode)
				appendEvents(b, db, benchQueue, held)
				before := db.Stats().BytesWritten
				race(b, size, func() { appendEvents(b, db, benchQueue, size) }, func() { bare.append(b, size) })
				b.ReportMetric(float64(db.Stats().BytesWritten-before)/float64(b.N*size), "B/event")
			})
		}
	}
}

// BenchmarkAppendShared lets the group come from as many callers, against bbolt given the whole group at once.
func BenchmarkAppendShared(b *testing.B) {
	for _, size := range []int{10, 64} {
		b.Run(fmt.Sprintf("callers=%d", size), func(b *testing.B) {
			db, bare := start(b, tempPath(b), benchOptions), startRival(b, false)
			appendEvents(b, db, benchQueue, held)
			before := db.Stats()
			turns := 1000 / size // the first commit of each race has one caller only
			race(b, size*turns, func() { appendShared(b, db, size, turns) }, func() {
				for range turns {
					bare.append(b, size)
				}
			})
			s := db.Stats()
			b.ReportMetric(float64(s.Updates-before.Updates)/float64(s.Commits-before.Commits), "events/commit")
		})
	}
}

func appendShared(b *testing.B, db *DB, callers, turns int) {
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range turns {
				appendEvents(b, db, benchQueue, 1)
			}
		})
	}
	wg.Wait()
}

// BenchmarkRing is the steady state of a bounded log: each push drops the oldest row.
func BenchmarkRing(b *testing.B) {
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprintf("group=%d", size), func(b *testing.B) {
			db, bare := start(b, tempPath(b), benchOptions), startRival(b, false)
			ring := NewQueue[event]("events", held, DropOldest)
			appendEvents(b, db, ring, held)
			before := db.Stats().BytesWritten
			race(b, size, func() { appendEvents(b, db, ring, size) }, func() { bare.replace(b, size) })
			b.ReportMetric(float64(db.Stats().BytesWritten-before)/float64(b.N*size), "B/event")
		})
	}
}

func (r rival) replace(b *testing.B, n int) {
	err := r.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(rivalBucket)
		var err error
		for range n {
			first, _ := bucket.Cursor().First()
			seq, _ := bucket.NextSequence()
			err = errors.Join(err, bucket.Delete(first), bucket.Put(layout.Key(seq), r.value()))
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkChange is a lone change of one of 100 status rows.
func BenchmarkChange(b *testing.B) {
	db := start(b, tempPath(b), benchOptions)
	before := db.Stats()
	for i := 0; b.Loop(); i++ {
		update(b, db, func(tx *Tx) error { return records.Put(tx, fmt.Sprint(i%100), record{"value", i}) })
	}
	b.ReportMetric(float64(db.Stats().BytesWritten-before.BytesWritten)/float64(b.N), "B/change")
}

func BenchmarkViewGet(b *testing.B) {
	db, bare := start(b, tempPath(b), benchOptions), startRival(b, false)
	appendEvents(b, db, benchQueue, held)
	i := uint64(0)
	const turns = 100
	race(b, turns, func() {
		for range turns {
			i++
			view(b, db, func(tx *Tx) error { _, err := benchQueue.Get(tx, 1+i*7919%held); return err })
		}
	}, func() {
		for range turns {
			i++
			err := bare.View(func(tx *bbolt.Tx) error {
				var v event
				return json.Unmarshal(tx.Bucket(rivalBucket).Get(layout.Key(1+i*7919%held)), &v)
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportAllocs()
}
