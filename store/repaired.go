package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"roomgate/store/pages"
)

// Repair says what a repair has found. It stays in the database until the next one.
type Repair struct {
	At    time.Time `json:"at"` // by a clock that may have been wrong
	Cause string    `json:"cause"`
	// SetAside is where the damaged file is, without its folder; empty: there was none.
	SetAside string `json:"set_aside,omitempty"`
	// Snapshot is the one whose rows fill what the file lacks, without its folder; empty: none was needed or there.
	Snapshot   string    `json:"snapshot,omitempty"`
	SnapshotAt time.Time `json:"snapshot_at,omitzero"`
	// Headless says that the file did not tell its newest state: the last changes may be missing anywhere. Unlisted
	// says that it did not tell which tables there were.
	Headless bool          `json:"headless,omitempty"`
	Unlisted bool          `json:"unlisted,omitempty"`
	Tables   []TableRepair `json:"tables"`
	// Told and Seen are for who opens the database: others know of it, and somebody has looked.
	Told bool      `json:"told,omitempty"`
	Seen time.Time `json:"seen,omitzero"`
}

// TableRepair is what a repair has found of one table or queue, in rows.
type TableRepair struct {
	Name     string `json:"name"`     // as "table:bookings"
	Kept     int    `json:"kept"`     // of the damaged file, as they were
	Found    int    `json:"found"`    // of its pages to which nothing led any more
	Earlier  int    `json:"earlier"`  // as they were before the last change
	Snapshot int    `json:"snapshot"` // as they were in the snapshot; some may be out of date, or have been deleted since
	Lost     int    `json:"lost"`     // that were seen and cannot be read; what takes their place counts above
	// Holes are the stretches of keys that could not be read. Rows may be missing there, and nobody knows how many.
	Holes int `json:"holes"`
}

// Whole says that nothing of the table is missing or in doubt.
func (t TableRepair) Whole() bool {
	return t.Holes == 0 && t.Lost == 0 && t.Earlier == 0 && t.Snapshot == 0 && t.Found == 0
}

// Doubtful says whether rows of the table or queue may be missing or out of date.
func (r Repair) Doubtful(name string) bool {
	i := slices.IndexFunc(r.Tables, func(t TableRepair) bool { return t.Name == name })
	return r.Headless || r.Unlisted && i < 0 || i >= 0 && !r.Tables[i].Whole()
}

// Sum adds the tables up.
func (r Repair) Sum() (sum TableRepair) {
	for _, t := range r.Tables {
		sum.Kept += t.Kept
		sum.Found += t.Found
		sum.Earlier += t.Earlier
		sum.Snapshot += t.Snapshot
		sum.Lost += t.Lost
		sum.Holes += t.Holes
	}
	return sum
}

// repairKey is the note's place among the store's own rows.
const repairKey = "repair"

var repairTable = Table[Repair]{name: metaName, bucket: []byte(metaName), seed: pages.Seed([]byte(metaName))}

// LastRepair returns what the last repair has found, ErrNotFound if there never was one.
func LastRepair(tx *Tx) (Repair, error) { return repairTable.Get(tx, repairKey) }

// PutRepair stores what has become of the last repair.
func PutRepair(tx *Tx, r Repair) error { return repairTable.Put(tx, repairKey, r) }

// finish completes the new file: what queues go on with, the store's own rows, and the note.
func (m *merge) finish() error {
	for _, name := range m.names() {
		made := m.before == nil || m.before.Buckets[name] != nil || m.before.Missing(name, nil)
		if m.now.Buckets[name] == nil && m.now.Missing(name, nil) && made {
			m.of(name).Holes = 1
		}
		if err := m.finishBucket(name); err != nil {
			return err
		}
	}
	m.count()
	return m.ownRows()
}

// count notes what is missing.
func (m *merge) count() {
	for name, b := range m.now.Buckets {
		if b.Holes() > 0 || b.Lost > 0 {
			t := m.of(name)
			t.Holes, t.Lost = b.Holes(), t.Lost+b.Lost
		}
	}
	m.repair.Unlisted = m.now.Unlisted() && (m.before == nil || m.before.Unlisted())
	slices.SortFunc(m.repair.Tables, func(a, b TableRepair) int { return strings.Compare(a.Name, b.Name) })
	m.repair.Tables = slices.DeleteFunc(m.repair.Tables, func(t TableRepair) bool { return strings.HasPrefix(t.Name, "meta:") })
}

// finishBucket lets a queue go on above every number that it may have given out.
func (m *merge) finishBucket(name string) error {
	if !strings.HasPrefix(name, "queue:") {
		return nil
	}
	for _, l := range m.lists {
		m.raise(name, l.Sequences[name])
	}
	if b := m.now.Buckets[name]; b != nil {
		m.raise(name, b.Sequence)
	}
	if m.tx.Bucket([]byte(name)) == nil && m.sequence[name] == 0 {
		return nil // a name that was made by damage, or a queue that never had a row
	}
	b, err := m.tx.CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return err
	}
	if last, _ := b.Cursor().Last(); len(last) == 8 {
		m.raise(name, binary.BigEndian.Uint64(last))
	}
	next := m.sequence[name] + skipped
	if err := b.SetSequence(next); err != nil {
		return err
	}
	return putState(name, b, next)
}

// putState counts the numbers that are missing in a queue.
func putState(name string, b *bbolt.Bucket, next uint64) error {
	seed := pages.Seed([]byte(name))
	var state queueState
	if raw := b.Get(stateKey); raw != nil {
		if err := decode(seed, stateKey, raw, &state); err != nil {
			return err
		}
	}
	state.Gaps = nil
	last := uint64(0)
	err := b.ForEach(func(key, _ []byte) error {
		n := binary.BigEndian.Uint64(key)
		if last > 0 && n > last+1 {
			state.Gaps = append(state.Gaps, gap{n, n - last - 1})
		}
		last = n
		return nil
	})
	if err != nil || last == 0 {
		return err
	}
	state.Gaps = append(state.Gaps, gap{next + 1, next - last})
	return putRow(b, seed, stateKey, state)
}

func putRow(b *bbolt.Bucket, seed uint32, key []byte, v any) error {
	raw, err := newEncoder().encode(seed, key, v)
	if err != nil {
		return err
	}
	return b.Put(key, raw)
}

// ownRows completes the store's own rows.
func (m *merge) ownRows() error {
	b, err := m.tx.CreateBucketIfNotExists([]byte(metaName))
	if err != nil {
		return err
	}
	base := m.op.base
	if raw := b.Get([]byte(baseKey)); raw != nil {
		var was uint64
		if err := decode(metaTable.seed, []byte(baseKey), raw, &was); err != nil {
			return err
		}
		if base = max(base, was); !m.now.Unlisted() {
			base = was
		}
	}
	format := json.RawMessage(formatNow)
	for key, v := range map[string]any{formatKey: format, schemaKey: m.op.o.Schema} {
		if b.Get([]byte(key)) == nil {
			if err := putRow(b, metaTable.seed, []byte(key), v); err != nil {
				return err
			}
		}
	}
	return errors.Join(putRow(b, metaTable.seed, []byte(baseKey), base), putRow(b, metaTable.seed, []byte(repairKey), m.repair))
}

// String says it in one line.
func (r Repair) String() string {
	sum := r.Sum()
	return fmt.Sprintf("%d rows kept, %d found without their index, %d as before the last change, %d from a snapshot, %d unreadable, %d stretches with rows that may be missing",
		sum.Kept, sum.Found, sum.Earlier, sum.Snapshot, sum.Lost, sum.Holes)
}
