// Package salvage makes a sound database of what a damaged file and a snapshot of it still give. It knows how rows lie in
// a file and no table: what a row means it asks its caller.
package salvage

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"roomgate/store/layout"
	"roomgate/store/pages"
)

// Options are what a database is made of.
type Options struct {
	File     pages.File // the damaged one; one of no bytes gives nothing
	Snapshot *bbolt.Tx  // of a sound file; nil: there is none
	// Names are the buckets that the program may have made: stray rows of theirs are found even where the file does not
	// name them any more.
	Names []string
	// Age says when a row was written, in a unit of its table that only rises; 0: it does not tell. It gets the JSON of a
	// row, and is not asked about queues. nil: no row tells.
	Age    func(bucket string, row []byte) int64
	Schema int    // of the program, where the file does not say it
	Base   uint64 // the number before the first one of new queues, where the file does not say it
}

// Merge fills out, which is empty, and adds to note what it has found of each table. The note goes into out too. The
// error wraps layout.ErrNewerSchema if a newer program wrote the file, and pages.ErrUnreadable if the disk does not deliver it.
// out is of no use then.
func Merge(out *bbolt.DB, o Options, note *Repair) error {
	return (&merge{o: o, out: out, repair: note}).run()
}

// Read gives take each row that Merge would take from a file, but for what the store and its queues count for themselves,
// table by table and in the order of keys; the youngest rows of a queue may come by themselves. Of a damaged file it merges
// them into the database that temp opens. What it hands out is valid until take returns; an error of take ends it. The
// tables of the result say how much there is, and how much cannot be read.
func Read(o Options, temp func() (*bbolt.DB, error), take pages.RowFunc) (Repair, error) {
	m := &merge{o: o, repair: &Repair{}}
	root, err := m.look()
	if err == nil && (m.repair.Headless || !m.now.Whole()) {
		return readMerged(o, temp, take)
	}
	if err == nil {
		_, err = o.File.Survey(root, func(bucket string, key, value []byte) error {
			switch {
			case internal(bucket, key):
				return nil
			case layout.Misplaced(bucket, key):
				m.of(bucket).Lost++
				return nil
			}
			m.of(bucket).Kept++
			return take(layout.QueueOf(bucket), key, value)
		})
	}
	if m.now != nil { // else it was stopped before it found where to begin
		m.count()
	}
	return *m.repair, err
}

// internal says whether the store or its queue counts a row for itself.
func internal(bucket string, key []byte) bool {
	return layout.IsOwn(bucket) || layout.IsQueue(bucket) && bytes.Equal(key, layout.StateKey)
}

// readMerged merges what a damaged file still gives, and gives take its rows.
func readMerged(o Options, temp func() (*bbolt.DB, error), take pages.RowFunc) (note Repair, err error) {
	out, err := temp()
	if err != nil {
		return note, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := Merge(out, o, &note); err != nil {
		return note, err
	}
	return note, out.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(key, value []byte) error {
				if internal(string(name), key) {
					return nil
				}
				return take(string(name), key, value)
			})
		})
	})
}

// merge does what Merge says. For each key the first that knows decides, also that
// there is no such row:
//
//  1. the damaged file, wherever its tree leads;
//  2. its state before the last change, to which the other header leads;
//  3. the snapshot;
//  4. leaves to which nothing leads any more: what they have goes over 2 and 3 if it says itself that it is younger.
type merge struct {
	o      Options
	out    *bbolt.DB
	tx     *bbolt.Tx
	filled int // bytes put since the last commit

	lists       []pages.Listing
	roots       []uint64      // of the newest state and the one before it, as far as they are known
	now, before *pages.Survey // before is nil if the file has no such tree
	repair      *Repair

	sure     map[string]bool   // rows of now inside a hole, by place
	from     map[string]string // where the rows of strays are from, by place
	youngest map[*pages.Survey]map[string]int64
	sequence map[string]uint64
}

func place(bucket string, key []byte) string { return bucket + "\x00" + string(key) }

