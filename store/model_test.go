package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// model is what the database must hold, kept in plain memory.
type model struct {
	rows    map[string]int
	queue   []Item[int]
	last    uint64
	dropped uint64
}

func (m model) clone() model {
	m.rows, m.queue = maps.Clone(m.rows), slices.Clone(m.queue)
	return m
}

const modelMax = 8

var (
	modelRows  = NewTable[int]("rows")
	modelQueue = NewQueue[int]("queue", modelMax, DropOldest)
	errUndo    = errors.New("undo")
)

// op is one random change.
type op struct {
	kind, value, place int
	key                string
}

var ops = rapid.Custom(func(t *rapid.T) op {
	return op{
		kind: rapid.IntRange(0, 4).Draw(t, "kind"), value: rapid.IntRange(0, 5).Draw(t, "value"),
		place: rapid.IntRange(0, modelMax).Draw(t, "place"), key: fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "key")),
	}
})

// do applies one change to the model and to the database.
func (m *model) do(tx *Tx, o op) error {
	switch o.kind {
	case 0:
		m.rows[o.key] = o.value
		return modelRows.Put(tx, o.key, o.value)
	case 1:
		delete(m.rows, o.key)
		return modelRows.Delete(tx, o.key)
	case 2:
		return m.push(tx, o.value)
	case 3:
		return m.trim(tx, m.last-min(m.last, uint64(o.place)))
	}
	if len(m.queue) == 0 {
		return nil
	}
	i := o.place % len(m.queue)
	m.queue[i].Value = o.value
	return modelQueue.Set(tx, m.queue[i].Seq, o.value)
}

func (m *model) push(tx *Tx, value int) error {
	m.last++
	m.queue = append(m.queue, Item[int]{m.last, value})
	if len(m.queue) > modelMax {
		m.queue = m.queue[1:]
		m.dropped++
	}
	seq, err := modelQueue.Push(tx, value)
	if err == nil && seq != m.last {
		err = fmt.Errorf("pushed as %d, want %d", seq, m.last)
	}
	return err
}

func (m *model) trim(tx *Tx, upTo uint64) error {
	kept := slices.DeleteFunc(slices.Clone(m.queue), func(i Item[int]) bool { return i.Seq <= upTo })
	n, err := modelQueue.Trim(tx, upTo)
	if want := len(m.queue) - len(kept); err == nil && n != want {
		err = fmt.Errorf("trimmed %d, want %d", n, want)
	}
	m.queue = kept
	return err
}

// compare reads everything back in every way there is.
func (m *model) compare(tx *Tx) error {
	items, err := modelQueue.After(tx, 0, 100)
	back, errBack := modelQueue.Before(tx, 1<<60, 100)
	slices.Reverse(back)
	got := []uint64{modelQueue.Last(tx), modelQueue.Dropped(tx), uint64(modelQueue.Len(tx)), modelQueue.First(tx), uint64(modelRows.Len(tx))}
	want := []uint64{m.last, m.dropped, uint64(len(m.queue)), 0, uint64(len(m.rows))}
	if len(m.queue) > 0 {
		want[3] = m.queue[0].Seq
	}
	same := cmpopts.EquateEmpty()
	diff := cmp.Diff(m.rows, maps.Collect(modelRows.All(tx)), same) + cmp.Diff(m.queue, items, same) + cmp.Diff(items, back, same) + cmp.Diff(want, got)
	if diff != "" {
		err = errors.Join(err, fmt.Errorf("the database differs: %s", diff))
	}
	return errors.Join(err, errBack, tx.Err())
}

// TestModel does random transactions to a database and to maps: one call may hold several steps and fail at the end,
// alone or next to a neighbour that succeeds; sometimes the database is opened again.
func TestModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n), "model.db")
		db := modelOpen(t, path)
		m := model{rows: map[string]int{}}
		for range rapid.IntRange(1, 12).Draw(t, "transactions") {
			m = modelGroup(t, db, m)
			if err := db.View(m.compare); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 5).Draw(t, "reopen") == 0 {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = modelOpen(t, path)
			}
		}
		if err := errors.Join(db.Close(), Verify(path)); err != nil {
			t.Fatal(err)
		}
	})
}

func modelOpen(t *rapid.T, path string) *DB {
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// modelGroup runs a few functions in one shared transaction, in a known order.
func modelGroup(t *rapid.T, db *DB, m model) model {
	g := &group{db: db, err: errAborted}
	var want []error
	for range rapid.IntRange(1, 3).Draw(t, "functions") {
		c := &call{ctx: context.Background(), wake: make(chan bool, 1)}
		fails := rapid.IntRange(0, 2).Draw(t, "fails") == 0
		changes := rapid.SliceOfN(ops, 0, 6).Draw(t, "changes")
		c.fn = func(tx *Tx) error {
			next := m.clone()
			for _, o := range changes {
				if err := next.do(tx, o); err != nil {
					return err
				}
			}
			if err := next.compare(tx); err != nil {
				return err
			}
			if fails {
				return errUndo
			}
			m = next
			return nil
		}
		db.writes.waiting = append(db.writes.waiting, c)
		g.calls = append(g.calls, c)
		want = append(want, map[bool]error{true: errUndo}[fails])
	}
	calls := g.calls
	g.calls = nil
	g.err = g.run()
	g.finish(nil)
	for i, c := range calls {
		if !errors.Is(c.err, want[i]) {
			t.Fatalf("function %d: %v, want %v", i, c.err, want[i])
		}
	}
	return m
}
