package agent

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"roomgate/agent/eventlog"
)

// benchRig is a building that nobody runs, so that only what is measured
// writes.
func benchRig(b *testing.B) *rig {
	b.Helper()
	r := openRig(b, rigOptions{dir: b.TempDir(), yaml: strings.Replace(building, "events: 500", "events: 100000", 1)})
	b.Cleanup(func() { _ = r.Close() })
	return r
}

// BenchmarkEventAppend is events that are durable, beside bbolt itself with
// rows of the same size in groups of the same size. The goal is 0.9 of bbolt.
func BenchmarkEventAppend(b *testing.B) {
	for _, group := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("group=", group), func(b *testing.B) {
			r := benchRig(b)
			d := r.Site.Find(room).Devices[0]
			size := len(mustJSON(d.Event("statusChanged", "", time.Now(), map[string]any{"value": "on", "status": "online", "previous": "off"}))) + 5
			bare := openBare(b)
			var ours, limit time.Duration
			events := 0
			for b.Loop() {
				start := time.Now()
				c := eventlog.Change{Rows: make([]eventlog.Row, 0, group)}
				for range group {
					c.Rows = append(c.Rows, d.Event("statusChanged", "", start, map[string]any{"value": "on", "status": "online", "previous": "off"}))
				}
				if err := r.Events.Write(b.Context(), c); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				bare.append(b, group, size)
				ours += between.Sub(start)
				limit += time.Since(between)
				events += group
			}
			b.ReportMetric(float64(events)/ours.Seconds(), "events/s")
			b.ReportMetric(limit.Seconds()/ours.Seconds(), "of-bbolt")
		})
	}
}

// bareStore is bbolt with nothing around it, opened as the store opens it.
type bareStore struct {
	db   *bbolt.DB
	next uint64
}

func openBare(b *testing.B) *bareStore {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, PageSize: 4096})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return &bareStore{db: db}
}

func (s *bareStore) append(b *testing.B, rows, size int) {
	err := s.db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists([]byte("events"))
		if err != nil {
			return err
		}
		for range rows {
			s.next++
			if err := bucket.Put(binary.BigEndian.AppendUint64(nil, s.next), make([]byte, size)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