// run fills m.out.
func (m *merge) run() (err error) {
	if m.tx, err = m.out.Begin(true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(m.tx.Rollback())) }()
	m.sure, m.from = map[string]bool{}, map[string]string{}
	m.youngest, m.sequence = map[*pages.Survey]map[string]int64{}, map[string]uint64{}
	for _, step := range []func() error{m.trees, m.older, m.fill, m.overlay, m.foldTails, m.finish} {
		if err := step(); err != nil {
			return err
		}
	}
	return m.tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, bolterrors.ErrTxClosed) {
		return nil
	}
	return err
}

// trees takes what the newest state leads to, and looks at the one before it.
func (m *merge) trees() (err error) {
	if m.lists, err = m.o.File.Listings(); err != nil {
		return err
	}
	err = m.read(func(bucket string, key, value []byte) error {
		if m.now.Missing(bucket, key) {
			m.sure[place(bucket, key)] = true
		}
		m.of(bucket).Kept++
		return m.put(bucket, key, value)
	})
	if err == nil && len(m.roots) > 1 {
		m.before, err = m.o.File.Survey(m.roots[1], nil)
	}
	return err
}

// read gives each row to which the newest root leads to take.
func (m *merge) read(take pages.RowFunc) error {
	root, err := m.look()
	if err == nil {
		_, err = m.o.File.Survey(root, take)
	}
	return err
}

// look finds the roots, and what cannot be read below the newest, which it returns.
func (m *merge) look() (root uint64, err error) {
	m.roots = m.o.File.Roots()
	if m.repair.Headless = len(m.roots) == 0; m.repair.Headless {
		if m.lists, err = m.o.File.Listings(); err != nil {
			return 0, err
		}
		for _, l := range m.lists[:min(len(m.lists), 2)] {
			m.roots = append(m.roots, l.Root)
		}
	}
	if len(m.roots) > 0 { // else no page of the list is left: root is 0
		root = m.roots[0]
	}
	m.now, err = m.o.File.Survey(root, nil)
	return root, err
}

// older takes, where rows are missing, those of the state before the last change.
func (m *merge) older() error {
	if m.before == nil {
		return nil
	}
	m.youngest[m.before] = map[string]int64{}
	_, err := m.o.File.Survey(m.roots[1], func(bucket string, key, value []byte) error {
		m.note(m.before, bucket, key, value)
		if !m.now.Missing(bucket, key) || m.get(bucket, key) != nil {
			return nil
		}
		m.of(bucket).Earlier++
		return m.put(bucket, key, value)
	})
	return err
}

// fill takes what is still missing from the snapshot.
func (m *merge) fill() error {
	if m.o.Snapshot == nil {
		return nil
	}
	m.youngest[nil] = map[string]int64{}
	return m.o.Snapshot.ForEach(func(name []byte, b *bbolt.Bucket) error {
		bucket := string(name)
		m.raise(bucket, b.Sequence())
		return b.ForEach(func(key, value []byte) error {
			m.note(nil, bucket, key, value)
			if !m.unknown(bucket, key) || m.get(bucket, key) != nil {
				return nil
			}
			m.of(bucket).Snapshot++
			return m.put(bucket, key, value)
		})
	})
}

// unknown says that neither tree of the file tells whether there is such a row.
func (m *merge) unknown(bucket string, key []byte) bool {
	return m.now.Missing(bucket, key) && (m.before == nil || m.before.Missing(bucket, key))
}

// overlay takes the rows of leaves to which nothing leads.
func (m *merge) overlay() error { return m.now.Strays(m.names(), m.before, m.consider) }

// names are all buckets of which anything is known.
func (m *merge) names() (names []string) {
	known := map[string]bool{layout.Meta: true}
	for _, name := range m.o.Names {
		known[name] = true
		if layout.IsQueue(name) {
			for _, tail := range layout.TailsOf([]byte(name)) {
				known[string(tail)] = true
			}
		}
	}
	for _, l := range m.lists {
		for name := range l.Sequences {
			known[name] = true
		}
	}
	for name := range m.now.Buckets {
		known[name] = true
	}
	if m.o.Snapshot != nil {
		_ = m.o.Snapshot.ForEach(func(name []byte, _ *bbolt.Bucket) error { known[string(name)] = true; return nil })
	}
	return slices.Sorted(maps.Keys(known))
}

