package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/queue"
	"roomgate/store/undo"
)

// maxGroup bounds the calls that share one commit, and so the time the first of them waits for the others.
const maxGroup = 256

const (
	maxYields   = 20
	maxPatience = 500 * time.Microsecond // a yield may take long in a busy process
)

// writers is the line of Update calls. There is no goroutine behind it: the first caller of an idle database leads,
// runs its function and those of all who came meanwhile in one transaction, commits, and hands the lead to whoever
// waits then.
type writers struct {
	mu      sync.Mutex
	waiting []*call
	leading bool
	began   time.Time // of the group under way
	closed  bool
	failed  error
	since   time.Time // of failed
}

type call struct {
	ctx  context.Context
	fn   func(*Tx) error
	err  error
	wake chan bool // true: lead the next group, false: done
	lead bool      // has been or will be told to lead
}

var errAborted = errors.New("another function ended its goroutine inside the shared transaction, nothing was stored, try again")

// Update runs fn once and returns nil when its changes are on disk. If fn fails or panics, its changes are undone
// and its error is returned. ctx bounds only the wait for fn's turn. A caller that is alone waits for nobody. A
// function that changes nothing writes nothing.
//
// fn may run in the goroutine of another caller and next to other functions in one transaction; it sees what those
// before it wrote. It must not keep the Tx and must not block.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{ctx: ctx, fn: fn, wake: make(chan bool, 1)}
	lead, err := db.writes.enter(c)
	if err != nil {
		return err
	}
	if !lead {
		lead, err = db.writes.wait(c)
		if err != nil {
			return err
		}
	}
	if lead {
		db.lead(c)
	}
	return c.err
}

func (w *writers) enter(c *call) (lead bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return false, ErrClosed
	case w.failed != nil:
		return false, w.failed
	}
	w.waiting = append(w.waiting, c)
	c.lead = !w.leading
	w.leading = true
	return c.lead, nil
}

func (w *writers) wait(c *call) (lead bool, err error) {
	select {
	case lead = <-c.wake:
		return lead, nil
	case <-c.ctx.Done():
	}
	if w.withdraw(c) {
		return false, fmt.Errorf("wait for the store: %w", c.ctx.Err())
	}
	return <-c.wake, nil
}

// withdraw takes c out of the line unless a leader has it already or it must lead.
func (w *writers) withdraw(c *call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, c)
	if i < 0 || c.lead {
		return false
	}
	w.waiting = slices.Delete(w.waiting, i, i+1)
	return true
}

func (w *writers) take(n int) []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = min(n, len(w.waiting))
	taken := slices.Clone(w.waiting[:n])
	w.waiting = slices.Delete(w.waiting, 0, n)
	return taken
}

func (w *writers) begin(at time.Time) {
	w.mu.Lock()
	w.began = at
	w.mu.Unlock()
}

// pass gives the lead to the next in line or leaves the database idle.
func (w *writers) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.leading, w.began = false, time.Time{}
		return
	}
	w.waiting[0].lead = true
	w.waiting[0].wake <- true
}

func (w *writers) close() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.closed
	w.closed = true
	return !was
}

// group is one shared transaction.
type group struct {
	db    *DB
	tx    *bbolt.Tx
	calls []*call
	heads map[string]*queue.Head
	grown int // bytes added less bytes freed
	wrote bool
	began time.Time
	err   error
}

func (db *DB) lead(own *call) {
	g := &group{db: db, began: time.Now(), err: errAborted}
	db.writes.begin(g.began)
	defer g.finish(own)
	g.err = g.run()
}

func (g *group) run() error {
	tx, err := g.db.bolt.Begin(true)
	if err != nil {
		g.calls = g.db.writes.take(maxGroup)
		return closedError(err)
	}
	g.tx, g.heads = tx, map[string]*queue.Head{}
	g.db.enc.Reset()
	for yields := 0; len(g.calls) < maxGroup; {
		calls := g.db.writes.take(maxGroup - len(g.calls))
		if len(calls) == 0 {
			if yields >= g.patience() {
				break
			}
			yields++
			runtime.Gosched() // lets the callers that the last commit woke join this one
			continue
		}
		from := len(g.calls)
		g.calls = append(g.calls, calls...)
		for _, c := range g.calls[from:] {
			if err := g.do(c); err != nil {
				return err
			}
		}
	}
	return g.commit()
}

