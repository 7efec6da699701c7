package eventlog

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/clock"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open makes a log in a new database that keeps so many rows.
func open(t *testing.T, rows int) *Log {
	t.Helper()
	db, _, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{Schema: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return New(Options{DB: db, Clock: clock.New(clock.Options{Mode: clock.Always}), Rows: rows, Flush: time.Second,
		Log: slog.New(slog.DiscardHandler)})
}

func (l *Log) mustEvent(t *testing.T, kind string) Row {
	t.Helper()
	r, err := l.Event(Record{Type: kind, Time: time.Unix(1, 0), Space: "aurora", Device: "lock"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kinds are the events of the log, oldest first.
func (l *Log) kinds(t *testing.T) (kinds []string) {
	t.Helper()
	all, _, err := l.Find(Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		kinds = append(kinds, e.Type)
	}
	return kinds
}

// TestCommit writes all stages or none, shows them in their order before those
// who follow the log are woken, and releases them backwards in any case.
func TestCommit(t *testing.T) {
	for _, fails := range []bool{false, true} {
		l := open(t, 10)
		var done []string
		note := func(what string) func() { return func() { done = append(done, what) } }
		l.wake = note("wake")
		stage := func(name string, err error) Stage {
			return Stage{Write: func(tx *store.Tx) error { return errors.Join(err, l.Push(tx, l.mustEvent(t, name))) },
				Show: note("show " + name), Release: note("release " + name)}
		}
		refused := errors.New("refused")
		second := stage("second", nil)
		if fails {
			second = stage("second", refused)
		}
		err := l.Commit(t.Context(), stage("first", nil), second, Stage{})
		want, kinds := []string{"show first", "show second", "release second", "release first", "wake"}, []string{"first", "second"}
		if fails {
			want, kinds = []string{"release second", "release first"}, nil
		}
		if !errors.Is(err, refused) && fails || err != nil && !fails {
			t.Errorf("fails %v: %v", fails, err)
		}
		if !slices.Equal(done, want) || !slices.Equal(l.kinds(t), kinds) {
			t.Errorf("fails %v: did %q and wrote %q, want %q and %q", fails, done, l.kinds(t), want, kinds)
		}
	}
}

// TestLatestOfAKey writes of the changes with one key the last, and every row.
func TestLatestOfAKey(t *testing.T) {
	l := open(t, 10)
	var written []string
	for _, c := range []struct{ key, what string }{{"a", "a1"}, {"b", "b1"}, {"a", "a2"}} {
		l.Add(Change{Rows: []Row{l.mustEvent(t, c.what)}, Key: c.key,
			Latest: func(*store.Tx) error { written = append(written, c.what); return nil }})
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(written)
	if !slices.Equal(written, []string{"a2", "b1"}) || !slices.Equal(l.kinds(t), []string{"a1", "b1", "a2"}) {
		t.Errorf("written %q, told %q", written, l.kinds(t))
	}
	if (Change{}).Any() || !(Change{Latest: func(*store.Tx) error { return nil }}).Any() {
		t.Error("an empty change has something, or one with a row of a table has not")
	}
}

func TestRecorderIsBoundedWhileTheDiskTakesNothing(t *testing.T) {
	l := open(t, 10)
	for range maxPending + 100 {
		l.Add(Change{Rows: []Row{l.mustEvent(t, "busy")}})
	}
	if n, lost := len(l.pending), l.lost; n != maxPending || lost != 100 {
		t.Errorf("%d changes wait and %d are lost, want %d and 100", n, lost, maxPending)
	}
	if err := l.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(t.Context()); err == nil || len(l.pending) != maxPending {
		t.Errorf("after a failed write %d changes wait (%v), want all", len(l.pending), err)
	}
}

// TestCursor keeps the place of somebody who follows the log.
func TestCursor(t *testing.T) {
	l := open(t, 2)
	const mine Cursor = "mine"
	err := l.Update(t.Context(), func(tx *store.Tx) error {
		if seq, set, err := mine.Get(tx); seq != 0 || set || err != nil {
			t.Errorf("before it was put: %d, %v, %v", seq, set, err)
		}
		return l.Push(tx, l.mustEvent(t, "one"), l.mustEvent(t, "two"), l.mustEvent(t, "three"))
	})
	if err != nil {
		t.Fatal(err)
	}
	var changed <-chan struct{} = l.Changed()
	err = l.Update(t.Context(), func(tx *store.Tx) error {
		if err := mine.ToEnd(tx); err != nil {
			return err
		}
		if seq, set, err := mine.Get(tx); seq != 3 || !set || err != nil {
			t.Errorf("at the end: %d, %v, %v", seq, set, err)
		}
		if first, last, rows := l.Bounds(tx); first != 2 || last != 3 || rows != 2 {
			t.Errorf("rows %d to %d, %d of them, want 2 to 3, as the oldest went", first, last, rows)
		}
		return mine.Put(tx, 2)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-changed
	if r, ok, err := Newest(l.db); !ok || err != nil || r.Kind() != "three" || r.Boot != l.Boot() {
		t.Errorf("newest row %+v, %v, %v", r, ok, err)
	}
	if page, err := l.Page(2, 10); err != nil || len(page) != 1 || page[0].Value.Kind() != "three" {
		t.Errorf("after 2: %+v, %v", page, err)
	}
}

// TestRun writes what came before its end.
func TestRun(t *testing.T) {
	l := open(t, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	changed := l.Changed()
	l.Add(Change{Rows: []Row{l.mustEvent(t, "first")}})
	<-changed
	l.Add(Change{Rows: []Row{l.mustEvent(t, "last")}})
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := l.kinds(t); !slices.Equal(got, []string{"first", "last"}) {
		t.Errorf("told %q", got)
	}
}