// consider decides about a row of a stray.
func (m *merge) consider(bucket string, doubtful bool, key, value []byte) error {
	at := place(bucket, key)
	is := m.get(bucket, key)
	if m.sure[at] || bytes.Equal(is, value) || m.from[at] == disputed {
		return nil
	}
	age := m.age(bucket, key, value)
	switch floor, known := m.floor(bucket, key); {
	case doubtful && (!known || age == 0):
		return nil
	case is == nil && known && (age == 0 || age < floor):
		return nil // it was deleted before that state
	case is == nil:
		m.of(bucket).Found++
	case age > m.age(bucket, key, is):
	case age < m.age(bucket, key, is) || m.from[at] == "" || doubtful:
		return nil
	default: // two versions, and neither says when it was written: neither is shown as the truth
		m.from[at] = disputed
		m.of(bucket).Lost++
		return m.tx.Bucket([]byte(bucket)).Delete(key)
	}
	m.from[at] = astray
	return m.put(bucket, key, value)
}

// Where the row of a stray stands.
const (
	astray   = "stray"
	disputed = "disputed"
)

// floor is the age of the youngest row of the state that answers for this key, if there is one.
func (m *merge) floor(bucket string, key []byte) (age int64, known bool) {
	if m.before != nil && !m.before.Missing(bucket, key) {
		return m.youngest[m.before][bucket], true
	}
	if m.o.Snapshot != nil {
		return m.youngest[nil][bucket], true
	}
	return 0, false
}

func (m *merge) note(s *pages.Survey, bucket string, key, value []byte) {
	m.youngest[s][bucket] = max(m.youngest[s][bucket], m.age(bucket, key, value))
}

// age is the number of a row in a queue, and of others what Options.Age says.
func (m *merge) age(bucket string, key, value []byte) int64 {
	switch {
	case layout.IsQueue(bucket) && !layout.Misplaced(bucket, key):
		n, _ := layout.Number(key)
		return int64(n)
	case m.o.Age == nil || len(value) < pages.ValueHeader:
		return 0
	}
	return m.o.Age(bucket, value[pages.ValueHeader:])
}

const mergeBatch = 4 << 20 // bytes of one transaction

func (m *merge) put(bucket string, key, value []byte) error {
	if bucket == layout.Meta && string(key) == layout.FormatKey && string(value[pages.ValueHeader:]) != layout.Format {
		return layout.ErrNewerSchema
	}
	if layout.Misplaced(bucket, key) {
		m.of(bucket).Lost++
		return nil
	}
	b, err := m.tx.CreateBucketIfNotExists([]byte(bucket))
	if err == nil {
		err = b.Put(key, bytes.Clone(value))
	}
	if m.filled += len(key) + len(value); err != nil || m.filled < mergeBatch {
		return err
	}
	m.filled = 0
	if err := m.tx.Commit(); err != nil {
		return err
	}
	m.tx, err = m.out.Begin(true)
	return err
}

func (m *merge) get(bucket string, key []byte) []byte {
	if b := m.tx.Bucket([]byte(bucket)); b != nil {
		return b.Get(key)
	}
	return nil
}

func (m *merge) of(bucket string) *TableRepair {
	for i := range m.repair.Tables {
		if m.repair.Tables[i].Name == bucket {
			return &m.repair.Tables[i]
		}
	}
	m.repair.Tables = append(m.repair.Tables, TableRepair{Name: bucket})
	return &m.repair.Tables[len(m.repair.Tables)-1]
}

func (m *merge) raise(bucket string, sequence uint64) {
	m.sequence[bucket] = max(m.sequence[bucket], sequence)
}
