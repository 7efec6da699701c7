package eventlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/store"
)

// reopen is the log after the disk has lost its power, if cut, or after a clean
// end.
func reopen(t *testing.T, l *Log, cut bool) *Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	if !cut {
		if err := l.db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	image, err := os.ReadFile(l.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	db, report, err := store.Open(t.Context(), path, store.Options{Schema: 1})
	if err != nil || report.Repair != nil {
		t.Fatal(err, report)
	}
	t.Cleanup(func() { _ = db.Close() })
	return New(Options{DB: db, Clock: l.clock, Rows: 1000, Flush: time.Second, Log: l.log})
}

// earlier is the log as a version has it that does not know where the youngest
// rows are.
func (l *Log) earlier() *Log {
	l.rows = store.NewQueue[Row]("log", 1000, store.DropOldest)
	return l
}

// many are events that are large enough for some to move to where an earlier
// version sees them.
func many(n int) (kinds []string) {
	for i := range n {
		kinds = append(kinds, fmt.Sprint("event", i, strings.Repeat("x", 100)))
	}
	return kinds
}

// TestEarlierVersionAfterAPowerCut goes back to an earlier version and forward
// again. No row is lost, none is called tampered with, and the place is named.
func TestEarlierVersionAfterAPowerCut(t *testing.T) {
	for _, rows := range []int{3, 45, 400} {
		for _, cut := range []bool{false, true} {
			t.Run(fmt.Sprint(rows, cut), func(t *testing.T) {
				l := open(t, 1000)
				l.tell(t, many(rows)...)
				then := reopen(t, l, cut).earlier()
				then.tell(t, "then", "then again")
				now := reopen(t, then, false)
				now.tell(t, "now")
				c := now.verify(t)
				if c.Bad != 0 || c.Rows != rows+3 || !c.Whole || (c.Branch != 0) != cut {
					t.Fatalf("%+v", c)
				}
				if cut && (c.Branch <= uint64(rows+unseen) || c.From >= uint64(rows) || c.From+30 < uint64(rows) || c.Last != c.Branch+2) {
					t.Errorf("%+v", c)
				}
			})
		}
	}
}

// TestTamperedBranch changes rows where an earlier version went on: it is no
// excuse.
func TestTamperedBranch(t *testing.T) {
	l := open(t, 1000)
	l.tell(t, many(45)...)
	then := reopen(t, l, true).earlier()
	then.tell(t, "then", "then again")
	now := reopen(t, then, false)
	good := now.verify(t)
	if good.Bad != 0 || good.Branch == 0 {
		t.Fatalf("%+v", good)
	}
	for _, seq := range []uint64{good.From, 44, good.Branch, good.Branch + 1} {
		page, err := now.Page(seq-1, 1)
		if err != nil {
			t.Fatal(err)
		}
		forged := page[0].Value
		forged.Milli++
		for _, r := range []Row{forged, page[0].Value} {
			if err := now.db.Update(t.Context(), func(tx *store.Tx) error { return now.rows.Set(tx, seq, r) }); err != nil {
				t.Fatal(err)
			}
			want := uint64(0)
			if r.Milli == forged.Milli {
				want = seq
			}
			if c := now.verify(t); c.Bad != want {
				t.Errorf("row %d changed: %+v, want %d", seq, c, want)
			}
		}
	}
}