// patience is how often a leader yields the processor for more calls before it commits: hardly ever if as many are
// there as the last time, so that a caller that is alone loses nothing.
func (g *group) patience() int {
	if len(g.calls) < g.db.lastGroup && time.Since(g.began) < maxPatience {
		return maxYields
	}
	return 1
}

// do runs one function. Its error is the group's only if the shared transaction cannot be trusted any more.
func (g *group) do(c *call) error {
	if c.err = c.ctx.Err(); c.err != nil {
		return nil
	}
	tx := &Tx{db: g.db, bolt: g.tx, enc: g.db.enc, heads: g.heads, writes: undo.New(g.tx, g.db.undo)}
	defer g.db.keepUndo(tx)
	c.err = tx.call(c.fn)
	if c.err == nil {
		c.err = tx.call((*Tx).finish)
	}
	if c.err != nil && !tx.writes.Broken() {
		if err := tx.call((*Tx).rewind); err != nil {
			c.err = errors.Join(c.err, err)
		}
	}
	if tx.writes.Broken() {
		c.err = fmt.Errorf("%w: %w", ErrFailed, c.err)
		g.db.fail(c.err)
		return c.err
	}
	g.wrote = g.wrote || tx.writes.Count() > 0
	g.grown += tx.writes.Grown()
	return nil
}

// keepUndo ends a Tx and keeps the room of its undo list for the next one.
func (db *DB) keepUndo(tx *Tx) {
	db.undo, tx.bolt = tx.writes.End(), nil
}

func (g *group) commit() (err error) {
	if !g.wrote {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: commit: %w", ErrFailed, panicError(r))
		}
		if errors.Is(err, ErrFailed) {
			g.db.fail(err)
		}
	}()
	if err := joinRoot(g.tx); err != nil {
		return err
	}
	g.db.setBudget(g.grown <= 0)
	return commitError(g.tx.Commit())
}

// fail ends writing until the next Open.
func (db *DB) fail(err error) {
	db.writes.mu.Lock()
	if db.writes.since.IsZero() {
		db.writes.since = time.Now()
	}
	if db.writes.failed == nil || disk.Lacking(err) { // which is what people can do something about
		db.writes.failed = err
	}
	db.writes.mu.Unlock()
	db.doubt.raise(err)
	db.log.Error("store has stopped writing", "error", err)
}

// finish tells every caller its result. It also runs when a function ended the leader's goroutine.
func (g *group) finish(own *call) {
	if g.tx != nil {
		rollback(g.tx)
	}
	g.account()
	g.db.lastGroup = len(g.calls)
	for _, c := range g.calls {
		if c.err == nil {
			c.err = g.err
		}
		if c != own {
			c.wake <- false
		}
	}
	g.db.writes.pass()
}

func (g *group) account() {
	g.db.mu.Lock()
	defer g.db.mu.Unlock()
	if g.err != nil {
		g.db.count.err = g.err
		g.db.count.noteRoom(g.err)
		return
	}
	for _, c := range g.calls {
		if c.err == nil {
			g.db.count.updates++
		}
	}
	if g.wrote {
		g.db.count.commits++
		g.db.noteCommit()
		g.db.count.noteRoom(nil)
		g.db.count.committed = time.Now()
	}
}

// rollback ends a transaction that may have ended already or be damaged.
func rollback(tx *bbolt.Tx) {
	defer func() { _ = recover() }()
	_ = tx.Rollback()
}

// setBudget lets a group that frees more than it adds use the reserve, so that a full store can be emptied.
// bbolt reads the limit only while it commits, which is this goroutine's doing.
func (db *DB) setBudget(shrinks bool) {
	limit := db.o.MaxSize
	if !shrinks {
		limit -= limit / 16
	}
	db.bolt.MaxSize = int(limit)
}

// joinRoot makes one page of the two of all buckets, once one of them has become small: each change writes both. bbolt
// looks only at those of which something was deleted.
func joinRoot(tx *bbolt.Tx) error {
	root := tx.Cursor().Bucket().Root()
	page, err := tx.Page(int(root))
	if err != nil || page == nil || page.Type != "branch" {
		return err
	}
	name := layout.Queue("")
	_, err = tx.CreateBucket(name)
	return errors.Join(err, tx.DeleteBucket(name))
}
