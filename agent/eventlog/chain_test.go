package eventlog

import (
	"context"
	"testing"

	"roomgate/store"
)

// tell writes events, each in a transaction of its own.
func (l *Log) tell(t *testing.T, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		if err := l.db.Update(t.Context(), func(tx *store.Tx) error { return l.Push(tx, l.mustEvent(t, kind)) }); err != nil {
			t.Fatal(err)
		}
	}
}

// verify follows the chain.
func (l *Log) verify(t *testing.T) Chain {
	t.Helper()
	c, err := l.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// forge writes the log again, with the rows that change makes of one.
func forge(t *testing.T, l *Log, change func(seq uint64, r Row) []Row) *Log {
	t.Helper()
	page, err := l.Page(0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	forged := open(t, 1000)
	err = forged.db.Update(t.Context(), func(tx *store.Tx) error {
		for _, item := range page {
			for _, r := range change(item.Seq, item.Value) {
				if _, err := forged.rows.Push(tx, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return forged
}

// TestChainShowsWhatWasChanged changes, takes away and puts in rows of a log.
func TestChainShowsWhatWasChanged(t *testing.T) {
	l := open(t, 1000)
	l.tell(t, "one", "two", "three", "four", "five")
	if c := l.verify(t); c != (Chain{Rows: 5, First: 1, Last: 5, Whole: true}) {
		t.Fatalf("as written: %+v", c)
	}
	for what, f := range map[string]struct {
		change func(seq uint64, r Row) []Row
		bad    uint64
	}{
		"another data": {func(seq uint64, r Row) []Row {
			if seq == 3 {
				r.Data = []byte(`{"by":"nobody"}`)
			}
			return []Row{r}
		}, 3},
		"another time": {func(seq uint64, r Row) []Row {
			if seq == 4 {
				r.Milli++
			}
			return []Row{r}
		}, 4},
		"taken away": {func(seq uint64, r Row) []Row {
			if seq == 3 {
				return nil
			}
			return []Row{r}
		}, 3},
		"put in": {func(seq uint64, r Row) []Row {
			if seq == 3 {
				return []Row{r, r}
			}
			return []Row{r}
		}, 4},
		"without a sum": {func(seq uint64, r Row) []Row {
			if seq == 3 {
				r.Sum = nil
			}
			return []Row{r}
		}, 3},
		"the sums up to it are gone": {func(seq uint64, r Row) []Row {
			if seq <= 3 {
				r.Sum = nil
			}
			return []Row{r}
		}, 4},
	} {
		c := forge(t, l, f.change).verify(t)
		if c.Bad != f.bad || !c.Whole || c.Missing != (what == "without a sum") {
			t.Errorf("%s: %+v, want %d", what, c, f.bad)
		}
	}
	// Who makes all sums again has another head than the cloud was told.
	again := open(t, 1000)
	again.tell(t, "one", "two", "other", "four", "five")
	_, told, err := l.Head()
	_, now, e := again.Head()
	if err != nil || e != nil || len(told) != sumSize || string(told) == string(now) {
		t.Errorf("heads %x and %x, %v, %v", told, now, err, e)
	}
}

// TestChainBeginsAfterAnEarlierVersion reads a log whose rows have no sums, and
// goes on with it.
func TestChainBeginsAfterAnEarlierVersion(t *testing.T) {
	old := open(t, 1000)
	old.tell(t, "one", "two")
	l := forge(t, old, func(_ uint64, r Row) []Row { r.Sum = nil; return []Row{r} })
	if c := l.verify(t); c != (Chain{Rows: 2, Last: 2, Whole: true}) {
		t.Errorf("as found: %+v", c)
	}
	l.tell(t, "three", "four")
	if c := l.verify(t); c != (Chain{Rows: 4, First: 3, Last: 4, Whole: true}) {
		t.Errorf("gone on with: %+v", c)
	}
}

// TestChainOfAFullLog drops its oldest rows and stays a chain, over pages; a
// verification that is out of time says how far it came.
func TestChainOfAFullLog(t *testing.T) {
	l := open(t, chainPage+50)
	err := l.db.Update(t.Context(), func(tx *store.Tx) error {
		for range chainPage + 300 {
			if err := l.Push(tx, l.mustEvent(t, "again")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := l.verify(t); c != (Chain{Rows: chainPage + 50, First: 251, Last: chainPage + 300, Whole: true}) {
		t.Errorf("%+v", c)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := l.Verify(ended); err != nil || c.Whole {
		t.Errorf("out of time: %+v, %v", c, err)
	}
}

// TestRefusedTransactionLeavesTheChain pushes rows that are not kept.
func TestRefusedTransactionLeavesTheChain(t *testing.T) {
	l := open(t, 100)
	l.tell(t, "one")
	err := l.db.Update(t.Context(), func(tx *store.Tx) error {
		if err := l.Push(tx, l.mustEvent(t, "two"), l.mustEvent(t, "three")); err != nil {
			return err
		}
		return context.Canceled
	})
	if err == nil {
		t.Fatal("it was kept")
	}
	l.tell(t, "four")
	if c := l.verify(t); c.Bad != 0 || c.Rows != 2 {
		t.Errorf("%+v", c)
	}
}
