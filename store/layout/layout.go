// Package layout says where what is in the file: the names of buckets, the store's own rows, and how a queue counts. It
// reads, and never writes.
package layout

import (
	"encoding/binary"
	"strings"

	"go.etcd.io/bbolt"
)

// The store's own rows. Their bucket sorts before all others, so whoever reads a file in order meets its format first.
const (
	Meta      = "meta:store"
	FormatKey = "a-format" // of the file; a newer one is refused, not mistaken for damage
	Format    = "1"        // the value of FormatKey, as JSON
	BaseKey   = "base"     // the number before the first one of new queues
	SchemaKey = "schema"   // the schema of the program that wrote last
	RepairKey = "repair"   // what the last repair has found
)

const queue, table, own = "queue:", "table:", "meta:"

// Queue is the bucket of the queue with that name.
func Queue(name string) []byte { return []byte(queue + name) }

// Table is the bucket of the table with that name.
func Table(name string) []byte { return []byte(table + name) }

// IsQueue says whether a bucket is that of a queue.
func IsQueue(bucket string) bool { return strings.HasPrefix(bucket, queue) }

// IsOwn says whether a bucket holds rows of the store itself.
func IsOwn(bucket string) bool { return strings.HasPrefix(bucket, own) }

// StateKey holds the State of a queue. It sorts before every row, on the page that dropping rewrites anyway.
var StateKey = Key(0)

// Key is the key of row seq of a queue.
func Key(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// Number is the number of the row with that key, false if it is not one of a queue.
func Number(key []byte) (seq uint64, ok bool) {
	if len(key) != len(StateKey) {
		return 0, false
	}
	return binary.BigEndian.Uint64(key), true
}

// Misplaced says that a row is in a queue and has no number: its sum is good, but no queue has written it.
func Misplaced(bucket string, key []byte) bool { return IsQueue(bucket) && len(key) != len(StateKey) }

// State is what a queue counts.
type State struct {
	Dropped uint64 `json:"dropped"`
	Gaps    []Gap  `json:"gaps,omitempty"`
}

// Filler is in place of a State where a bucket is to have a page of its own and no counters.
type Filler struct {
	State
	Filler string `json:"filler"`
}

// Gap is a run of N numbers that were skipped before the row At.
type Gap struct {
	At uint64 `json:"at"`
	N  uint64 `json:"n"`
}

// Skipped is how many numbers a queue passes over when a snapshot is restored: more than it can have given out since
// that snapshot, so that no receiver mistakes a new row for one it has seen.
const Skipped = 1 << 24

// Gaps finds the numbers that are missing in a queue which goes on after next; nil: it has no row.
func Gaps(b *bbolt.Bucket, next uint64) (gaps []Gap, err error) {
	last := uint64(0)
	err = b.ForEach(func(key, _ []byte) error {
		n, _ := Number(key)
		if last > 0 && n > last+1 {
			gaps = append(gaps, Gap{n, n - last - 1})
		}
		last = n
		return nil
	})
	if err != nil || last == 0 {
		return nil, err
	}
	return append(gaps, Gap{next + 1, next - last}), nil
}
