package salvage

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
)

// finish completes the new file: what queues go on with, the store's own rows, and the note.
func (m *merge) finish() error {
	for _, name := range m.names() {
		made := m.before == nil || m.before.Buckets[name] != nil || m.before.Missing(name, nil)
		if m.now.Buckets[name] == nil && m.now.Missing(name, nil) && made && !layout.IsTail(name) {
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
	m.repair.Tables = withTails(m.repair.Tables)
	m.repair.Unlisted = m.now.Unlisted() && (m.before == nil || m.before.Unlisted())
	slices.SortFunc(m.repair.Tables, func(a, b TableRepair) int { return strings.Compare(a.Name, b.Name) })
	m.repair.Tables = slices.DeleteFunc(m.repair.Tables, func(t TableRepair) bool { return layout.IsOwn(t.Name) })
}

// finishBucket lets a queue go on above every number that it may have given out.
func (m *merge) finishBucket(name string) error {
	if !layout.IsQueue(name) || layout.IsTail(name) {
		return nil
	}
	for _, bucket := range append(layout.TailsOf([]byte(name)), []byte(name)) {
		m.raise(name, m.sequence[string(bucket)])
		for _, l := range m.lists {
			m.raise(name, l.Sequences[string(bucket)])
		}
		if b := m.now.Buckets[string(bucket)]; b != nil {
			m.raise(name, b.Sequence)
		}
	}
	if m.tx.Bucket([]byte(name)) == nil && m.sequence[name] == 0 {
		return nil // a name that was made by damage, or a queue that never had a row
	}
	b, err := m.tx.CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return err
	}
	last, _ := b.Cursor().Last()
	if n, ok := layout.Number(last); ok {
		m.raise(name, n)
	}
	next := m.sequence[name] + layout.Skipped
	if err := b.SetSequence(next); err != nil {
		return err
	}
	return putState(name, b, next)
}

// putState counts the numbers that are missing in a queue.
func putState(name string, b *bbolt.Bucket, next uint64) error {
	seed := pages.Seed([]byte(name))
	var state layout.State
	if raw := b.Get(layout.StateKey); raw != nil {
		if err := sealed.Decode(seed, layout.StateKey, raw, &state); err != nil {
			return err
		}
	}
	gaps, err := layout.Gaps(b, next)
	if err != nil || gaps == nil {
		return err
	}
	state.Gaps = gaps
	return putRow(b, seed, layout.StateKey, state)
}

var ownSeed = pages.Seed([]byte(layout.Meta))

func putRow(b *bbolt.Bucket, seed uint32, key []byte, v any) error {
	raw, err := sealed.New().Encode(seed, key, v)
	if err != nil {
		return err
	}
	return b.Put(key, raw)
}

// ownRows completes the store's own rows.
func (m *merge) ownRows() error {
	b, err := m.tx.CreateBucketIfNotExists([]byte(layout.Meta))
	if err != nil {
		return err
	}
	base := m.o.Base
	if raw := b.Get([]byte(layout.BaseKey)); raw != nil {
		var was uint64
		if err := sealed.Decode(ownSeed, []byte(layout.BaseKey), raw, &was); err != nil {
			return err
		}
		if base = max(base, was); !m.now.Unlisted() {
			base = was
		}
	}
	format := json.RawMessage(layout.Format)
	for key, v := range map[string]any{layout.FormatKey: format, layout.SchemaKey: m.o.Schema} {
		if b.Get([]byte(key)) == nil {
			if err := putRow(b, ownSeed, []byte(key), v); err != nil {
				return err
			}
		}
	}
	return errors.Join(putRow(b, ownSeed, []byte(layout.BaseKey), base), putRow(b, ownSeed, []byte(layout.RepairKey), m.repair))
}
